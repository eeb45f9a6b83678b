package jobs

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/postrender/engine"
)

// wouldAdopt says whether Helm would take over a Certificate that exists, which it
// does only with the marks of the same release, and whether the server would let it.
func (c *Cluster) wouldAdopt(ctx context.Context, reading *Reading, next *unstructured.Unstructured, release Release, written []metav1.ManagedFieldsEntry) ([]engine.Finding, error) {
	if _, exists := reading.Certificates[engine.ObjectName{Namespace: next.GetNamespace(), Name: next.GetName()}]; !exists || release.Name == "" {
		return nil, nil
	}
	resource, _ := reading.resource(engine.KindCertificate)
	live, err := c.metadata.Resource(resource).Namespace(next.GetNamespace()).Get(ctx, next.GetName(), metav1.GetOptions{})
	if isGone(err) {
		return nil, nil
	}
	if isUnauthorized(err) {
		return []engine.Finding{forbidden(next, err)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("certificate %s/%s: %w", next.GetNamespace(), next.GetName(), err)
	}
	of := releaseOf(live.Annotations)
	if of == release.String() && live.Labels[managedByLabel] == "Helm" {
		w := writerOf(slices.Concat(written, live.ManagedFields))
		_, found, err := c.ask(ctx, reading, next, w, func(refusal error) string {
			if back := giveBack(refusal); back != "" || !apierrors.IsConflict(refusal) {
				return back
			}
			return otherIssuer
		})
		return found, err
	}
	return []engine.Finding{notAdoptable(next, of)}, nil
}

// releaseOf is the release that an object has the marks of, or "".
func releaseOf(annotations map[string]string) string {
	if annotations[releaseName] == "" {
		return ""
	}
	return annotations[releaseNamespace] + "/" + annotations[releaseName]
}

func notAdoptable(next *unstructured.Unstructured, of string) engine.Finding {
	owner := "no release"
	if of != "" {
		owner = "release " + of
	}
	return finding(next, engine.Critical, CodeNotAdoptable,
		fmt.Sprintf("it exists and belongs to %s, so Helm would refuse the upgrade; add --take-ownership to the upgrade if this release is to have it", owner))
}

const otherIssuer = "; change the issuer in one upgrade, run gatewright sweep, and bring the hostname in the next, or upgrade once with --force-conflicts"
