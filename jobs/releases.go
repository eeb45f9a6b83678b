package jobs

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/postrender/engine"
)

// helmManager is Helm's field manager.
const helmManager = "helm"

// lastRelease returns which manager of a release wrote an object last, and when.
func lastRelease(managed []metav1.ManagedFieldsEntry) (manager string, at time.Time) {
	for _, entry := range managed {
		ofFlux := engine.IsFlux(entry.Manager) && entry.Subresource == ""
		if (isHelm(entry) || ofFlux) && entry.Time != nil && entry.Time.After(at) {
			manager, at = entry.Manager, entry.Time.Time
		}
	}
	return manager, at
}

// isHelm says whether Helm, under whatever name, wrote what an entry tells of. A
// program that has helm in its name, such as Terraform's provider, has another
// name in each version, and the mark may be that of an earlier one.
func isHelm(entry metav1.ManagedFieldsEntry) bool {
	return entry.Subresource == "" && (engine.IsHelm(entry.Manager) || writesRelease(entry))
}

// writesRelease says whether a manager wrote the mark of a Helm release. Helm
// takes the name of the program that it is part of for its manager's, which may
// be any. The sweep marks what it makes for a release too, and people mark with
// kubectl what a release is to take over: neither is Helm.
func writesRelease(entry metav1.ManagedFieldsEntry) bool {
	others := entry.Manager != engine.FieldManager && entry.Manager != marker && !strings.HasPrefix(entry.Manager, "kubectl")
	return others && entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+releaseName+`"`)
}

// The marks that Helm puts on what belongs to a release.
const (
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
	managedByLabel   = "app.kubernetes.io/managed-by"
)
