package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

// marker is the field manager of marks on Certificates and Secrets. They are
// merge patches of metadata under a name of their own: an apply that left the
// spec out would remove it.
const marker = "gatewright-state"

// annotationStale says on a Certificate or Secret since when nothing needs it.
const annotationStale = "gatewright.dev/stale-since"

// objectWriter writes Certificates, HTTPRoutes and marks.
type objectWriter struct {
	cluster *Cluster
	dryRun  []string
}

// apply applies a whole object of ours, never forced.
func (w *objectWriter) apply(ctx context.Context, resource schema.GroupVersionResource, object map[string]any) error {
	u := &unstructured.Unstructured{Object: object}
	if resource.Resource == "" {
		return fmt.Errorf("the server serves no %ss; the finding %s says what to install", u.GetKind(), engine.CodeNotServed)
	}
	u.SetAPIVersion(resource.GroupVersion().String())
	_, err := w.cluster.objects.Resource(resource).Namespace(u.GetNamespace()).Apply(ctx, u.GetName(), u,
		metav1.ApplyOptions{FieldManager: engine.FieldManager, DryRun: w.dryRun})
	if leavesNamespace(err) {
		return errNamespaceGone
	}
	return err
}

// What is deleted between the reading of a cluster and a write is nothing to
// write, and no error.
var (
	// errGone says that the object to be removed was gone already.
	errGone = errors.New("it was gone already")
	// errNamespaceGone says that the object to be made has no place any more.
	errNamespaceGone = errors.New("its namespace is deleted")
)

// isGone says whether the server knows that there is no such object. One that
// lost the kind, or something before it that has no such page, knows nothing.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// leavesNamespace says whether the namespace of an object is gone, or about to.
func leavesNamespace(err error) bool {
	var status apierrors.APIStatus
	ofNamespace := errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
	return isGone(err) && ofNamespace || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// remove deletes the very object that was read, if nothing changed it since.
func (w *objectWriter) remove(ctx context.Context, resource schema.GroupVersionResource, name engine.ObjectName, seen Identity) error {
	err := w.cluster.metadata.Resource(resource).Namespace(name.Namespace).Delete(ctx, name.Name, metav1.DeleteOptions{
		DryRun:        w.dryRun,
		Preconditions: &metav1.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion},
	})
	switch {
	case isGone(err):
		return errGone
	case apierrors.IsConflict(err):
		return errChanged
	}
	return err
}

// mark notes on an object since when it is stale, or takes the mark away for "".
func (w *objectWriter) mark(ctx context.Context, resource schema.GroupVersionResource, name engine.ObjectName, seen Identity, since string) error {
	var value any
	if since != "" {
		value = since
	}
	metadata := map[string]any{"annotations": map[string]any{annotationStale: value}}
	if seen.UID != "" {
		metadata["uid"], metadata["resourceVersion"] = seen.UID, seen.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("mark of %s: %w", name, err)
	}
	_, err = w.cluster.metadata.Resource(resource).Namespace(name.Namespace).Patch(ctx, name.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: marker, DryRun: w.dryRun})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errChanged
	}
	return err
}

// unmark takes the mark away from an object that was just written, whatever its
// version.
func (w *objectWriter) unmark(ctx context.Context, resource schema.GroupVersionResource, name engine.ObjectName) error {
	return w.mark(ctx, resource, name, Identity{}, "")
}
