package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// answerTLSRoute decides the claims of a TLSRoute on one parent. It makes no
// listener: hand-written TLS listeners and those of passthrough serve it.
func (r *run) answerTLSRoute(route *Route, g *gateway, parent Parent, ref ParentRef) {
	g.tlsRoutes = append(g.tlsRoutes, attachment{route, ref})
	hostnames := route.Hostnames
	if len(hostnames) == 0 {
		hostnames = r.borrowed(route, g, parent)
	}
	if len(hostnames) == 0 {
		r.verdict(claim{object: &route.Meta, parent: parent}, refuse(ReasonNoMatchingParent, "%s has no TLS listener %s that would lend the route a hostname; name one that it has, or add the entry to passthrough in its policy", g, orNone(pinOrNone(parent))))
		return
	}
	for _, raw := range hostnames {
		hostname, err := NormalizeHostname(raw)
		if err != nil {
			r.verdict(claim{object: &route.Meta, parent: parent, hostname: raw}, refuse(ReasonUnsupported, "%q %v; correct spec.hostnames", raw, err))
			continue
		}
		c := claim{object: &route.Meta, parent: parent, hostname: hostname}
		r.answerTLS(route, g, c)
	}
}

func pinOrNone(p Parent) string {
	if p.SectionName == "" && p.Port == 0 {
		return ""
	}
	return pin(p)
}

func (r *run) answerTLS(route *Route, g *gateway, c claim) {
	a := r.standingAnswer(route, g, c)
	if i := g.standingIndex(a.listener); a.accepted && i >= 0 {
		if a, refused := r.refusedByPolicy(g, c); refused {
			r.verdict(c, a) // the listener admits it all the same; it takes nothing of others
			return
		}
		r.answerByStanding(g, c, &g.standing[i])
		return
	}
	r.answerLater(route, g, c, a)
}

// standingAnswer is that of the listeners which claims do not make.
func (r *run) standingAnswer(route *Route, g *gateway, c claim) answer {
	listeners := g.selectedBy(c)
	switch {
	case len(listeners) > 0:
		return r.bestAnswer(route, g, c, listeners)
	case c.pinned():
		return refuse(ReasonNoMatchingParent, "%s has no listener %s; %s", g, pin(c.parent), g.wayFor(route.Kind))
	}
	return refuse(ReasonNotAllowed, "%s has no TLS listener for a TLSRoute; add the hostname to passthrough in its policy, or write a listener by hand (protocol TLS, tls.mode Passthrough)", g)
}

// borrowed returns the hostnames of the TLS listeners that the route's
// parentRef selects: those that would admit it, or the one that it names, so
// that a refusal is heard. Only v1alpha2 allows a TLSRoute without hostnames.
func (r *run) borrowed(route *Route, g *gateway, parent Parent) []string {
	var out []string
	c := claim{parent: parent}
	for _, l := range g.selectedBy(c) {
		named := parent.SectionName != ""
		if l.Protocol == "TLS" && l.Hostname != "" && (named || (admitsKind(&l, route.Kind) && r.admitsNamespace(g, &l, route.Namespace) != no)) {
			out = append(out, l.Hostname)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withdrawnBy returns the passthrough listener that takes a hostname from a
// terminate listener under withdraw: Served, whatever their ports: one that a
// TLSRoute claims, which can attach to it and forwards to a backend that is
// there. Where one of these is not known, nothing is withdrawn.
func (r *run) withdrawnBy(g *gateway, hostname string) *standing {
	if g.policy.Withdraw != "Served" {
		return nil
	}
	for i := range g.passthrough {
		s := &g.passthrough[i]
		if !Covers(s.Hostname, hostname) {
			continue // one below a terminate listener's wildcard takes none of its names
		}
		candidates := r.forwardingTo(g, hostname)
		if s.Hostname == hostname {
			candidates = slices.Concat(candidates, r.forwardingTo(g, ""))
		}
		if slices.ContainsFunc(candidates, func(a attachment) bool { return r.takes(a, g, s, hostname) }) {
			return s
		}
	}
	return nil
}

// forwardingTo returns the TLSRoutes that claim exactly a hostname and whose
// backend is there; for "" those with a wildcard or without hostnames.
func (r *run) forwardingTo(g *gateway, hostname string) []attachment {
	if g.forwarding == nil {
		g.forwarding = map[string][]attachment{}
		for _, a := range g.tlsRoutes {
			if !r.forwards(a.route) {
				continue
			}
			wide := len(a.route.Hostnames) == 0
			for _, raw := range a.route.Hostnames {
				claimed := normalOr(raw)
				wide = wide || isWildcard(claimed)
				g.forwarding[claimed] = append(g.forwarding[claimed], a)
			}
			if wide {
				g.forwarding[""] = append(g.forwarding[""], a)
			}
		}
	}
	return g.forwarding[hostname]
}

// takes says whether a TLSRoute claims the hostname, may, and can attach for it
// to the passthrough listener. A wildcard claims a name below it only where the
// listener is for that very name: an exact name is matched before a wildcard.
// What the policy refuses takes nothing, and neither does another namespace than
// the one that the hostname belongs to.
func (r *run) takes(a attachment, g *gateway, s *standing, hostname string) bool {
	l := s.asSource(g)
	c := claim{object: &a.route.Meta, parent: Parent{SectionName: a.ref.SectionName, Port: a.ref.Port}, hostname: hostname}
	if !c.selects(l.Name, l.Port) || r.admitsNamespace(g, &l, a.route.Namespace) != yes {
		return false
	}
	if holder := g.Holders[hostname]; holder != "" && holder != a.route.Namespace && g.policy.HostnameOwnership == OneNamespace {
		return false
	}
	if _, refused := r.refusedByPolicy(g, c); refused {
		return false
	}
	if len(a.route.Hostnames) == 0 {
		return s.Hostname == hostname
	}
	return slices.ContainsFunc(a.route.Hostnames, func(raw string) bool {
		claimed := normalOr(raw)
		return claimed == hostname || (s.Hostname == hostname && Covers(claimed, hostname))
	})
}

// forwards says whether some rule of the route has a backend that is known to be
// there: a Service of its namespace, or of another one that grants it. A backend
// of another kind never counts, since nobody here can say that it is there.
func (r *run) forwards(route *Route) bool {
	return slices.ContainsFunc(route.Backends, func(rule []BackendRef) bool {
		return slices.ContainsFunc(rule, func(b BackendRef) bool { return r.resolves(route, b) })
	})
}

func (r *run) resolves(route *Route, b BackendRef) bool {
	namespace := cmp.Or(b.Namespace, route.Namespace)
	return b.Group == "" && b.Kind == KindService && r.services[ObjectName{namespace, b.Name}] &&
		(sameNamespace(namespace, route.Namespace) == yes || r.permits(permission{route.Kind, route.Namespace, namespace, KindService, b.Name}))
}

// sharedSNI warns of two TLSRoutes of one namespace on one hostname of a
// listener: nothing merges them, so one is never reached.
func (r *run) sharedSNI(g *gateway, claims []servedClaim) {
	first := map[string]*Meta{}
	for _, s := range claims {
		if s.object.Kind != KindTLSRoute {
			continue
		}
		key := s.listener + " " + s.hostname + " " + s.object.Namespace
		if other := first[key]; other == nil {
			first[key] = s.object
		} else if other != s.object {
			r.find(Warning, CodeSharedSNI, s.object, fmt.Sprintf("%s of %s sends %s to %s already, and nothing merges two TLSRoutes: one of them is never reached; remove one", s.listener, g, s.hostname, other))
		}
	}
}
