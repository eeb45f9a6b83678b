package engine

import (
	"cmp"
	"maps"
	"slices"
)

// resolveHTTPSPort decides on which port terminate listeners stand: that of the
// policy, or, for Auto, the one on which those of ours stand that claims leave to
// it, or that of [gateway.unusedPort]. What is live never moves because somebody
// writes a listener beside it.
func (r *run) resolveHTTPSPort(g *gateway) {
	if g.policy.HTTPSPort != 0 {
		g.httpsPort = int(g.policy.HTTPSPort)
		g.autoPort = g.httpsPort
		return
	}
	g.autoPort = g.unusedPort()
	g.httpsPort = g.autoPort
	if !r.snapshot.Complete || !slices.ContainsFunc(g.ours, func(l SourceListener) bool { return l.Protocol == "HTTPS" && l.Port != g.autoPort }) {
		return
	}
	counts := map[int]int{}
	asked := r.askedHostnames(g)
	for i := range g.ours {
		if l := &g.ours[i]; l.Protocol == "HTTPS" && asked.leavesPort(l) && g.Yielded[l.Hostname] == "" {
			counts[l.Port]++
		}
	}
	if len(counts) == 0 {
		return
	}
	onHand := slices.ContainsFunc(g.hand, func(l SourceListener) bool { return endsTLS(&l) && l.Port == g.autoPort })
	goesFirst := func(port int) bool { return onHand && port == g.autoPort } // so that a move that has begun ends there
	g.httpsPort = slices.MinFunc(slices.Collect(maps.Keys(counts)), func(a, b int) int {
		switch {
		case counts[a] != counts[b]:
			return cmp.Compare(counts[b], counts[a])
		case goesFirst(a):
			return -1
		case goesFirst(b):
			return 1
		}
		return cmp.Compare(a, b)
	})
}

// unusedPort is that of a parent without live listeners of ours: the one port of
// the hand-written HTTPS and TLS listeners that end TLS, or 443. A controller
// that listens on 8443 behind a Service (Traefik) accepts no listener on 443.
func (g *gateway) unusedPort() int {
	port := 0
	for _, l := range g.hand {
		if !endsTLS(&l) || l.Port == port {
			continue // a port for connections that are handed through tells nothing
		}
		if port != 0 {
			return 443
		}
		port = l.Port
	}
	if port == 0 && g.host != nil {
		return g.host.httpsPort
	}
	return cmp.Or(port, 443)
}

func endsTLS(l *SourceListener) bool { return isTLS(l.Protocol) && l.TLSMode != "Passthrough" }

// asking is an object that claims hostnames of a parent: a route, by one of its
// parentRefs, or a Certificate.
type asking struct {
	object      *Meta
	ref         ParentRef
	hostnames   []string
	certificate *Certificate
}

type parentKey struct {
	kind string
	name ObjectName
}

// asksOf returns what claims terminate listeners of a parent. It is known before
// the claims are decided.
func (r *run) asksOf(g *Gateway) []asking {
	if r.asks == nil {
		r.asks = map[parentKey][]asking{}
		for _, route := range r.snapshot.Routes {
			if route.Known || route.Kind == KindTLSRoute || isSolver(route) || route.ours() {
				continue
			}
			for _, ref := range distinctParents(route) {
				key := parentKey{ref.Kind, ObjectName{ref.Namespace, ref.Name}}
				r.asks[key] = append(r.asks[key], asking{&route.Meta, ref, route.Hostnames, nil})
			}
		}
		for _, c := range r.by.annotated {
			if target, claims := c.claims(); claims {
				key := parentKey{KindGateway, target}
				r.asks[key] = append(r.asks[key], asking{&c.Meta, ParentRef{}, c.DNSNames, c})
			}
		}
	}
	return r.asks[parentKey{g.Kind, ObjectName{g.Namespace, g.Name}}]
}

// askedPorts are the hostnames that are asked of a parent: on whatever port is
// that of the policy, or on a port of their own.
type askedPorts struct {
	auto  map[string][]asking
	exact map[slot]bool
}

func (r *run) askedHostnames(g *gateway) askedPorts {
	out := askedPorts{map[string][]asking{}, map[slot]bool{}}
	if !g.policy.managed || g.barred != "" {
		return out
	}
	for _, a := range r.asksOf(g.Gateway) {
		for _, raw := range a.hostnames {
			hostname := normalOr(raw)
			c := claim{object: a.object, hostname: hostname, certificate: a.certificate}
			if _, refused := r.refusedByPolicy(g, c); refused || (a.certificate == nil && isWildcard(hostname) && !slices.Contains(g.policy.Wildcards, hostname)) {
				continue
			}
			if a.certificate != nil && portAnnotation(a.certificate) != "" {
				if port, err := r.certificatePort(a.certificate, g); err == nil {
					out.exact[slot{port, hostname}] = true
				}
				continue
			}
			out.auto[hostname] = append(out.auto[hostname], a)
		}
	}
	for _, hostname := range g.apexHostnames() {
		out.auto[hostname] = append(out.auto[hostname], asking{})
	}
	return out
}

// leavesPort says whether a live listener stands where it does because the port
// was left to the policy, and not because somebody moved it: its name says where
// it was put.
func (p askedPorts) leavesPort(l *SourceListener) bool {
	return l.Name == ListenerName(l.Hostname, l.Port) && !p.exact[slot{l.Port, l.Hostname}] && slices.ContainsFunc(p.auto[l.Hostname], func(a asking) bool {
		c := claim{parent: Parent{SectionName: a.ref.SectionName, Port: a.ref.Port}}
		return c.selects(l.Name, l.Port)
	})
}
