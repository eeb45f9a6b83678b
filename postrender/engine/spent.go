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
	var queue []contest
	for _, s := range slots {
		queue = append(queue, g.contest(s, g.claims[s.hostname]))
	}
	slices.SortStableFunc(queue, compareContests)
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		if counts[c.owner] < quota || c.lives {
			counts[c.owner]++
			g.claims[c.hostname] = c.race
			continue
		}
		others := slices.DeleteFunc(slices.Clone(c.race), func(other claim) bool { return other.object.Namespace == c.owner })
		if len(others) == 0 || g.Holders[c.hostname] == c.owner {
			continue // it keeps the hostname until its claim is gone for long enough
		}
		next := g.contest(c.slot, others) // whose turn comes by the age of the next owner's claim
		at, _ := slices.BinarySearchFunc(queue, next, compareContests)
		queue = slices.Insert(queue, at, next)
	}
}

// contest is a race for a hostname, and who wins it.
type contest struct {
	slot
	race   []claim
	owner  string
	oldest *Meta // of the owner's claims
	lives  bool
}

func (g *gateway) contest(s slot, race []claim) contest {
	c := contest{slot: s, race: race, lives: g.lives(ListenerName(s.hostname, s.port))}
	c.owner, _ = g.holder(s.hostname, race)
	c.oldest = &Meta{}
	for _, claim := range race {
		if m := claim.object; m.Namespace == c.owner && (c.oldest.Name == "" || compareAge(m, c.oldest) < 0) {
			c.oldest = m
		}
	}
	return c
}

// compareContests puts what lives first, then the oldest claims, as
// [bySeniority] does with listeners.
func compareContests(a, b contest) int {
	newness := func(c contest) int {
		if c.lives {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(newness(a), newness(b)), compareAge(a.oldest, b.oldest), cmp.Compare(a.hostname, b.hostname))
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
