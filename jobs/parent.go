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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/gatewright/gatewright/postrender/engine"
)

// parent is a Gateway or ListenerSet of a plan, beside what lives.
type parent struct {
	source *engine.Gateway
	plan   *engine.GatewayPlan
	live   *Parent
	// rendered are the names of the listeners that the release rendered.
	rendered map[string]bool
}

func (p *parent) listener(name string) *engine.SourceListener {
	i := slices.IndexFunc(p.source.Listeners, func(l engine.SourceListener) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &p.source.Listeners[i]
}

func (p *parent) planned(name string) *engine.Listener {
	i := slices.IndexFunc(p.plan.Listeners, func(l engine.Listener) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &p.plan.Listeners[i]
}

// ours says whether a live listener is the sweep's to change: our manager owns
// it and no release rendered it.
func (p *parent) ours(l *engine.SourceListener) bool { return l.Owned && !p.rendered[l.Name] }

// application is everything of one parent that our manager is to own: one apply
// holds all of it, since what an apply leaves out is removed.
type application struct {
	parent *parent
	// base are the listeners that our manager owns already, as they live; changes
	// those that become different or are new; gone the names of those left out.
	base    []map[string]any
	changes []map[string]any
	gone    []string
	// displaced are the live listeners of those that go at once, because others take
	// their place: where these are refused, they stay.
	displaced []map[string]any
	// state is the value of the annotation state.
	state string
	// pending says that there is something to write.
	pending bool
}

// prepare composes what is to be applied. Removals are the listeners that go;
// without names those that are planned and not to be written.
//
// A listener that became the release's while our manager still owns it stays
// with its live values until another manager applies it: leaving it out earlier
// would delete it.
func (p *parent) prepare(state engine.State, removals, without map[string]bool) *application {
	a := &application{parent: p, state: state.String()}
	a.pending = a.state != p.source.Annotations[engine.AnnotationState]
	for i := range p.source.Listeners {
		l := &p.source.Listeners[i]
		planned := p.planned(l.Name)
		switch {
		case !l.Owned:
		case p.rendered[l.Name] && l.Shared:
			a.pending = true // handed over
		case removals[l.Name]:
			a.gone, a.pending = append(a.gone, l.Name), true
			if planned != nil && planned.Immediate && p.source.Yielded[l.Hostname] == "" {
				a.displaced = append(a.displaced, l.Object)
			}
		case !p.rendered[l.Name] && planned != nil && planned.Action == engine.Update && !without[l.Name]:
			a.changes, a.pending = append(a.changes, planned.Object()), true
			fallthrough
		default:
			a.base = append(a.base, l.Object)
		}
	}
	for i := range p.plan.Listeners {
		if l := &p.plan.Listeners[i]; l.Action == engine.Add && !without[l.Name] && !p.hasNoPlace(l, removals) {
			a.changes, a.pending = append(a.changes, l.Object()), true
		}
	}
	return a
}

// hasNoPlace says whether a listener of ours that stays answers the same
// hostname on the same port: the data plane would serve neither of the two.
func (p *parent) hasNoPlace(add *engine.Listener, removals map[string]bool) bool {
	return slices.ContainsFunc(p.source.Listeners, func(l engine.SourceListener) bool {
		return p.ours(&l) && !removals[l.Name] && l.Name != add.Name && l.Port == add.Port && l.Hostname == add.Hostname
	})
}

// keepState leaves the annotation state as it is, because it cannot be read: a
// newer version may have written it.
func (a *application) keepState() {
	a.state = a.parent.source.Annotations[engine.AnnotationState]
	a.pending = len(a.changes)+len(a.gone) > 0
}

// listeners is base with some of the changes. Each is in its place: the server
// keeps the order of an apply, and another one would be a write.
func (a *application) listeners(changes ...map[string]any) []any {
	out := []any{}
	pending := map[any]map[string]any{}
	for _, change := range changes {
		pending[change["name"]] = change
	}
	for _, l := range a.base {
		if change := pending[l["name"]]; change != nil {
			l = change
			delete(pending, l["name"])
		}
		out = append(out, runtime.DeepCopyJSONValue(l))
	}
	for _, change := range changes {
		if pending[change["name"]] != nil {
			out = append(out, runtime.DeepCopyJSONValue(change))
		}
	}
	return out
}

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
	// after is the parent as the server answered last; nil if it was not asked.
	after *unstructured.Unstructured
}

// same says whether a listener is as it was before: the fields in which it
// differs from the plan are of others.
func (o *outcome) same(before *engine.SourceListener) bool {
	if o.after == nil || before == nil {
		return false
	}
	listeners, _, _ := unstructured.NestedSlice(o.after.Object, "spec", "listeners")
	return slices.ContainsFunc(listeners, func(l any) bool { return reflect.DeepEqual(l, any(before.Object)) })
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
	a.base = append(a.base, a.displaced...)
	if err := w.settle(ctx, a, a.listeners(), &version, &out); err != nil {
		return out, err
	}
	var accepted []map[string]any
	for _, change := range a.changes {
		err := w.settle(ctx, a, a.listeners(append(slices.Clone(accepted), change)...), &version, &out)
		switch {
		case err == nil:
			accepted = append(accepted, change)
		case isRefusal(err):
			out.refusals = append(out.refusals, refusedListener{change["name"].(string), serverWords(err)})
		default:
			return out, err
		}
	}
	if len(a.displaced) == 0 || len(accepted) < len(a.changes) {
		return out, nil
	}
	a.base = a.base[:len(a.base)-len(a.displaced)]
	return out, w.settle(ctx, a, a.listeners(accepted...), &version, &out)
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
