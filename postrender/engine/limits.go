package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// headroom is what the sweep leaves free on a Gateway that a release renders:
// its next version may bring listeners of its own, and one too many would be
// refused as a whole.
const headroom = 8

// withinLimits holds a parent to the quota of namespaces and to the number of
// listeners that it takes. What exists stays, and the newest claims are refused.
// A render that goes past the number fails instead: it does not know which names
// are live, and a cut would throw one out for a newcomer.
func (r *run) withinLimits(g *gateway, listeners []Listener) []Listener {
	quota, limit := r.pastLimits(g, listeners)
	if r.snapshot.Complete && g.keepInstead(listeners, slices.Concat(quota, limit)) {
		quota, limit = r.pastLimits(g, listeners)
	}
	if len(limit) > 0 && !r.snapshot.Complete {
		r.errs = append(r.errs, limit[0].err)
		return listeners
	}
	if len(quota)+len(limit) == 0 {
		return listeners
	}
	return r.refuseListeners(g, listeners, slices.Concat(quota, limit))
}

func (r *run) pastLimits(g *gateway, listeners []Listener) (overQuota, overLimit []excess) {
	overQuota = r.overQuota(g, listeners)
	return overQuota, r.overLimit(g, listeners, overQuota)
}

// keptFree is how many places are left to the release that renders the parent.
func (r *run) keptFree(g *gateway) int {
	if r.snapshot.Complete && g.Annotations[AnnotationRendered] != "" {
		return min(headroom, g.policy.MaxListeners)
	}
	return 0
}

// yieldedPlaces is how many listeners are given up for a chart that has not
// brought its own yet: the next hostname that waits for a place is not to take it.
func (g *gateway) yieldedPlaces() int {
	places := len(g.Yielded)
	for hostname := range g.Yielded {
		if slices.ContainsFunc(g.hand, func(l SourceListener) bool { return l.Hostname == hostname }) {
			places--
		}
	}
	return places
}

// excess is a listener past a limit: the answer to its claims, and, where a
// render fails, its error.
type excess struct {
	name   string
	answer answer
	err    error
}

// overQuota returns the new listeners past the quota of the namespace that
// claimed each first.
func (r *run) overQuota(g *gateway, listeners []Listener) []excess {
	quota := g.policy.MaxListenersPerNamespace
	if quota == 0 {
		return nil
	}
	r.quotaUndecided(g, listeners, quota)
	var out []excess
	unclaimed := r.unclaimedQuota(g, listeners)
	counts := maps.Clone(unclaimed)
	for _, l := range bySeniority(listeners) {
		if len(l.claims) == 0 || l.Action == Remove {
			continue
		}
		namespace := l.oldest().object.Namespace
		counts[namespace]++
		if counts[namespace] > quota && !l.lives() {
			out = append(out, excess{name: l.Name, answer: refuse(ReasonTooMany, "the quota of %s is %d, and %s is one more%s; drop a hostname, or raise maxListenersPerNamespace in the policy",
				namespaceOf(&Meta{Namespace: namespace}), quota, l.Hostname, unclaimedAside(unclaimed[namespace]))})
		}
	}
	return out
}

// unclaimedQuota counts the listeners that stay although nobody claims them, for
// now or because a route uses them: they are on the quota of whoever claimed them
// last, who could fill the parent with them otherwise.
func (r *run) unclaimedQuota(g *gateway, listeners []Listener) map[string]int {
	counts := map[string]int{}
	for i := range listeners {
		l := &listeners[i]
		if namespace := g.Quotas[l.Name]; namespace != "" && len(l.claims) == 0 && !l.Immediate && r.snapshot.Complete {
			counts[namespace]++
		}
	}
	return counts
}

func unclaimedAside(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d that it claims no more count until they are gone)", count)
}

// quotaUndecided fails where another namespace may be that of the release, and
// be past the quota together with it.
func (r *run) quotaUndecided(g *gateway, listeners []Listener, quota int) {
	counts := map[string]int{}
	for _, l := range listeners {
		for _, namespace := range namespacesOf(l.claims) {
			counts[namespace]++
		}
	}
	implicit := counts[orNone("")]
	delete(counts, orNone(""))
	for _, count := range counts {
		if implicit > 0 && implicit+count > quota {
			r.errs = append(r.errs, r.needNamespace(&g.Meta, "whether a namespace is within maxListenersPerNamespace depends on the namespace of the release"))
			return
		}
	}
}

func (r *run) overLimit(g *gateway, listeners []Listener, over []excess) []excess {
	most := g.policy.MaxListeners
	free := min(most, r.keptFree(g)+g.yieldedPlaces())
	limit := most - free
	if len(g.hand)+len(listeners) <= limit {
		return nil
	}
	var out []excess
	ours, refused := 0, map[string]bool{}
	for _, e := range over {
		refused[e.name] = true
	}
	for _, l := range bySeniority(listeners) {
		gone := l.Action == Remove && (l.Immediate || !r.snapshot.Complete) // what is stale has its place for a time
		if gone || refused[l.Name] {
			continue
		}
		ours++
		if len(g.hand)+ours <= limit || (r.snapshot.Complete && l.newness() == 0) {
			continue
		}
		reached := fmt.Sprintf("%d is the limit", limit)
		if free > 0 {
			reached = fmt.Sprintf("of the %d that it may have %d are kept free for its release", most, free)
		}
		out = append(out, excess{name: l.Name, answer: refuse(ReasonTooMany, "%s has %d listeners, and %s; %s", g, len(g.hand)+ours-1-len(out), reached, g.roomier())})
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

// lives says whether the listener is there: in the input, or in the Gateway that
// --snapshot holds, since Helm hands over a chart's manifests as they were before
// any render.
func (l *Listener) lives() bool { return l.Action != Add || l.known }

func (l *Listener) newness() int {
	switch {
	case l.lives() || l.takesPlace:
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
// Certificates and grants, and turns their verdicts.
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
		if _, refused := answers[l.Name]; !refused {
			continue
		}
		g.vacate(l)
		if !secrets[l.secretName] {
			delete(r.wantCertificates.index, ObjectName{g.Namespace, l.secretName})
			r.dropGrant(g, l.Secret())
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
		if j >= 0 && !g.replaced(old, refused) && g.Yielded[old.Hostname] == "" {
			g.keep(&listeners[j], old, "listener "+listeners[i].Name+" is past the limit, and may have been for its sake")
			kept = true
		}
	}
	for j := range listeners {
		listeners[j].takesPlace = listeners[j].displaces(listeners)
	}
	return kept
}
