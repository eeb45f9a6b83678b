package engine

import (
	"fmt"
	"strings"
)

// lint looks over the finished plan for what the API server accepts and nobody
// wants. Each check adds findings and changes nothing.
func (r *run) lint() {
	for _, g := range r.parents {
		if g.policy.managed {
			r.lintPassthrough(g)
		}
	}
}

// lintPassthrough warns of a passthrough listener below the wildcard of a
// terminate listener of its port: some implementations refuse the pair.
func (r *run) lintPassthrough(g *gateway) {
	for _, s := range g.standing {
		if s.Mode != "Terminate" {
			continue
		}
		if below := g.narrower(s.Port, s.Hostname); len(below) > 0 {
			r.find(Warning, CodePassthroughBelow, &g.Meta, fmt.Sprintf("listener %s (%s) ends TLS on port %d above passthrough listener %s, which some implementations refuse; give the passthrough another port",
				s.Name, s.Hostname, s.Port, strings.Join(below, ", ")))
		}
	}
}
