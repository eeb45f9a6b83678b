package engine

import (
	"fmt"
	"slices"
)

// keptBy says why a listener of ours that no claim asks for is not removable,
// or "": a route pins it by name, or a route's wildcard, or the hostname of a
// route that opted out, or a route that serves whatever its listeners answer,
// would lose service. Only a complete snapshot shows who uses a listener; a
// release's own is simply rendered again.
func (r *run) keptBy(g *gateway, old SourceListener, remaining []Listener) string {
	if !r.snapshot.Complete || g.replaced(old, nil) || g.Yielded[old.Hostname] != "" {
		return ""
	}
	if reason := r.servesUntilReady(g, old, remaining); reason != "" {
		return reason
	}
	if len(g.attached) == 0 {
		return ""
	}
	others := r.others(g, old.Name, remaining)
	first := "" // of several reasons, whatever the order of the routes
	for _, a := range g.attached {
		if reason := r.keptByRoute(g, a, old, others); reason != "" && (first == "" || reason < first) {
			first = reason
		}
	}
	return first
}

func (r *run) keptByRoute(g *gateway, a attachment, old SourceListener, others []SourceListener) string {
	switch {
	case a.ref.SectionName == old.Name && admitsKind(&old, a.route.Kind) && r.admitsNamespace(g, &old, a.route.Namespace) != no:
		return fmt.Sprintf("%s pins it by name", &a.route.Meta)
	case a.ref.SectionName != "" || (a.ref.Port != 0 && a.ref.Port != old.Port):
		return ""
	}
	if old.Protocol == "HTTPS" && a.route.servesAny() && r.onlyBy(g, a.route, old, old.Hostname, others) {
		return fmt.Sprintf("%s names no hostname, so it would lose %s", &a.route.Meta, old.Hostname)
	}
	for _, raw := range a.route.Hostnames {
		if r.wouldLose(g, a.route, old, normalOr(raw), others) {
			return fmt.Sprintf("%s would lose %s", &a.route.Meta, old.Hostname)
		}
	}
	return ""
}

// servesAny says whether a route serves every hostname of the listeners that it
// attaches to. A redirect to https is for those that end no TLS, which the policy
// alone asks for.
func (r *Route) servesAny() bool { return len(r.Hostnames) == 0 && !r.RedirectsToHTTPS }

// others returns the listeners that stay, and serve, when one goes.
func (r *run) others(g *gateway, name string, remaining []Listener) []SourceListener {
	out := slices.DeleteFunc(g.standAndHand(), func(l SourceListener) bool { return l.Name == name || r.unservedOf(g, l.Name) != "" })
	if g.policy.HostnameOwnership == OneNamespace {
		return out
	}
	for _, l := range remaining {
		if len(l.claims) > 0 && r.unproven(g, &l) == "" {
			out = append(out, SourceListener{Name: l.Name, Hostname: l.Hostname, Port: l.Port, Protocol: l.Protocol, AllowedFrom: fromAttach})
		}
	}
	return out
}

// wouldLose says whether a route that does not claim the listener's hostname
// is served by it all the same, and by no other on the port: one whose wildcard
// is wider, or one that opted out and so claims nothing.
func (r *run) wouldLose(g *gateway, route *Route, old SourceListener, hostname string, others []SourceListener) bool {
	lost := old.Hostname
	switch {
	case g.policy.claimsNothing(&route.Meta) && Covers(old.Hostname, hostname):
		lost = hostname
	case !isWildcard(hostname) || hostname == old.Hostname || !Covers(hostname, old.Hostname):
		return false
	}
	return r.onlyBy(g, route, old, lost, others)
}

// onlyBy says whether a listener serves a hostname to a route, and no other on
// its port would.
func (r *run) onlyBy(g *gateway, route *Route, old SourceListener, lost string, others []SourceListener) bool {
	uses := func(l SourceListener) bool {
		return l.Port == old.Port && Covers(l.Hostname, lost) && admitsKind(&l, route.Kind) && r.admitsNamespace(g, &l, route.Namespace) != no
	}
	return uses(old) && !slices.ContainsFunc(others, uses)
}

// claimsNothing says whether an object opted out, or did not opt in where it
// must.
func (p *Policy) claimsNothing(object *Meta) bool {
	manage := object.Annotations[AnnotationManage]
	return manage == "false" || (p.Claims == ClaimsOptedIn && manage != "true")
}
