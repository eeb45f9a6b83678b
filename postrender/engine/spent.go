package engine

import (
	"cmp"
	"slices"
)

// leaveOutSpent takes the claims of namespaces out of races that they would win
// past their quota: what they cannot have they keep from nobody. Where nobody has
// a place left the race stays as it is.
func (r *run) leaveOutSpent(g *gateway, slots []slot) {
	quota := g.policy.MaxListenersPerNamespace
	if quota == 0 || !r.snapshot.Complete {
		return
	}
	counts := g.unclaimedBefore()
	for _, s := range g.inOrderOfQuota(slots) {
		race := g.claims[s.hostname]
		for len(race) > 0 {
			owner, _ := g.holder(s.hostname, race)
			if counts[owner] < quota || g.lives(ListenerName(s.hostname, s.port)) {
				counts[owner]++
				g.claims[s.hostname] = race
				break
			}
			race = slices.DeleteFunc(slices.Clone(race), func(c claim) bool { return c.object.Namespace == owner })
			if g.Holders[s.hostname] == owner {
				break // it keeps the hostname until its claim is gone for long enough
			}
		}
	}
}

// unclaimedBefore counts, by the namespace that claimed them last, the listeners
// of ours that no claim is for.
func (g *gateway) unclaimedBefore() map[string]int {
	counts := map[string]int{}
	for i := range g.ours {
		l := &g.ours[i]
		if namespace := g.Quotas[l.Name]; namespace != "" && g.wanted[slot{l.Port, l.Hostname}] == nil {
			counts[namespace]++
		}
	}
	return counts
}

// inOrderOfQuota puts what lives first, then the oldest claims, as [bySeniority]
// does with listeners.
func (g *gateway) inOrderOfQuota(slots []slot) []slot {
	newness := func(s slot) int {
		if g.lives(ListenerName(s.hostname, s.port)) {
			return 0
		}
		return 1
	}
	oldest := func(s slot) *Meta {
		return slices.MinFunc(g.claims[s.hostname], func(a, b claim) int { return compareAge(a.object, b.object) }).object
	}
	return slices.SortedStableFunc(slices.Values(slots), func(a, b slot) int {
		return cmp.Or(cmp.Compare(newness(a), newness(b)), compareAge(oldest(a), oldest(b)), cmp.Compare(a.hostname, b.hostname))
	})
}
