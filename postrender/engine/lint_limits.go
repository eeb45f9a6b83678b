package engine

import "fmt"

// apiListeners is how many listeners the API server takes on one object.
const apiListeners = 64

// lintLimit warns of a parent with an eighth of its places left, and of one
// that is past its limit already.
func (r *linter) lintLimit(g *gateway) {
	count, limit := len(r.endpoints[g]), g.policy.MaxListeners
	cure := g.roomier()
	switch {
	case count > apiListeners:
		r.find(Critical, CodePastLimit, &g.Meta, fmt.Sprintf("it has %d listeners, and the API server takes %d and refuses the whole %s; %s", count, apiListeners, g.Kind, cure))
	case count > limit:
		r.find(Warning, CodePastLimit, &g.Meta, fmt.Sprintf("it has %d listeners, and %d is the limit of its policy; %s", count, limit, cure))
	case count*8 >= limit*7:
		r.find(Warning, CodeNearLimit, &g.Meta, fmt.Sprintf("it has %d of the %d listeners that it may have; in time, %s", count, limit, cure))
	}
}

// roomier says how a parent does with fewer listeners.
func (g *gateway) roomier() string {
	const more = "spread the hostnames over more Gateways or ListenerSets"
	if isApexMode(g.policy.Certificates) {
		return more
	}
	return more + ", or serve some by a wildcard listener (certificates: Wildcard, or one written by hand)"
}
