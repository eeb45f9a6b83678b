package engine

import (
	"fmt"
	"slices"
	"time"
)

// yield is one that the caller asks for, beside those that states remember.
type yield struct {
	parent   ObjectName
	hostname string
}

// Yield gives up, until a time, what our listeners of a Gateway or ListenerSet of
// the name answer of a hostname, so that a chart can bring its own. It goes after
// [Snapshot.Hold]. A yield that does nothing is a finding.
func (s *Snapshot) Yield(parent ObjectName, hostname string, until time.Time) {
	hostname = normalOr(hostname)
	s.yields = append(s.yields, yield{parent, hostname})
	for _, g := range s.parentsNamed(parent) {
		if g.Yielded == nil {
			g.Yielded = map[string]string{}
		}
		g.Yielded[hostname] = until.UTC().Format(time.RFC3339)
	}
}

// EndYield ends a yield that a state remembers. It goes after [Snapshot.Hold].
func (s *Snapshot) EndYield(parent ObjectName, hostname string) {
	for _, g := range s.parentsNamed(parent) {
		delete(g.Yielded, normalOr(hostname))
	}
}

// parentsNamed are the Gateways and ListenerSets of a name.
func (s *Snapshot) parentsNamed(name ObjectName) []*Gateway {
	return slices.DeleteFunc(slices.Concat(s.Gateways, s.ListenerSets), func(g *Gateway) bool {
		return (ObjectName{g.Namespace, g.Name}) != name
	})
}

// splitYielded takes the standing listeners out whose hostnames are yielded.
func (g *gateway) splitYielded(all []standing) (stay []standing) {
	for _, s := range all {
		if s.Hostname != "" && g.Yielded[s.Hostname] != "" {
			g.givenUp = append(g.givenUp, s)
		} else {
			stay = append(stay, s)
		}
	}
	return stay
}

// yielded answers for a hostname whose listener is given up for a time.
func (g *gateway) yielded(hostname, listeners string) answer {
	if g.heldUp == nil {
		g.heldUp = map[string]bool{}
	}
	g.heldUp[listeners] = true
	return refuse(ReasonPending, "%s is yielded until %s, so that a chart can bring its own listener", hostname, g.Yielded[listeners])
}

// butYielded is a refusal, or what becomes of the claim where a standing listener
// would serve it that is given up for a time.
func (g *gateway) butYielded(c claim, a answer) answer {
	if a.accepted {
		return a
	}
	for i := range g.givenUp {
		if s := &g.givenUp[i]; c.selects(s.Name, s.Port) && Covers(s.Hostname, c.hostname) && (s.Protocol == "TLS") == (c.object.Kind == KindTLSRoute) {
			return g.yielded(c.hostname, s.Hostname)
		}
	}
	return a
}

// idleYields returns the hostnames that the caller yields on a parent, in vain.
func (r *run) idleYields(g *gateway) []string {
	var out []string
	for _, y := range r.snapshot.yields {
		if y.parent == (ObjectName{g.Namespace, g.Name}) && r.yieldsNothing(g, y.hostname) != "" {
			out = append(out, y.hostname)
		}
	}
	return out
}

// lintYields finds the yields of the caller that do nothing, and the claims that
// wait for the end of one.
func (r *run) lintYields() {
	for _, g := range r.parents {
		idle := r.idleYields(g)
		for hostname := range g.heldUp {
			if slices.Contains(idle, hostname) {
				continue
			}
			r.find(Warning, CodeYielded, &g.Meta, fmt.Sprintf("%s is asked for, and gets no listener until %s: it is yielded; --yield %s/%s:%s --yield-for 0 ends that",
				hostname, g.Yielded[hostname], g.Namespace, g.Name, hostname))
		}
	}
	for _, y := range r.snapshot.yields {
		m, why := &Meta{Kind: KindGateway, Namespace: y.parent.Namespace, Name: y.parent.Name}, "no Gateway or ListenerSet of that name was read; see whether it is there, and whether --namespaces leaves it out"
		for _, kind := range []string{KindListenerSet, KindGateway} {
			g := r.byName[parentName{kind, y.parent.Name}].in[y.parent.Namespace]
			if g == nil {
				continue
			}
			if m, why = &g.Meta, r.yieldsNothing(g, y.hostname); why == "" {
				break
			}
		}
		if why != "" {
			r.find(Warning, CodeNotYielded, m, NotYielded(y.hostname)+why)
		}
	}
}

// NotYielded begins the message of [CodeNotYielded], before what is the cause.
func NotYielded(hostname string) string { return "yielding " + hostname + " does nothing: " }

// yieldsNothing says why a yield does nothing, or "": our listener goes, or is
// not made.
func (r *run) yieldsNothing(g *gateway, hostname string) string {
	switch {
	case g.frozen != "":
		return g.frozen
	case g.optedOut:
		return fmt.Sprintf("%s is taken out by its annotation %s", g, AnnotationManage)
	case !g.policy.managed:
		return fmt.Sprintf("%s has no policy, so nothing of it is changed; give the --policy that the CronJob has", g)
	}
	does := slices.ContainsFunc(g.givenUp, func(s standing) bool { return s.Hostname == hostname })
	for s := range g.wanted {
		does = does || s.hostname == hostname
	}
	for i := range g.listeners {
		if l := &g.listeners[i]; l.Hostname == hostname && g.isOurs(l.Name) {
			if l.Action != Remove {
				return fmt.Sprintf("listener %s stays: %s", l.Name, l.Reason)
			}
			does = true
		}
	}
	if does {
		return ""
	}
	return r.noneToYield(g, hostname)
}

// noneToYield says which other listener is for a hostname that no listener of
// ours on the parent is for, as far as there is one.
func (r *run) noneToYield(g *gateway, hostname string) string {
	is := func(l SourceListener) bool { return l.Hostname == hostname }
	if i := slices.IndexFunc(g.hand, is); i >= 0 {
		if g.Rendered()[g.hand[i].Name] {
			return fmt.Sprintf("listener %s is the release's already", g.hand[i].Name)
		}
		return fmt.Sprintf("listener %s is hand-written, and not the sweep's to give up", g.hand[i].Name)
	}
	for _, other := range r.parents {
		if other != g && other.top() == g.top() && slices.ContainsFunc(other.ours, is) {
			return fmt.Sprintf("the sweep's listener for it is on %s; yield that", other)
		}
	}
	if i := slices.IndexFunc(g.ours, func(l SourceListener) bool { return l.Hostname != "" && Covers(l.Hostname, hostname) }); i >= 0 {
		return fmt.Sprintf("listener %s answers it; yield %s", g.ours[i].Name, g.ours[i].Hostname)
	}
	return fmt.Sprintf("%s has no listener of the sweep for it", g)
}
