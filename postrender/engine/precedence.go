package engine

import "fmt"

// ports says who answers which hostnames on the ports of a Gateway and its
// ListenerSets. The first keeps its place: the Gateway, then the oldest set.
// A port carries one class of protocols, and each hostname of it once.
type ports map[int]*usedPort

type usedPort struct {
	class     string
	first     occupant
	hostnames map[string]occupant
}

// occupant is a listener, or a parent that has a computed one, and the parent.
type occupant struct{ what, parent string }

// class is what the listeners of a port have in common.
func class(protocol string) string {
	if isTLS(protocol) {
		return "TLS"
	}
	return protocol
}

func (p ports) take(port int, protocol, hostname string, by occupant) {
	if protocol == "UDP" {
		return // which shares no port with the others: they are TCP
	}
	used := p.open(port, protocol, by)
	if _, taken := used.hostnames[hostname]; !taken && used.class == class(protocol) {
		used.hostnames[hostname] = by
	}
}

// open notes that a port carries a class of protocols.
func (p ports) open(port int, protocol string, by occupant) *usedPort {
	used := p[port]
	if used == nil {
		used = &usedPort{class(protocol), by, map[string]occupant{}}
		p[port] = used
	}
	return used
}

// conflict returns who stands in the way of a listener, or the zero occupant,
// and how.
func (p ports) conflict(port int, protocol, hostname string) (by occupant, how string) {
	used := p[port]
	switch {
	case used == nil, protocol == "UDP":
		return occupant{}, ""
	case used.class != class(protocol):
		return used.first, fmt.Sprintf("uses port %d for %s", port, used.class)
	}
	return used.hostnames[hostname], fmt.Sprintf("answers %s on port %d", orAny(hostname), port)
}

// occupy notes the places of the listeners that stand whatever is claimed, and
// marks the hand-written ones of a ListenerSet that come too late for theirs.
func (r *run) occupy(g *gateway) {
	if g.host == nil {
		for _, l := range g.standAndHand() {
			g.ports.take(l.Port, l.Protocol, l.Hostname, g.occupant(l.Name))
		}
		if r.snapshot.Complete && len(r.snapshot.ListenerSets) > 0 {
			for _, l := range g.ours {
				g.live.take(l.Port, l.Protocol, l.Hostname, g.occupant(l.Name))
			}
		}
		return
	}
	if g.barred != "" {
		return
	}
	if r.snapshot.Complete {
		for _, l := range g.ours {
			g.host.ofSets.take(l.Port, l.Protocol, l.Hostname, g.occupant(l.Name))
		}
	}
	for i := range g.hand {
		l := &g.hand[i]
		for _, before := range []ports{g.host.ports, g.host.live} {
			if by, how := before.conflict(l.Port, l.Protocol, l.Hostname); by.what != "" && l.lost == "" {
				l.lost = fmt.Sprintf("%s %s before listener %s; name %s in the parentRef", by.what, how, l.Name, by.parent)
			}
		}
		if l.lost == "" && !r.outsideHostFence(g, l) {
			g.host.ports.take(l.Port, l.Protocol, l.Hostname, g.occupant(l.Name))
		}
	}
}

// outsideHostFence says whether a listener of a ListenerSet of another namespace
// answers what the fence of the Gateway keeps from that namespace. It keeps nobody
// else from the hostname.
func (r *run) outsideHostFence(g *gateway, l *SourceListener) bool {
	host := g.host
	if !r.snapshot.Complete || !host.policy.managed || host.Namespace == g.Namespace {
		return false
	}
	_, refused := r.refusedByNamespaceFence(host, claim{object: &g.Meta, hostname: l.Hostname})
	return refused || host.policy.outsideFence(l.Hostname) != ""
}

func (g *gateway) occupant(listener string) occupant {
	return occupant{"listener " + listener + " of " + g.String(), g.String()}
}

// filledElsewhere refuses a slot that another parent fills: the Gateway of a
// ListenerSet or an older set of it, or, for a Gateway, a hand-written listener
// of a set, or one of ours that lives there, which would lose its hostname to a
// new one.
func (g *gateway) filledElsewhere(s slot) (answer, bool) {
	by, how := g.top().ports.conflict(s.port, "HTTPS", s.hostname)
	if by.what == "" && g.host == nil && !g.isOurs(ListenerName(s.hostname, s.port)) {
		by, how = g.ofSets.conflict(s.port, "HTTPS", s.hostname)
	}
	if by.what == "" || by.parent == g.String() {
		return answer{}, false
	}
	return refuse(ReasonHostnameConflict, "%s %s already; name %s in the parentRef", by.what, how, by.parent), true
}

// top is the parent on whose ports the listeners of this one stand.
func (g *gateway) top() *gateway {
	if g.host != nil {
		return g.host
	}
	return g
}

// fill notes that a slot is taken, for the ListenerSets that come later.
func (r *run) fill(g *gateway, s slot) {
	top := g.top()
	if len(r.snapshot.ListenerSets) > 0 {
		top.ports.take(s.port, "HTTPS", s.hostname, occupant{g.String(), g.String()})
	} else if top.ports[s.port] == nil {
		top.ports.open(s.port, "HTTPS", occupant{g.String(), g.String()})
	}
}

// vacate takes back that a slot is taken.
func (g *gateway) vacate(l Listener) {
	if used := g.top().ports[l.Port]; used != nil && used.hostnames[l.Hostname] == (occupant{g.String(), g.String()}) {
		delete(used.hostnames, l.Hostname)
	}
}

// replaced says whether another listener takes the place of one of ours, so
// that it goes whoever uses it: one that a limit does not keep out.
func (g *gateway) replaced(old SourceListener, keptOut map[string]bool) bool {
	by, _ := g.top().ports.conflict(old.Port, old.Protocol, old.Hostname)
	for name := range keptOut {
		if by == g.occupant(name) {
			return false
		}
	}
	return by.what != "" || (old.Protocol == "HTTPS" && g.displacedBy(old.Port, old.Hostname) != nil)
}
