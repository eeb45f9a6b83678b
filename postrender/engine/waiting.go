package engine

import (
	"slices"
)

// In a cluster a Certificate is made before the listener that is to present it,
// where a wider listener answers the hostname until then. It is made only for a
// listener that can come: one that the policy, a limit or another claim would
// keep out once the Certificate is ready would have it made and removed in turn,
// for ever.

// waitingListener is one that waits for its certificate.
type waitingListener struct {
	slot
	listener Listener
	wider    *SourceListener
}

// withoutWaiting leaves out the listeners of the policy alone that wait for their
// certificate: those of an apex, whose names a wider listener answers until then.
func (r *run) withoutWaiting(g *gateway, listeners []Listener) []Listener {
	return slices.DeleteFunc(listeners, func(l Listener) bool {
		wider := r.waitsBehind(g, &l)
		if wider != nil {
			g.waiting = append(g.waiting, waitingListener{slot{l.Port, l.Hostname}, l, wider})
		}
		return wider != nil
	})
}

// answerWaiting gives the claims of listeners that wait their verdicts, and makes
// the Certificates of those that hand-written listeners serve meanwhile.
func (r *run) answerWaiting(g *gateway, listeners []Listener) {
	if len(g.waiting)+len(g.prepared) == 0 {
		return
	}
	never := map[string]string{} // by hostname
	all := slices.Clone(listeners)
	for i := range all {
		all[i].known = true // it has its place, whoever waits
	}
	for _, w := range g.waiting {
		w.listener.Action = Add
		all = append(all, w.listener)
	}
	for hostname, claims := range g.preparedByHostname(listeners) {
		l, reason := r.nextListener(g, slot{g.httpsPort, hostname}, claims)
		never[hostname] = reason
		if reason == "" {
			all = append(all, l)
		}
	}
	past := map[string]answer{}
	quota, limit := r.pastLimits(g, all)
	for _, e := range slices.Concat(quota, limit) {
		past[e.name] = e.answer
	}
	r.answerBehind(g, listeners, past)
	for _, p := range g.prepared {
		name := ListenerName(p.hostname, g.httpsPort)
		if slices.ContainsFunc(listeners, func(l Listener) bool { return l.Name == name }) {
			continue // another claim makes it
		}
		reason := never[p.hostname]
		if reason == "" {
			reason = past[name].message
		}
		r.prepare(g, p.claim, &p.listener, reason)
	}
}

// answerBehind answers for the listeners that wait behind wider ones.
func (r *run) answerBehind(g *gateway, listeners []Listener, past map[string]answer) {
	for _, w := range g.waiting {
		a, cut := past[w.listener.Name]
		if !cut {
			a = refuse(ReasonPending, "listener %s (%s) answers %s until the Secret %s holds its certificate; then it gets a listener of its own", w.wider.Name, orAny(w.wider.Hostname), w.hostname, w.listener.secretName)
		} else if !slices.ContainsFunc(listeners, func(l Listener) bool { return l.Secret() == w.listener.Secret() }) {
			delete(r.wantCertificates.index, ObjectName{g.Namespace, w.listener.secretName})
		}
		r.turn(g, w.listener.Name, a)
		if len(w.listener.claims) == 0 { // the claims that it would serve are answered later
			if g.overLimit == nil {
				g.overLimit = map[string]answer{}
			}
			g.overLimit[w.listener.Name] = a
		}
	}
}

// preparedByHostname returns the claims that no listener of the plan is for.
func (g *gateway) preparedByHostname(listeners []Listener) map[string][]claim {
	out := map[string][]claim{}
	for _, p := range g.prepared {
		name := ListenerName(p.hostname, g.httpsPort)
		if !slices.ContainsFunc(listeners, func(l Listener) bool { return l.Name == name }) {
			out[p.hostname] = append(out[p.hostname], p.claim)
		}
	}
	return out
}

// nextListener is the listener that claims get once their Certificate is ready,
// or why they never do.
func (r *run) nextListener(g *gateway, s slot, claims []claim) (l Listener, never string) {
	if a, closed := r.closedSlot(g, s, &wanted{routes: claims}); closed {
		return l, a.message
	}
	if a, refused := r.takesFromPassthrough(g, s); refused {
		return l, a.message
	}
	if a, refused := g.filledElsewhere(s); refused {
		return l, a.message
	}
	if a, refused := g.clash(s, claims[0]); refused {
		return l, a.message
	}
	prepared := claims
	if g.policy.HostnameOwnership == OneNamespace {
		owner, _ := g.holder(s.hostname, slices.Concat(r.rivals(g, s.hostname), claims))
		mine := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return c.object.Namespace != owner })
		if len(mine) == 0 {
			return l, lost(g, s.hostname, owner).message
		}
		claims = mine
	}
	for _, h := range g.losers(s) {
		same := slices.ContainsFunc(prepared, func(c claim) bool { return c.object == h.object && c.hostname == h.hostname })
		if a, refused := r.takenFrom(g, s, h, claims[0].object.Namespace); !same && refused {
			return l, a.message
		}
	}
	return Listener{Name: ListenerName(s.hostname, s.port), Hostname: s.hostname, Port: s.port, Protocol: "HTTPS", Action: Add, claims: claims}, ""
}
