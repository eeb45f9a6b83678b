package jobs

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/gatewright/gatewright/postrender/engine"
)

// refusedListener is a listener that the server did not take, and its words.
type refusedListener struct {
	listener string
	reason   string
}

// outcome is what became of one application.
type outcome struct {
	// wrote says that the server stored something.
	wrote bool
	// stateTaken says, by the server's words, that another manager owns the state,
	// which therefore was not written, and what to do.
	stateTaken string
	refusals   []refusedListener
	// stays are the listeners that were to go, and stay because what was to take
	// their place was refused.
	stays []string
	// after is the parent as the server answered last; nil if it was not asked.
	after *unstructured.Unstructured
}

// same says whether a listener is as it was before: the fields in which it
// differs from the plan are of others.
func (o *outcome) same(before *engine.SourceListener) bool {
	if o.after == nil || before == nil {
		return false
	}
	return slices.ContainsFunc(listenersOf(o.after), func(l map[string]any) bool { return reflect.DeepEqual(l, before.Object) })
}

// errChanged says that the object changed since it was read, so that it has to
// be read, and planned, again.
var errChanged = errors.New("it changed since it was read")

// applier writes to the parents of one kind.
type applier struct {
	client dynamic.NamespaceableResourceInterface
	gvk    schema.GroupVersionKind
	dryRun []string
}

// apply writes one parent: all that our manager owns of it in one apply, never
// forced, and only to the version that was read. It names no class, so that it
// cannot create a Gateway.
//
// A field that another manager owns keeps its value. Where the server refuses
// the whole, what is there stays and the changes are tried one by one.
func (w *applier) apply(ctx context.Context, a *application) (outcome, error) {
	var out outcome
	version := a.parent.live.Object.GetResourceVersion()
	listeners := a.listeners(a.changes...)
	err := w.settle(ctx, a, listeners, &version, &out)
	if err == nil || !isRefusal(err) || len(a.changes) == 0 {
		return out, err
	}
	return out, w.applyOneByOne(ctx, a, &version, &out)
}

// applyOneByOne applies what lives, then each change on top of those that were
// taken. Each takes away only what it displaces: where it is refused, that stays.
func (w *applier) applyOneByOne(ctx context.Context, a *application, version *string, out *outcome) error {
	base := a.base
	a.base = slices.Concat(base, a.displaced)
	if err := w.settle(ctx, a, a.listeners(), version, out); err != nil {
		return err
	}
	var accepted []map[string]any
	for _, change := range a.changes {
		stay := slices.DeleteFunc(slices.Clone(a.displaced), func(old map[string]any) bool { return displaces(change, old) })
		a.base = slices.Concat(base, stay)
		err := w.settle(ctx, a, a.listeners(append(slices.Clone(accepted), change)...), version, out)
		switch {
		case err == nil:
			accepted, a.displaced = append(accepted, change), stay
		case isRefusal(err):
			out.refusals = append(out.refusals, refusedListener{change["name"].(string), serverWords(err)})
		default:
			return err
		}
	}
	for _, old := range a.displaced {
		out.stays = append(out.stays, old["name"].(string))
	}
	return nil
}

// displaces says whether a listener takes the place of another: it answers all
// that the other does, on the same port. One for any hostname takes only that of
// another such.
func displaces(change, old map[string]any) bool {
	pattern, _ := change["hostname"].(string)
	hostname, _ := old["hostname"].(string)
	samePort := fmt.Sprint(change["port"]) == fmt.Sprint(old["port"])
	return samePort && (pattern != "" || hostname == "") && engine.Covers(pattern, hostname)
}

// isRefusal says whether the server understood a request and will not have it:
// a schema or a rule of its, or an admission policy.
func isRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)
}

// settle applies one list of listeners, with the live value for each field that
// another manager owns.
func (w *applier) settle(ctx context.Context, a *application, listeners []any, version *string, out *outcome) error {
	for range maxConflicts {
		err := w.patch(ctx, a, listeners, version, out)
		conflicts := conflictsOf(err)
		if len(conflicts) == 0 {
			return err
		}
		for _, c := range conflicts {
			switch {
			case c.path == stateField:
				a.state = a.parent.source.Annotations[engine.AnnotationState]
				out.stateTaken = c.message + " on annotation " + engine.AnnotationState + ", so nothing stale of it is removed; remove the annotation"
				continue
			case c.path == annotationsField:
				a.state = ""
				out.stateTaken = c.message + " on all of its annotations, of which it has none, so nothing stale of it is removed; leave metadata.annotations out there"
				continue
			case !c.yield(listeners, a.parent):
				return fmt.Errorf("%w; another manager owns what is the sweep's, see who in metadata.managedFields", err)
			}
			out.refusals = append(out.refusals, refusedListener{c.listener, c.String()})
		}
	}
	return errChanged
}

// stateField is the annotation state as the server names it in a conflict.
// Whoever applies an empty mapping of annotations owns all of them.
const (
	annotationsField = ".metadata.annotations"
	stateField       = annotationsField + "." + engine.AnnotationState
)

// maxConflicts is how many times an apply is tried with live values: each try
// finds all conflicts, so more than two mean that somebody writes at the time.
const maxConflicts = 4

func (w *applier) patch(ctx context.Context, a *application, listeners []any, version *string, out *outcome) error {
	live := a.parent.live.Object
	metadata := map[string]any{"name": live.GetName(), "namespace": live.GetNamespace(), "uid": string(live.GetUID()), "resourceVersion": *version}
	if a.state != "" {
		metadata["annotations"] = map[string]any{engine.AnnotationState: a.state}
	}
	body := map[string]any{"apiVersion": w.gvk.GroupVersion().String(), "kind": w.gvk.Kind, "metadata": metadata}
	if len(listeners) > 0 {
		body["spec"] = map[string]any{"listeners": listeners}
	}
	got, err := w.client.Namespace(live.GetNamespace()).Apply(ctx, live.GetName(), &unstructured.Unstructured{Object: body},
		metav1.ApplyOptions{FieldManager: engine.FieldManager, DryRun: w.dryRun})
	switch {
	case apierrors.IsConflict(err) && len(conflictsOf(err)) == 0, apierrors.IsNotFound(err):
		return errChanged
	case err != nil:
		return err
	}
	out.after = got
	if len(w.dryRun) == 0 {
		out.wrote = out.wrote || got.GetResourceVersion() != *version
		*version = got.GetResourceVersion()
	}
	return nil
}

// serverWords is the message of an API error without what repeats the object.
func serverWords(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
