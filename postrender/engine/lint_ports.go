package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// portUse holds the first listener of each protocol on one port.
type portUse struct {
	http, https, terminate, passthrough, tcp *endpoint
	// above holds the listeners that end TLS, by hostname; below those that pass
	// it through.
	above map[string]*endpoint
	below []*endpoint
}

// lintPorts looks at each port of a site.
func (r *linter) lintPorts(s *site) {
	ports := map[int]*portUse{}
	for _, e := range s.endpoints {
		if ports[e.port] == nil {
			ports[e.port] = &portUse{above: map[string]*endpoint{}}
		}
		ports[e.port].add(e)
	}
	for port, p := range ports {
		r.lintProtocols(s, port, p)
		r.lintPassthrough(s, port, p)
	}
}

func (p *portUse) add(e *endpoint) {
	switch {
	case e.protocol == "HTTP":
		p.http = cmp.Or(p.http, e)
	case e.protocol == "TCP":
		p.tcp = cmp.Or(p.tcp, e)
	case e.protocol == "TLS" && e.mode == "Passthrough":
		p.passthrough = cmp.Or(p.passthrough, e)
		p.below = append(p.below, e)
	case e.protocol == "HTTPS":
		p.https = cmp.Or(p.https, e)
		p.above[e.hostname] = cmp.Or(p.above[e.hostname], e)
	case e.protocol == "TLS":
		p.terminate = cmp.Or(p.terminate, e)
		p.above[e.hostname] = cmp.Or(p.above[e.hostname], e)
	}
}

// lintProtocols warns of a port whose listeners speak protocols that cannot be
// told apart. Mixing TCP in is forbidden; the rest is left to implementations.
func (r *linter) lintProtocols(s *site, port int, p *portUse) {
	tls := cmp.Or(p.https, p.terminate, p.passthrough)
	if other := cmp.Or(tls, p.http); p.tcp != nil && other != nil {
		r.find(Critical, CodePortConflict, &s.g.Meta, fmt.Sprintf("port %d carries TCP (%s) and %s (%s), so they are not accepted together; give them different ports",
			port, p.tcp.in(s.g), other.protocol, other.in(s.g)))
	}
	if p.http != nil && tls != nil {
		r.find(Warning, CodePortConflict, &s.g.Meta, fmt.Sprintf("port %d carries HTTP (%s) and %s (%s), which most implementations refuse; give them different ports",
			port, p.http.in(s.g), tls.protocol, tls.in(s.g)))
	}
}

// lintPassthrough warns of a port that ends TLS for some names and passes it
// through for others, above all where the first hold the second.
func (r *linter) lintPassthrough(s *site, port int, p *portUse) {
	wider := p.wider()
	for e, below := range wider {
		r.find(Warning, CodePassthroughBelow, &s.g.Meta, fmt.Sprintf("%s (%s) ends TLS on port %d above passthrough listener %s, which some implementations refuse; give the passthrough another port",
			e.in(s.g), orAny(e.hostname), port, listed(below)))
	}
	same := slices.ContainsFunc(p.below, func(e *endpoint) bool { return p.above[e.hostname] != nil }) // lintSameHostname says so
	if ends := cmp.Or(p.https, p.terminate); ends != nil && p.passthrough != nil && len(wider) == 0 && !same {
		r.find(Warning, CodeMixedTLS, &s.g.Meta, fmt.Sprintf("port %d ends TLS (%s) and passes it through (%s), which not every implementation serves; if yours refuses it, give the passthrough another port",
			port, ends.in(s.g), p.passthrough.in(s.g)))
	}
}

// wider returns the listeners that end TLS for a set of names which holds that
// of passthrough listeners, each with the names of those that it is next to.
func (p *portUse) wider() map[*endpoint][]string {
	out := map[*endpoint][]string{}
	for _, below := range p.below {
		for pattern := range patternsAbove(below.hostname) {
			if e := p.above[pattern]; e != nil {
				out[e] = append(out[e], below.name)
				break
			}
		}
	}
	return out
}

// lintSameHostname finds listeners that answer the very same hostname on a
// port. Within one object the API server refuses some of them; HTTPS beside
// TLS, and those of a ListenerSet, get past it.
func (r *linter) lintSameHostname(s *site) {
	type flow struct {
		port            int
		class, hostname string
	}
	first := map[flow]*endpoint{}
	for _, e := range s.endpoints {
		class := e.protocol
		switch class {
		case "HTTPS":
			class = "TLS"
		case "HTTP", "TLS", "TCP", "UDP":
		default:
			continue // what tells listeners of another protocol apart is not known
		}
		key := flow{e.port, class, e.hostname}
		other := first[key]
		if other == nil {
			first[key] = e
			continue
		}
		r.find(Critical, CodeSameHostname, &e.g.Meta, fmt.Sprintf("%s (%s) answers %s on port %d, as %s (%s) does, so only one of them is accepted, or none; remove one",
			e.in(e.g), e.protocol, orAny(e.hostname), e.port, other.in(e.g), other.protocol))
	}
}

// serverFirst names the protocols, by their well-known ports, in which the
// server speaks first.
var serverFirst = map[int]string{
	21: "FTP", 22: "SSH", 25: "SMTP", 110: "POP3", 119: "NNTP", 143: "IMAP", 587: "SMTP", 2525: "SMTP", 3306: "MySQL", 4190: "ManageSieve", 5900: "VNC",
}

// lintServerSpeaksFirst warns of a TLS listener that waits for a hostname while
// the client waits for the server's greeting.
func (r *linter) lintServerSpeaksFirst(e *endpoint) {
	if protocol := serverFirst[e.port]; protocol != "" && e.protocol == "TLS" {
		r.find(Warning, CodeServerSpeaksFirst, &e.g.Meta, fmt.Sprintf("listener %s waits for a TLS hostname on port %d, where %s clients wait for the server to speak first, so both wait for ever; use a TCP listener, or the port of the protocol over TLS",
			e.name, e.port, protocol))
	}
}

// lintOpenedPorts warns of ports that only the annotation of a Certificate asks
// for: a controller that is set up for the others may not listen there.
func (r *linter) lintOpenedPorts(g *gateway) {
	if len(g.hand) == 0 {
		return
	}
	used := map[int]bool{g.httpsPort: true}
	for _, l := range g.hand {
		used[l.Port] = true
	}
	for _, e := range r.endpoints[g] {
		if e.ours == nil || len(e.ours.claims) == 0 || used[e.port] {
			continue
		}
		used[e.port] = true
		r.find(Warning, CodePortOpened, &g.Meta, fmt.Sprintf("listener %s opens port %d, which %s asks for and no hand-written listener uses; make sure that the controller and its Service serve the port",
			e.name, e.port, e.ours.claimants()))
	}
}
