package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// claim is one hostname that one object asks one Gateway to serve.
type claim struct {
	object *Meta
	parent Parent
	// hostname is normalised, or as it was written where it cannot be.
	hostname string
	// certificate is the claiming Certificate; nil for the claim of a route.
	certificate *Certificate
}

// answer is what becomes of a claim: the fields of its verdict.
type answer struct {
	accepted bool
	reason   string
	message  string
	listener string
	about    string // the listener that a refusal speaks of
}

func accept(listener string) answer {
	return answer{accepted: true, reason: ReasonAccepted, listener: listener}
}

func refuse(reason, format string, args ...any) answer {
	return answer{reason: reason, message: fmt.Sprintf(format, args...)}
}

func (r *run) verdict(c claim, a answer) {
	switch a.reason {
	case reasonWrongKind:
		a.reason = ReasonNotAllowed
	case reasonNamespaceUnknown:
		a.reason = ReasonPending
		r.find(Warning, CodeNamespaceUnknown, c.object, a.message)
	}
	r.verdicts = append(r.verdicts, Verdict{
		Kind: c.object.Kind, Namespace: c.object.Namespace, Name: c.object.Name, Parent: c.parent, Hostname: c.hostname,
		Accepted: a.accepted, Reason: a.reason, Message: a.message, Listener: a.listener, Source: c.object.Source,
	})
}

// claimRoutes collects the claims of routes: each route, each parent, each
// hostname. They come from spec, never from status: a route without a listener
// is not accepted yet.
func (r *run) claimRoutes() {
	for _, route := range r.snapshot.Routes {
		if route.Known || isSolver(route) {
			continue
		}
		if route.ours() {
			keepFirst(r.ourRoutes, &route.Meta, route, func(route *Route) map[string]any { return route.Object })
			continue
		}
		if isHashed(route.Name, "-redirect") {
			r.foreignRoutes[ObjectName{route.Namespace, route.Name}] = true
		}
		for _, ref := range distinctParents(route) {
			r.claimParent(route, ref)
		}
	}
}

// ours says whether the route is a redirect of ours: by its mark and its name,
// since labels are copied about.
func (r *Route) ours() bool { return isHashed(r.Name, "-redirect") && r.Labels[LabelFor] != "" }

// isSolver recognises cert-manager's own HTTP-01 challenge routes. A claim for
// one would order a certificate whose challenge is again such a route.
func isSolver(route *Route) bool {
	return route.Labels["acme.cert-manager.io/http01-solver"] == "true"
}

// distinctParents fills in the route's namespace and drops repeated parents.
func distinctParents(route *Route) []ParentRef {
	var out []ParentRef
	for _, ref := range route.Parents {
		if ref.Group != GatewayGroup || (ref.Kind != KindGateway && ref.Kind != KindListenerSet) {
			continue
		}
		ref.Namespace = cmp.Or(ref.Namespace, route.Namespace)
		if !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// attachment is a route that names a Gateway, and how.
type attachment struct {
	route *Route
	ref   ParentRef
}

func (r *run) claimParent(route *Route, ref ParentRef) {
	parent := Parent{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, SectionName: ref.SectionName, Port: ref.Port}
	g, err := r.findParent(&route.Meta, ref.Kind, ObjectName{ref.Namespace, ref.Name})
	switch {
	case err != nil && claimsNothing(route): // which Gateway it means changes nothing
		r.answerNames(&route.Meta, parent, route.Hostnames, optedOutObject())
	case err != nil:
		r.errs = append(r.errs, err)
	case g == nil:
		r.gatewayElsewhere(route, parent)
	case g.frozen != "":
		r.answerNames(&route.Meta, parent, route.Hostnames, refuse(ReasonPending, "%s", g.frozen))
	case g.optedOut:
		r.gatewayOptedOut(g, &route.Meta, parent, route.Hostnames)
	default:
		g.claimed = true
		if g.host != nil {
			g.host.claimed = true
		}
		g.attached = append(g.attached, attachment{route, ref})
		if !g.policy.managed {
			r.answerNames(&route.Meta, parent, route.Hostnames, withoutPolicy(g))
			return
		}
		r.claimHostnames(route, g, parent, ref)
	}
}

// claimsNothing says whether a route adds nothing to any Gateway.
func claimsNothing(route *Route) bool {
	if len(route.Hostnames) == 0 && route.RedirectsToHTTPS {
		return false // it takes the place of our redirect
	}
	return route.Annotations[AnnotationManage] == "false" || (len(route.Hostnames) == 0 && route.Kind != KindTLSRoute)
}

func (r *run) claimHostnames(route *Route, g *gateway, parent Parent, ref ParentRef) {
	for _, raw := range route.Hostnames {
		if hostname, err := NormalizeHostname(raw); err == nil && raw != hostname {
			r.find(Warning, CodeHostnameSpelling, &route.Meta, fmt.Sprintf("the API server refuses %q in spec.hostnames; write %s", raw, hostname))
		}
	}
	switch {
	case g.barred != "":
		r.answerNames(&route.Meta, parent, route.Hostnames, refuse(ReasonNotAllowed, "%s", g.barred))
		return
	case route.Kind == KindTLSRoute:
		r.answerTLSRoute(route, g, parent, ref)
		return
	}
	r.noHostnames(route, g, ref)
	for _, raw := range route.Hostnames {
		hostname, err := NormalizeHostname(raw)
		c := claim{object: &route.Meta, parent: parent, hostname: hostname}
		if err != nil {
			c.hostname = raw
			r.verdict(c, refuse(ReasonUnsupported, "%q %v; correct spec.hostnames", raw, err))
			continue
		}
		r.answerRoute(route, g, c)
	}
}

func normalOr(raw string) string {
	if hostname, err := NormalizeHostname(raw); err == nil {
		return hostname
	}
	return raw
}

// findParent returns the parent of the snapshot, nil if it holds none of that
// name, or an error if the namespace of the release decides.
func (r *run) findParent(object *Meta, kind string, name ObjectName) (*gateway, error) {
	named := r.byName[parentName{kind, name.Name}]
	if g := named.in[name.Namespace]; g != nil {
		return g, nil
	}
	undecided := named.in[""] // which may be that of the release
	if name.Namespace == "" {
		undecided = named.last
	}
	if undecided == nil || !undecided.policy.managed {
		return undecided, nil // an opted-out one takes nothing, whoever is meant
	}
	return nil, r.needNamespace(object, fmt.Sprintf("whether it means %s depends on the namespace of the release", undecided))
}

// noHostnames says what a route without hostnames gets: it asks for none, and
// serves whatever the listeners that it attaches to accept.
func (r *run) noHostnames(route *Route, g *gateway, ref ParentRef) {
	if len(route.Hostnames) > 0 || ref.SectionName != "" || ref.Port != 0 || route.RedirectsToHTTPS {
		return
	}
	r.find(Warning, CodeNoHostnames, &route.Meta, fmt.Sprintf("the route asks %s for no hostname, so it gets no listener of its own; name its hostnames in spec.hostnames", g))
}
