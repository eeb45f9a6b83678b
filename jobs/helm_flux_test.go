package jobs_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// flux does to a release what Flux's helm-controller does: it applies what Helm
// renders under its own name, by force, with the marks of Helm and Flux, and
// deletes what the revision before had and this one has not.
type flux struct {
	revisions [][]*unstructured.Unstructured
}

const fluxManager = "helm-controller"

func (f *flux) put(r *release, args []string) error {
	out, err := r.command(append([]string{"template"}, args...)...)
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(out, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return err
		}
		switch {
		case object.IsList():
			err := object.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return err
			}
		case object.Object != nil:
			objects = append(objects, object)
		}
	}
	return f.apply(r, objects)
}

func (f *flux) apply(r *release, objects []*unstructured.Unstructured) error {
	wanted := map[string]bool{}
	for _, object := range objects {
		f.mark(r, object)
		client := r.Dynamic.Resource(resourceOf(object.GroupVersionKind())).Namespace(object.GetNamespace())
		if _, err := client.Apply(context.Background(), object.GetName(), object, metav1.ApplyOptions{FieldManager: fluxManager, Force: true}); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		wanted[identityOf(object)] = true
	}
	if n := len(f.revisions); n > 0 {
		for _, object := range f.revisions[n-1] {
			if err := f.remove(r, object, wanted[identityOf(object)]); err != nil {
				return err
			}
		}
	}
	f.revisions = append(f.revisions, objects)
	return nil
}

// mark puts on an object what Helm and helm-controller put on it.
func (f *flux) mark(r *release, object *unstructured.Unstructured) {
	if object.GetNamespace() == "" {
		object.SetNamespace(r.namespace)
	}
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "Helm"
	labels["helm.toolkit.fluxcd.io/name"], labels["helm.toolkit.fluxcd.io/namespace"] = r.name, r.namespace
	annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = r.name, r.namespace
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// remove deletes an object of the last revision, unless it is wanted still, or
// what lives is to be kept.
func (f *flux) remove(r *release, object *unstructured.Unstructured, wanted bool) error {
	live := r.live(object.GetKind(), object.GetName())
	if wanted || live == nil || live.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
		return nil
	}
	client := r.Dynamic.Resource(resourceOf(object.GroupVersionKind())).Namespace(object.GetNamespace())
	err := client.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (f *flux) rollback(r *release, revision string) error {
	n, err := strconv.Atoi(revision)
	if err != nil {
		return err
	}
	return f.apply(r, f.revisions[n-1])
}

func (f *flux) uninstall(r *release) {
	r.t.Helper()
	if err := f.apply(r, nil); err != nil {
		r.t.Fatal(err)
	}
}

func identityOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// resourceOf is where objects of a kind are served.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	return kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")
}
