package jobs

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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

// listenersOf are the listeners of a Gateway or ListenerSet as they stand.
func listenersOf(u *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "listeners")
	var out []map[string]any
	for _, item := range list {
		if l, ok := item.(map[string]any); ok {
			out = append(out, l)
		}
	}
	return out
}

// application is everything of one parent that our manager is to own: one apply
// holds all of it, since what an apply leaves out is removed.
type application struct {
	parent *parent
	// base are the listeners that our manager owns already, as they live; changes
	// those that become different or are new; gone the names of those left out.
	base    []map[string]any
	changes []map[string]any
	gone    []string
	// displaced are the live listeners of those that go at once, because changes take
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
	a.displaced = slices.DeleteFunc(a.displaced, func(old map[string]any) bool {
		return !slices.ContainsFunc(a.changes, func(change map[string]any) bool { return displaces(change, old) })
	})
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

// liveParents are the Gateways and ListenerSets that were read, without a plan.
func (r *Reading) liveParents() []*parent {
	var out []*parent
	for _, source := range slices.Concat(r.Snapshot.Gateways, r.Snapshot.ListenerSets) {
		live := r.Gateways
		if source.Kind == engine.KindListenerSet {
			live = r.ListenerSets
		}
		if l := live[engine.ObjectName{Namespace: source.Namespace, Name: source.Name}]; l != nil {
			out = append(out, &parent{source: source, live: l, rendered: source.Rendered()})
		}
	}
	return out
}

// matchParents joins the planned parents with what lives of them.
func (s *sweep) matchParents() []*parent {
	lives := map[objectKey]*parent{}
	for _, p := range s.reading.liveParents() {
		lives[objectKey{p.source.Kind, engine.ObjectName{Namespace: p.source.Namespace, Name: p.source.Name}}] = p
	}
	var out []*parent
	match := func(kind string, plans []engine.GatewayPlan) {
		for i := range plans {
			plan := &plans[i]
			p := lives[objectKey{kind, engine.ObjectName{Namespace: plan.Namespace, Name: plan.Name}}]
			if p != nil && plan.Frozen == "" && s.chosen(p.gateway()) {
				p.plan = plan
				out = append(out, p)
			}
		}
	}
	match(engine.KindGateway, s.plan.Gateways)
	match(engine.KindListenerSet, s.plan.ListenerSets)
	return out
}

// byGateway are the parents that are each Gateway, or parts of it.
func byGateway(parents []*parent) map[engine.ObjectName][]*parent {
	out := map[engine.ObjectName][]*parent{}
	for _, p := range parents {
		out[p.gateway()] = append(out[p.gateway()], p)
	}
	return out
}

// gateway is the Gateway that the parent is, or is a part of.
func (p *parent) gateway() engine.ObjectName { return p.source.GatewayName() }

// chosen says whether what belongs to a Gateway is written by this run.
func (s *sweep) chosen(gateway engine.ObjectName) bool {
	return s.options.Gateways == nil || slices.Contains(s.options.Gateways, gateway)
}
