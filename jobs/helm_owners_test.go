package jobs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/postrender/engine"
)

// manager is the field manager of the release.
func (r *release) manager() string {
	if r.how.major == 0 {
		return fluxManager
	}
	return "helm"
}

// owner is that manager with how it writes.
func (r *release) owner() string {
	if r.how.patches {
		return "helm Update"
	}
	return r.manager() + " Apply"
}

// refuses says whether a way refuses what an unforced apply refuses, which must
// name the sweep's manager and the field.
func (r *release) refuses(err error, field string) bool {
	r.t.Helper()
	if r.how.patches || r.how.forced {
		if err != nil {
			r.t.Fatal(err)
		}
		return false
	}
	if err == nil || !strings.Contains(err.Error(), `conflict with "gatewright"`) || !strings.Contains(err.Error(), field) {
		r.t.Fatalf("%v; want a conflict with gatewright on %s", err, field)
	}
	return true
}

// isOurs says whether our manager applies something of an object.
func (r *release) isOurs(object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == engine.FieldManager
	})
}

// settle sweeps until there is nothing left to do. What cert-manager, which may
// run beside the test, writes while a sweep is at it, is left for the next one.
func (r *release) settle() {
	r.t.Helper()
	for range 10 {
		if r.sweep().Writes == 0 {
			return
		}
	}
	r.t.Error("the sweep does not come to rest")
}

// redirects are the names of our redirects of the Gateway.
func (r *release) redirects() []string {
	r.t.Helper()
	return strings.Fields(r.Kubectl(r.t, "", "get", "httproutes", "-n", r.namespace, "-l", engine.LabelFor+"="+r.name, "-o", "name"))
}

// owners are the field managers that own the listener of a hostname.
func (r *release) owners(hostname string) []string {
	r.t.Helper()
	return r.ownersOf(engine.ListenerName(hostname, 443))
}

// ownersOf are the field managers that own a listener of the Gateway, each with
// how it wrote it.
func (r *release) ownersOf(listener string) []string {
	r.t.Helper()
	key := fmt.Sprintf(`k:{"name":%q}`, listener)
	var out []string
	for _, entry := range r.live("Gateway", r.name).GetManagedFields() {
		var fields struct {
			Spec struct {
				Listeners map[string]any `json:"f:listeners"`
			} `json:"f:spec"`
		}
		if entry.FieldsV1 == nil {
			continue
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			r.t.Fatal(err)
		}
		if fields.Spec.Listeners[key] != nil {
			out = append(out, entry.Manager+" "+string(entry.Operation))
		}
	}
	slices.Sort(out)
	return out
}

func (r *release) ownedBy(hostname string, want ...string) {
	r.t.Helper()
	if diff := gocmp.Diff(want, r.owners(hostname)); diff != "" {
		r.t.Errorf("owners of the listener of %s (-want +got):\n%s", hostname, diff)
	}
}

// annotation is one of the Gateway.
func (r *release) annotation(name string) string {
	r.t.Helper()
	return r.live("Gateway", r.name).GetAnnotations()[name]
}

// annotators are the field managers that own an annotation of the Gateway.
func (r *release) annotators(annotation string) string {
	r.t.Helper()
	var out []string
	for _, entry := range r.live("Gateway", r.name).GetManagedFields() {
		var fields struct {
			Metadata struct {
				Annotations map[string]any `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			r.t.Fatal(err)
		}
		if fields.Metadata.Annotations["f:"+annotation] != nil {
			out = append(out, entry.Manager)
		}
	}
	return strings.Join(out, ", ")
}
