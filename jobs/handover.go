package jobs

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// A Certificate or redirect that the sweep made, and that a release applies by
// now, is the release's. As long as our manager owns it too, a release that does
// not force cannot change it.

// whole are the fields that another manager has to apply before ours lets go of
// an object: it is complete without ours then, and keeps our label.
var whole = map[string][]string{
	engine.KindCertificate: {"f:secretName", "f:dnsNames", "f:issuerRef"},
	engine.KindHTTPRoute:   {"f:parentRefs", "f:rules"},
}

// isShared says whether our manager applies an object, and another applies the
// whole of it.
func isShared(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	kind, _ := object["kind"].(string)
	ours, theirs := false, false
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if entry["operation"] != string(metav1.ManagedFieldsOperationApply) {
			continue
		}
		if entry["manager"] == engine.FieldManager {
			ours = true
		} else {
			theirs = theirs || ownsWhole(entry, kind)
		}
	}
	return ours && theirs
}

func ownsWhole(entry map[string]any, kind string) bool {
	spec, _, _ := unstructured.NestedMap(entry, "fieldsV1", "f:spec")
	labels, _, _ := unstructured.NestedMap(entry, "fieldsV1", "f:metadata", "f:labels")
	for _, field := range whole[kind] {
		if spec[field] == nil {
			return false
		}
	}
	return len(whole[kind]) > 0 && labels["f:"+engine.LabelFor] != nil
}

// handsOver says whether the sweep is to let go of an object.
func (i Identity) handsOver() bool { return i.Shared && !i.Terminating }

// handOver lets go of all fields of an object. Those that the other manager
// applies stay. Where something changed the object since it was read, another run
// will do.
func (s *sweep) handOver(ctx context.Context, w *objectWriter, resource schema.GroupVersionResource, kind string, name engine.ObjectName, live Identity) error {
	err := s.unlessDry(func() error {
		return w.apply(ctx, resource, map[string]any{
			"kind": kind,
			"metadata": map[string]any{
				"name": name.Name, "namespace": name.Namespace,
				"uid": string(live.UID), "resourceVersion": live.ResourceVersion,
			},
		})
	})
	switch {
	case apierrors.IsConflict(err), isGone(err), errors.Is(err, errNamespaceGone):
		return nil
	case err == nil && s.options.DryRun == report.Write:
		s.report.wrote()
	}
	return err
}
