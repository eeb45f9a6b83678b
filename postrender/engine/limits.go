package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// headroom is what the sweep leaves free on a Gateway that a release renders:
// its next version may bring listeners of its own, and one too many would be
// refused as a whole.
const headroom = 8

// withinLimits holds a parent to the quota of namespaces and to the number of
// listeners that it takes. A render that goes past one fails: a cut would throw
// out a live name for a newcomer. In a cluster what exists stays, and the
// newest claims are refused.
func (r *run) withinLimits(g *gateway, listeners []Listener) []Listener {
	over := r.pastLimits(g, listeners)
	if r.snapshot.Complete && g.keepInstead(listeners, over) {
		over = r.pastLimits(g, listeners)
	}
	if len(over) == 0 {
		return listeners
	}
	if !r.snapshot.Complete {
		r.errs = append(r.errs, over[0].err)
		return listeners
	}
	return r.refuseListeners(g, listeners, over)
}

func (r *run) pastLimits(g *gateway, listeners []Listener) []excess {
	limit := g.policy.MaxListeners
	if r.snapshot.Complete && g.Annotations[AnnotationRendered] != "" {
		limit = max(limit-headroom, 0)
	}
	over := r.overQuota(g, listeners)
	return append(over, r.overLimit(g, listeners, over, limit)...)
}

// excess is a listener past a limit: the answer to its claims, and the error of
// a render.
type excess struct {
	name   string
	answer answer
	err    error
}

func (r *run) overQuota(g *gateway, listeners []Listener) []excess {
	quota := g.policy.MaxListenersPerNamespace
	if quota == 0 {
		return nil
	}
	var out []excess
	counts := map[string]int{}
	defer func() {
		if len(counts) > 1 && counts[""] > 0 && len(out) == 0 {
			r.errs = append(r.errs, r.needNamespace(&g.Meta, "whether a namespace is within maxListenersPerNamespace depends on the namespace of the release"))
		}
	}()
	for _, l := range bySeniority(listeners) {
		if len(l.claims) == 0 || l.Action == Remove {
			continue
		}
		namespace := l.oldest().object.Namespace
		counts[namespace]++
		if counts[namespace] <= quota || (r.snapshot.Complete && l.Action != Add) {
			continue
		}
		message := fmt.Sprintf("%s may claim %d listeners, and %s is one more", namespaceOf(&Meta{Namespace: namespace}), quota, l.Hostname)
		out = append(out, excess{l.Name, refuse(ReasonTooMany, "%s; drop a hostname, or raise maxListenersPerNamespace in the policy", message),
			gatewayError(g.Gateway, message, "drop hostnames, or raise maxListenersPerNamespace in the policy")})
	}
	return out
}

func (r *run) overLimit(g *gateway, listeners []Listener, over []excess, limit int) []excess {
	if len(g.hand)+len(listeners) <= limit {
		return nil
	}
	var out []excess
	ours, refused := 0, map[string]bool{}
	for _, e := range over {
		refused[e.name] = true
	}
	for _, l := range bySeniority(listeners) {
		if l.Action == Remove || refused[l.Name] {
			continue
		}
		ours++
		if len(g.hand)+ours <= limit || (r.snapshot.Complete && l.newness() == 0) {
			continue
		}
		out = append(out, excess{name: l.Name, answer: refuse(ReasonTooMany, "%s has %d listeners, and %d is the limit; %s", g, len(g.hand)+ours-1, limit, g.roomier())})
	}
	for i := range out {
		out[i].err = gatewayError(g.Gateway, fmt.Sprintf("it would have %d listeners (%d hand-written, %d computed), and %d is the limit", len(g.hand)+ours, len(g.hand), ours, limit),
			g.roomier())
	}
	return out
}

// bySeniority puts what exists and what takes its place first, then the
// listeners of the oldest claims.
func bySeniority(listeners []Listener) []Listener {
	return slices.SortedStableFunc(slices.Values(listeners), func(a, b Listener) int {
		return cmp.Or(cmp.Compare(a.newness(), b.newness()), compareAge(a.age(), b.age()), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Name, b.Name))
	})
}

func (l *Listener) newness() int {
	switch {
	case l.Action != Add || l.takesPlace:
		return 0
	case len(l.claims) == 0:
		return 1
	}
	return 2
}

func (l *Listener) age() *Meta {
	if len(l.claims) == 0 {
		return &Meta{}
	}
	return l.oldest().object
}

func (l *Listener) oldest() claim {
	return slices.MinFunc(l.claims, func(a, b claim) int {
		return cmp.Or(compareAge(a.object, b.object), compareMeta(a.object, b.object))
	})
}

// refuseListeners takes listeners out of the plan again, with their
// Certificates, and turns their verdicts.
func (r *run) refuseListeners(g *gateway, listeners []Listener, over []excess) []Listener {
	answers := map[string]answer{}
	for _, e := range over {
		answers[e.name] = e.answer
	}
	g.overLimit = answers
	for _, verdicts := range [][]Verdict{r.verdicts[g.entries.from:g.entries.to], r.verdicts[g.planFrom:]} {
		for i := range verdicts {
			v := &verdicts[i]
			if a, refused := answers[v.Listener]; refused {
				v.Accepted, v.Reason, v.Message, v.Listener = false, a.reason, a.message, ""
			}
		}
	}
	kept, secrets := []Listener{}, map[string]bool{}
	for _, l := range listeners {
		if _, refused := answers[l.Name]; !refused {
			kept, secrets[l.secretName] = append(kept, l), true
		}
	}
	for _, l := range listeners {
		if _, refused := answers[l.Name]; refused && !secrets[l.secretName] {
			delete(r.wantCertificates.index, ObjectName{g.Namespace, l.secretName})
		}
	}
	return kept
}

// keepInstead keeps what was to go where a limit takes a listener out that the
// policy alone asks for: it may have been for its sake, as in a change of mode.
// What another takes the place of goes all the same.
func (g *gateway) keepInstead(listeners []Listener, over []excess) (kept bool) {
	refused := map[string]bool{}
	for _, e := range over {
		refused[e.name] = true
	}
	i := slices.IndexFunc(listeners, func(l Listener) bool { return refused[l.Name] && len(l.claims) == 0 })
	if i < 0 {
		return false
	}
	for _, old := range g.ours {
		j := slices.IndexFunc(listeners, func(l Listener) bool { return l.Name == old.Name && l.Action == Remove })
		if j >= 0 && !g.replaced(old, refused) {
			g.keep(&listeners[j], old, "listener "+listeners[i].Name+" is past the limit, and may have been for its sake")
			kept = true
		}
	}
	for j := range listeners {
		listeners[j].takesPlace = listeners[j].displaces(listeners)
	}
	return kept
}
