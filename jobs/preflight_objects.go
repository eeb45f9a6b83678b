package jobs

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hookAnnotation makes an object one that Helm runs: it belongs to no release, is
// deleted first as a rule, and is never taken over.
const hookAnnotation = "helm.sh/hook"

// overwritten are those objects of manifests that the server can be asked about:
// of the very kinds that were read, since others have a Gateway or a Certificate
// of their own, and with a name. Items of Lists are objects like others for Helm.
// A kind that is not served may have its definition in the release.
func (r *Reading) overwritten(objects []map[string]any, release Release) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		if u.IsList() {
			out = append(out, r.overwritten(itemsOf(u), release)...)
			continue
		}
		k := r.kind(u.GetKind())
		_, isHook := u.GetAnnotations()[hookAnnotation]
		if k == nil || !k.Served || k.Group != u.GroupVersionKind().Group || isHook || u.GetName() == "" {
			continue
		}
		if u.GetNamespace() == "" {
			u.SetNamespace(release.Namespace)
		}
		release.mark(u)
		out = append(out, u)
	}
	return out
}

// mark puts the marks of the release on an object, as Helm does before it writes:
// what admits objects may ask for them.
func (r Release) mark(u *unstructured.Unstructured) {
	if r.Name == "" {
		return
	}
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedByLabel], annotations[releaseName], annotations[releaseNamespace] = "Helm", r.Name, r.Namespace
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
}

func itemsOf(list *unstructured.Unstructured) []map[string]any {
	var out []map[string]any
	items, _ := list.Object["items"].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}
