package engine

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// metadataName is the label that Kubernetes itself puts on every namespace.
const metadataName = "kubernetes.io/metadata.name"

// bestAnswer accepts the claim by the most specific listener that accepts the
// route and covers the hostname, or part of it where that is enough, or says
// why none does.
func (r *run) bestAnswer(route *Route, g *gateway, c claim, listeners []SourceListener) answer {
	rank := func(l SourceListener) int {
		if isWildcard(c.hostname) && Covers(l.Hostname, c.hostname) {
			return 1 + 2*maxHostname + specificity(l.Hostname)
		}
		return specificity(l.Hostname)
	}
	slices.SortStableFunc(listeners, func(a, b SourceListener) int { return rank(b) - rank(a) })
	worst := answer{}
	for i := range listeners {
		a := r.attach(route, g, &listeners[i], c.hostname)
		if a.accepted {
			return a
		}
		a.about = listeners[i].Name
		if worst.reason == "" || severity(a.reason) > severity(worst.reason) {
			worst = a
		}
	}
	return worst
}

// severity orders the reasons of several listeners: the one that comes nearest
// to accepting the route tells its owner most.
func severity(reason string) int {
	return slices.Index([]string{reasonWrongKind, ReasonNoHostname, ReasonHostnameConflict, ReasonNotAllowed, reasonNamespaceUnknown}, reason)
}

// reasonWrongKind is NotAllowedByListeners of a listener that takes no routes
// of the kind at all.
const reasonWrongKind = ReasonNotAllowed + "Kind"

// reasonNamespaceUnknown is Pending of a listener of which the namespace of the
// release decides whether it admits the route.
const reasonNamespaceUnknown = ReasonPending + "Namespace"

// attach answers whether the listener accepts the route and answers every name
// that the hostname stands for. A wildcard of a TLSRoute is served where it
// meets the listener's hostname; that of another route must be served whole.
func (r *run) attach(route *Route, g *gateway, l *SourceListener, hostname string) answer {
	switch {
	case l.lost != "":
		return refuse(ReasonHostnameConflict, "%s", l.lost)
	case !admitsKind(l, route.Kind):
		return refuse(reasonWrongKind, "listener %s (%s) does not take %ss; %s", l.Name, l.Protocol, route.Kind, g.wayFor(route.Kind))
	case !intersects(l.Hostname, hostname):
		return refuse(ReasonNoHostname, "listener %s answers %s only; add the hostname to a listener, or remove sectionName and port from the parentRef", l.Name, l.Hostname)
	case !Covers(l.Hostname, hostname) && route.Kind != KindTLSRoute:
		return refuse(ReasonNoHostname, "listener %s answers only %s of %s; write a listener for the whole wildcard", l.Name, l.Hostname, hostname)
	}
	switch r.admitsNamespace(g, l, route.Namespace) {
	case no:
		return refuse(ReasonNotAllowed, "listener %s (%s) admits %s, and not %s; widen its allowedRoutes, or route from there", l.Name, orAny(l.Hostname), r.describeAdmitted(g, l), namespaceOf(&route.Meta))
	case unknown:
		if l.AllowedFrom == fromAttach && g.decidesByLabels(&route.Meta) {
			r.labelsUnknown(g, &route.Meta)
			break
		}
		return refuse(reasonNamespaceUnknown, "whether listener %s admits %s depends on a namespace that is not known; add --namespace", l.Name, namespaceOf(&route.Meta))
	}
	return accept(l.Name)
}

// wayFor says how a route comes to a listener that takes its kind.
func (g *gateway) wayFor(kind string) string {
	switch {
	case slices.ContainsFunc(g.standAndHand(), func(l SourceListener) bool { return admitsKind(&l, kind) }):
		return "name another listener in the parentRef"
	case kind != KindTLSRoute:
		return "remove sectionName and port from the parentRef to get a listener of its own"
	case g.policy.Certificates == Edge:
		return "certificates: Edge makes none that does, so choose another mode, or write a TLS listener by hand"
	}
	return "no listener there takes TLSRoutes, so add the hostname to passthrough in the policy, or write a listener by hand (protocol TLS, tls.mode Passthrough); a parentRef that names a listener must name that one"
}

func (r *run) describeAdmitted(g *gateway, l *SourceListener) string {
	switch l.AllowedFrom {
	case FromSelector:
		return "the namespaces of its selector"
	case fromAttach:
		return describeAttach(g)
	}
	return namespaceOf(&g.Meta)
}

// admitsKind says whether the listener takes routes of the kind: by its
// protocol, and by allowedRoutes.kinds where they are set.
func admitsKind(l *SourceListener, kind string) bool {
	fits := l.Protocol == "TLS"
	if kind != KindTLSRoute {
		fits = l.Protocol == "HTTP" || l.Protocol == "HTTPS"
	}
	return fits && (len(l.AllowedKinds) == 0 || slices.Contains(l.AllowedKinds, GroupKind{GatewayGroup, kind}))
}

func (r *run) admitsNamespace(g *gateway, l *SourceListener, namespace string) tri {
	switch l.AllowedFrom {
	case FromAll:
		return yes
	case FromSelector:
		return r.selectsByHand(l.AllowedSelector, namespace)
	case fromAttach:
		return r.attaches(g, &Meta{Namespace: namespace})
	case fromNames:
		return oneOfNamespaces(l.admits, namespace)
	}
	return sameNamespace(g.Namespace, namespace)
}

// selects evaluates a selector on a namespace. A render knows of most
// namespaces only their name.
func (r *run) selects(selector *metav1.LabelSelector, namespace string) tri {
	if selector == nil {
		return no
	}
	requirements, valid := r.requirements(selector)
	if !valid {
		return no
	}
	set := labels.Set{metadataName: namespace}
	known, found := r.labels[namespace]
	if found {
		for key, value := range known.Labels {
			set[key] = value
		}
	}
	answer := yes
	for _, requirement := range requirements {
		certain := found || r.snapshot.Complete || (requirement.Key() == metadataName && namespace != "")
		switch {
		case !certain:
			answer = unknown
		case !requirement.Matches(set):
			return no
		}
	}
	return answer
}

// selectsByHand evaluates a selector that a chart's author wrote: it is trusted
// where labels are unknown, but not where the namespace of the release decides.
func (r *run) selectsByHand(selector *metav1.LabelSelector, namespace string) tri {
	answer := r.selects(selector, namespace)
	if answer != unknown {
		return answer
	}
	requirements, _ := r.requirements(selector)
	byName := slices.ContainsFunc(requirements, func(requirement labels.Requirement) bool { return requirement.Key() == metadataName })
	if namespace == "" && (byName || len(r.labels) > 0) {
		return unknown
	}
	return yes
}

// requirements reads a selector, once: it is asked for every claim.
func (r *run) requirements(selector *metav1.LabelSelector) (requirements labels.Requirements, valid bool) {
	if known, found := r.selectors[selector]; found {
		return known, known != nil
	}
	if parsed, err := metav1.LabelSelectorAsSelector(selector); err == nil {
		requirements, _ = parsed.Requirements()
		requirements = append(labels.Requirements{}, requirements...) // not nil
	}
	r.selectors[selector] = requirements
	return requirements, requirements != nil
}
