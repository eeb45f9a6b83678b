package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// handClaim is a claim that a hand-written listener serves.
type handClaim struct {
	claim
	listener SourceListener
}

// takesOver answers for a slot whose hostname live listeners answer for others:
// a more specific listener takes the name from them, so it must admit all of
// their routes. Where it would not, all claims of the slot are refused.
//
// A listener of ours that lives answers its hostname already, and takes nothing.
func (r *run) takesOver(g *gateway, s slot) (answer, bool) {
	if r.snapshot.Complete && g.isOurs(ListenerName(s.hostname, s.port)) {
		return answer{}, false
	}
	if a, refused := r.takesFromPassthrough(g, s); refused {
		return a, true
	}
	losers := g.losers(s)
	for _, h := range losers { // the smallest, so that the order of the input does not matter
		owner := r.ownerOf(g, s)
		if a, refused := r.takenFrom(g, s, h, owner); refused {
			return a, true
		}
		if g.policy.HostnameOwnership == OneNamespace && sameNamespace(owner, h.object.Namespace) == unknown {
			r.errs = append(r.errs, r.needNamespace(h.object, fmt.Sprintf("whether a listener for %s, which belongs to one namespace, would admit it depends on the namespace of the release", s.hostname)))
		}
	}
	for _, h := range losers {
		if h.hostname == s.hostname { // a wildcard of a route attaches to both
			r.find(Warning, CodeCoveredByWider, h.object, fmt.Sprintf("%s is answered by the hand-written listener %s (%s), and from now on by a listener of its own, which serves nothing until its Secret is there", s.hostname, h.listener.Name, orAny(h.listener.Hostname)))
		}
	}
	return answer{}, false
}

// takenFrom refuses a slot whose listener would not admit a route that is served
// by a wider one now. The listener is for the owner alone, where the policy gives
// a hostname to one namespace.
func (r *run) takenFrom(g *gateway, s slot, h handClaim, owner string) (answer, bool) {
	switch {
	case h.parent.SectionName != "" || r.attaches(g, h.object) == no:
		return refuse(ReasonHostnameConflict, "listener %s serves %s to %s, which a listener of its own would take it from without admitting that route; widen attach in the policy, or drop the hostname from one of them",
			h.listener.Name, s.hostname, h.object), true
	case g.policy.HostnameOwnership == OneNamespace && sameNamespace(owner, h.object.Namespace) == no:
		return refuse(ReasonHostnameConflict, "listener %s serves %s to %s, which a listener of its own, for one namespace, would take it from; drop the hostname from one of them",
			h.listener.Name, s.hostname, h.object), true
	}
	return answer{}, false
}

// ownerOf returns the namespace that the listener of a slot is for.
func (r *run) ownerOf(g *gateway, s slot) string {
	if g.policy.HostnameOwnership != OneNamespace {
		return ""
	}
	owner, _ := g.holder(s.hostname, r.rivals(g, s.hostname))
	return owner
}

// losers returns the claims that wider hand-written listeners serve for the
// hostname of a slot, in an order of their own.
func (g *gateway) losers(s slot) []handClaim {
	var out []handClaim
	candidates := g.byHand[s.hostname]
	if isWildcard(s.hostname) {
		candidates = slices.Concat(slices.Collect(maps.Values(g.byHand))...)
	} else if wild := g.byHand[""]; len(wild) > 0 {
		candidates = slices.Concat(candidates, wild)
	}
	for _, h := range candidates {
		if h.listener.Port == s.port && intersects(h.hostname, s.hostname) && Covers(h.listener.Hostname, s.hostname) && h.listener.Hostname != s.hostname {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b handClaim) int {
		return cmp.Or(compareMeta(a.object, b.object), compareParents(a.parent, b.parent), cmp.Compare(a.listener.Name, b.listener.Name))
	})
	return out
}

// takesFromPassthrough refuses a name that a TLSRoute is served by a wider
// hand-written passthrough listener of the port.
func (r *run) takesFromPassthrough(g *gateway, s slot) (answer, bool) {
	for i := range g.hand {
		l := &g.hand[i]
		if l.Protocol != "TLS" || l.Port != s.port || !Covers(l.Hostname, s.hostname) {
			continue
		}
		routes := slices.SortedFunc(slices.Values(g.tlsRoutes), func(a, b attachment) int { return compareMeta(&a.route.Meta, &b.route.Meta) })
		for _, a := range routes {
			c := claim{parent: Parent{SectionName: a.ref.SectionName, Port: a.ref.Port}}
			claimed := slices.ContainsFunc(a.route.Hostnames, func(raw string) bool { return Covers(normalOr(raw), s.hostname) })
			if !claimed || !c.selects(l.Name, l.Port) {
				continue
			}
			switch answer := r.attach(a.route, g, l, s.hostname); {
			case answer.reason == reasonNamespaceUnknown:
				r.errs = append(r.errs, r.needNamespace(&a.route.Meta, fmt.Sprintf("whether listener %s of %s serves it %s depends on the namespace of the release", l.Name, g, s.hostname)))
			case answer.accepted:
				return refuse(ReasonNoHostname, "listener %s (TLS %s) serves %s to %s on port %d; drop the hostname from one of them", l.Name, l.TLSMode, s.hostname, &a.route.Meta, s.port), true
			}
		}
	}
	return answer{}, false
}

// keepsOne keeps the last listener of a parent: the API takes none without one.
func (r *run) keepsOne(g *gateway, listeners []Listener) []Listener {
	stays := func(l Listener) bool { return l.Action != Remove }
	if len(g.hand) > 0 || slices.ContainsFunc(listeners, stays) {
		return listeners
	}
	if len(listeners) == 0 {
		r.find(Critical, CodeNoListener, &g.Meta, fmt.Sprintf("it has no listener, and the API takes no %s without one; write one by hand, or set http.listener: true in the policy", g.Kind))
		return listeners
	}
	last := &listeners[0]
	i := slices.IndexFunc(g.ours, func(l SourceListener) bool { return l.Name == last.Name })
	g.keep(last, g.ours[i], "it is the last one")
	r.find(Warning, CodeNoListener, &g.Meta, fmt.Sprintf("nothing claims listener %s, and it stays all the same, since the API takes no %s without a listener; write one by hand, or set http.listener: true in the policy", last.Name, g.Kind))
	return listeners
}
