package engine

import (
	"fmt"
	"slices"
)

// passthroughListeners returns a TLS listener for each entry of the policy. An
// entry that cannot be served is a refused verdict, and costs only itself.
func (r *run) passthroughListeners(g *gateway) []standing {
	if len(g.policy.Passthrough) == 0 {
		return nil
	}
	if g.policy.Certificates == Edge {
		r.find(Warning, CodePassthroughIgnored, &g.Meta, "certificates: Edge serves no TLS, so the entries of passthrough are not rendered; remove them, or choose another mode")
		return nil
	}
	var out []standing
	for _, entry := range g.policy.Passthrough {
		hostname := normalOr(entry.Hostname)
		c := claim{object: &g.Meta, parent: Parent{Kind: g.Kind, Namespace: g.Namespace, Name: g.Name}, hostname: hostname}
		l := Listener{Name: "tls-" + entry.Name, Hostname: hostname, Port: entry.Port, Protocol: "TLS", Mode: "Passthrough"}
		switch problem := g.passthroughProblem(entry, l, out); {
		case problem != "":
			r.verdict(c, refuse(ReasonUnsupported, "passthrough entry %q: %s", entry.Name, problem))
		case g.passedByHand(l):
			r.verdict(c, accept(g.handAnswering(l).Name))
		case g.Yielded[hostname] != "": // and still displaces what it would
			r.verdict(c, g.yielded(hostname, hostname))
			out = append(out, standing{Listener: l, attach: entry.From == "Attach"})
		default:
			r.verdict(c, accept(l.Name))
			out = append(out, standing{Listener: l, attach: entry.From == "Attach"})
		}
	}
	return out
}

// passthroughProblem says what is wrong with an entry, or "". The entries that
// stand before it are rendered already.
func (g *gateway) passthroughProblem(entry Passthrough, l Listener, before []standing) string {
	_, err := NormalizeHostname(entry.Hostname)
	switch {
	case checkLabels(entry.Name) != nil || len(l.Name) > maxName:
		return "its name is not a lower-case DNS name of at most 59 characters"
	case !validPort(entry.Port):
		return fmt.Sprintf("port %d is not 1 to 65535", entry.Port)
	case err != nil:
		return fmt.Sprintf("hostname %q %v", entry.Hostname, err)
	case entry.From != "" && entry.From != FromSame && entry.From != "Attach":
		return fmt.Sprintf("from is %q; use Same or Attach", entry.From)
	}
	if outside := g.policy.outsideFence(l.Hostname); outside != "" {
		return outside
	}
	if problem := g.takesApex(l); problem != "" {
		return problem
	}
	for _, other := range before {
		switch {
		case other.Name == l.Name:
			return "another entry has its name"
		case other.Port == l.Port && other.Hostname == l.Hostname:
			return fmt.Sprintf("entry %s has its port and hostname", other.Name[len("tls-"):])
		case g.policy.Withdraw == "Served" && intersects(other.Hostname, l.Hostname):
			return fmt.Sprintf("its hostname overlaps that of entry %s (%s), and under withdraw: Served ports do not tell them apart", other.Name[len("tls-"):], other.Hostname)
		}
	}
	return g.passthroughClash(l)
}

// takesApex refuses an entry that would take every name of the apex at once.
func (g *gateway) takesApex(l Listener) string {
	everywhere := g.policy.Withdraw == "Served" || l.Port == g.httpsPort
	if apex := g.policy.Apex; apex != "" && everywhere && (l.Hostname == apex || l.Hostname == "*."+apex) {
		return fmt.Sprintf("%s would take the names of the whole apex; name the hostnames that it is for", l.Hostname)
	}
	return ""
}

// passthroughClash refuses a listener that the API server or the data plane
// would reject beside the others of its port.
func (g *gateway) passthroughClash(l Listener) string {
	if http := g.policy.HTTP; l.Port == http.Port && g.plainOn() {
		return fmt.Sprintf("port %d is that of the plain listener", l.Port)
	}
	for _, hand := range g.hand {
		switch {
		case hand.Name == l.Name && !(hand.Port == l.Port && hand.Hostname == l.Hostname && hand.Protocol == "TLS"):
			return fmt.Sprintf("listener %s is hand-written and something else; rename the entry", hand.Name)
		case hand.Port != l.Port || hand.Protocol == "UDP":
		case !isTLS(hand.Protocol):
			return fmt.Sprintf("port %d carries listener %s (%s)", l.Port, hand.Name, hand.Protocol)
		case hand.Hostname == l.Hostname && (hand.Protocol != "TLS" || hand.TLSMode != "Passthrough"):
			return fmt.Sprintf("listener %s (%s) answers its hostname on port %d", hand.Name, hand.Protocol, l.Port)
		}
	}
	return ""
}

// plainOn says whether the plain listener may stand on its port.
func (g *gateway) plainOn() bool {
	http := g.policy.HTTP
	return http.Listener == On || (http.Listener == Auto && (len(g.hand) == 0 || g.keepsPlain))
}

// handAnswering returns the hand-written passthrough listener that does what a
// computed one would, or nil.
func (g *gateway) handAnswering(l Listener) *SourceListener {
	for i := range g.hand {
		if hand := &g.hand[i]; hand.Protocol == "TLS" && hand.TLSMode == "Passthrough" && hand.Port == l.Port && hand.Hostname == l.Hostname {
			return hand
		}
	}
	return nil
}

func (g *gateway) passedByHand(l Listener) bool { return g.handAnswering(l) != nil }

// displacedBy returns the passthrough listener that takes a terminate
// listener's hostname on its own port under withdraw: SamePort: it equals or
// covers it. Declaring it is enough, no route need claim it. It is nil if there
// is none; under Served see withdrawnBy.
func (g *gateway) displacedBy(port int, hostname string) *standing {
	if g.policy.Withdraw == "Served" {
		return nil
	}
	for i := range g.passthrough {
		if s := &g.passthrough[i]; s.Port == port && Covers(s.Hostname, hostname) {
			return s
		}
	}
	return nil
}

// displaces says whether a terminate listener that goes makes way for a
// passthrough listener. Where a limit kept that out, neither would serve the
// hostname.
func (l *Listener) displaces(gone []Listener) bool {
	return l.Mode == "Passthrough" && slices.ContainsFunc(gone, func(old Listener) bool {
		return old.Action == Remove && old.Protocol == "HTTPS" && Covers(l.Hostname, old.Hostname)
	})
}
