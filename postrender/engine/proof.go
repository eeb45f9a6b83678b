package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Where a listener may go because another serves its hostname instead, that one
// has to be seen to serve: its certificate is ready, and the status of its
// parent, if that tells of listeners at all, tells of it, and nothing bad.

// listenerStatuses reads the conditions of the listeners, by name. One that is in
// conflict with another is not held against a listener: it may be the very one
// whose place it is to take.
func (r reader) listenerStatuses() map[string]ListenerStatus {
	r.problem = new(string) // a status decides nothing about the manifest
	out := map[string]ListenerStatus{}
	generation := r.child("metadata").number("generation")
	for _, l := range r.child("status").children("listeners") {
		status, conflicted := ListenerStatus{Told: true}, false
		for _, condition := range l.children("conditions") {
			name, value := condition.text("type"), condition.text("status")
			seen := condition.number("observedGeneration")
			status.Old = status.Old || (seen != 0 && seen != generation)
			conflicted = conflicted || (name == "Conflicted" && value == "True")
			if condition.text("reason") == "InvalidRouteKinds" {
				continue // it serves the other kinds, and a claim is of one that it lists
			}
			if slices.Contains([]string{"Accepted", "Programmed", "ResolvedRefs"}, name) && value == "False" && (status.Bad == "" || name == "ResolvedRefs") {
				status.Bad = fmt.Sprintf("%s is False (%s)", name, orNone(condition.text("reason")))
			}
		}
		if conflicted {
			status.Bad = ""
		}
		out[l.text("name")] = status
	}
	return out
}

// unproven says why a listener of the plan, which is to answer in place of
// another, is not seen to serve, or "".
func (r *run) unproven(g *gateway, l *Listener) string {
	if !r.ready(g, l) {
		return fmt.Sprintf("the certificate of listener %s is not ready", l.Name)
	}
	return r.unservedOf(g, l.Name)
}

// unservedOf is unproven for a listener whose certificate nobody knows.
func (r *run) unservedOf(g *gateway, name string) string {
	live := g.listenerNamed()[name]
	switch {
	case !r.snapshot.Complete:
		return ""
	case live != nil:
		return g.unserved(live)
	case g.Reports:
		return fmt.Sprintf("listener %s is not there yet", name)
	}
	return ""
}

// unserved says why a live listener is not seen to serve, or "".
func (g *gateway) unserved(l *SourceListener) string {
	switch {
	case l.Status.Bad != "":
		return fmt.Sprintf("listener %s does not serve: %s", l.Name, l.Status.Bad)
	case g.Reports && !l.Status.Told:
		return fmt.Sprintf("the status of %s tells nothing of listener %s yet", g, l.Name)
	}
	return ""
}

// noWorse says whether a live listener lacks no more than the one in whose place it
// is to answer: where a Gateway gets no address, none of its listeners is
// programmed, and to keep one serves nobody.
func (g *gateway) noWorse(name string, old *SourceListener) bool {
	live := g.listenerNamed()[name]
	return live != nil && live.Status.Bad == old.Status.Bad && strings.HasPrefix(live.Status.Bad, "Programmed ")
}

// listenerNamed returns the listeners of the parent by name.
func (g *gateway) listenerNamed() map[string]*SourceListener {
	if g.byListener == nil {
		g.byListener = make(map[string]*SourceListener, len(g.Listeners))
		for i := range g.Listeners {
			g.byListener[g.Listeners[i].Name] = &g.Listeners[i]
		}
	}
	return g.byListener
}

// secretUnproven says why the Secret of the policy, which nobody may read, is not
// seen to be there, or "": the other listener of the plan that presents it is not
// seen to serve. One listener presents another Secret first, the last of the plan,
// so that a name that is wrong costs no more than that one, where statuses tell.
func (r *run) secretUnproven(g *gateway, l *Listener, planned []Listener) string {
	if g.policy.Certificates != ExistingSecret || l.secretName != g.policy.SecretName || l.Certificate != "" {
		return ""
	}
	after := false // whether other comes after the listener
	for i := range planned {
		other := &planned[i]
		if other.Name == l.Name {
			after = true
			continue
		}
		if other.secretName != l.secretName || other.Certificate != "" {
			continue
		}
		switch live := g.listenerNamed()[other.Name]; {
		case live == nil:
		case g.Reports && !g.presents(live, l) && after:
			return fmt.Sprintf("listener %s is to present Secret %s first", other.Name, l.secretName)
		case !g.presents(live, l):
			continue // it waits, too
		case live.Status.Old:
			return fmt.Sprintf("the status of %s is of before its last change", g)
		}
		old := g.listenerNamed()[l.Name]
		if why := r.unservedOf(g, other.Name); why != "" && (old == nil || !g.noWorse(other.Name, old)) {
			return why
		}
	}
	return ""
}

// presents says whether a live listener names the Secret of one of the plan.
func (g *gateway) presents(live *SourceListener, l *Listener) bool {
	wanted := ObjectName{cmp.Or(l.secretNamespace, g.Namespace), l.secretName}
	return slices.ContainsFunc(live.CertificateRefs, func(ref ObjectName) bool {
		return ObjectName{cmp.Or(ref.Namespace, g.Namespace), ref.Name} == wanted
	})
}
