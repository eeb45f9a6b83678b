package engine

import "slices"

// answerPinned decides for a parentRef that selects no listener which the claim
// could make: by those that stand there, or by those that others' claims make.
func (r *run) answerPinned(route *Route, g *gateway, c claim) {
	if plain := g.plain(); plain != nil && c.selects(plain.Name, plain.Port) {
		if a := r.answerPlain(route, g); a.accepted {
			r.answerByStanding(g, c, plain)
		} else {
			r.verdict(c, a)
		}
		return
	}
	selected := g.selectedBy(c)
	switch {
	case len(selected) == 0:
		r.answerLater(route, g, c, refuse(ReasonNoMatchingParent, "%s has no listener %s, and a pinned route gets none; remove sectionName and port from the parentRef to get a listener of its own", g, pin(c.parent)))
		return
	case c.parent.SectionName == "" && !slices.ContainsFunc(selected, func(l SourceListener) bool { return admitsKind(&l, route.Kind) }):
		r.answerLater(route, g, c, refuse(ReasonNoHostname, "nothing on port %d of %s takes %ss; remove port from the parentRef to get a listener of its own", c.parent.Port, g, route.Kind))
		return
	}
	a := r.bestAnswer(route, g, c, selected)
	if i := g.standingIndex(a.listener); a.accepted && i >= 0 {
		r.answerByStanding(g, c, &g.standing[i])
		return
	}
	if i := slices.IndexFunc(g.hand, func(l SourceListener) bool { return l.Name == a.listener }); a.accepted && i >= 0 {
		r.servedByHand(g, c, &g.hand[i])
		return
	}
	r.answerLater(route, g, c, a)
}

// lateClaim is a claim that a listener may serve which other claims make, or
// which stays although nothing claims it.
type lateClaim struct {
	claim
	route  *Route
	answer answer // if there is none
}

// answerLater gives a verdict that is final, or one that waits for the listeners
// of other claims: those that a pinned claim selects. So does a refusal that
// speaks of a listener which a limit may take out.
func (r *run) answerLater(route *Route, g *gateway, c claim, a answer) {
	a = g.butYielded(c, a)
	i := slices.IndexFunc(g.hand, func(l SourceListener) bool { return l.Name == a.listener })
	switch {
	case a.accepted && i >= 0:
		r.answerByHand(g, c, &g.hand[i])
		return
	case a.accepted || (!c.pinned() && g.standingIndex(a.about) < 0):
		r.verdict(c, a)
		return
	}
	g.late = append(g.late, lateClaim{c, route, a})
}

func (r *run) verdictsOfLate() {
	for _, g := range r.parents {
		if len(g.late) == 0 {
			continue
		}
		listeners := g.claimedListeners()
		for _, late := range g.late {
			selected := slices.DeleteFunc(slices.Clone(listeners), func(l SourceListener) bool { return !late.selects(l.Name, l.Port) })
			a := late.answer
			if _, cut := g.overLimit[a.about]; cut {
				a = r.standingAnswer(late.route, g, late.claim)
			}
			if len(selected) > 0 {
				if other := r.bestAnswer(late.route, g, late.claim, selected); other.accepted || a.reason == ReasonNoMatchingParent {
					a = other
				}
			}
			r.verdict(late.claim, a)
		}
	}
}

// claimedListeners returns the listeners of ours that stand after the plan, but
// for those that stand whatever is claimed, as a route meets them.
func (g *gateway) claimedListeners() []SourceListener {
	var out []SourceListener
	for i := range g.listeners {
		if l := &g.listeners[i]; l.Action != Remove && g.standingIndex(l.Name) < 0 {
			out = append(out, reader{object: l.Object(), problem: new(string)}.listener())
		}
	}
	return out
}
