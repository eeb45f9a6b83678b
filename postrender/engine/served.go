package engine

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// metadataName is the label that Kubernetes itself puts on every namespace.
const metadataName = "kubernetes.io/metadata.name"

// answerWithoutClaim decides the claims of routes that need no listener of
// ours, or may not have one. done is false for a claim that is left.
//
//	the route                          the answer
//	names a section or port that is    by that listener alone
//	  not ours to make
//	is a TLSRoute                      by the hand-written TLS listeners
//	is served by a hand-written one    accepted, as far as cover reaches
//	meets one that only looks alike    refused: a second would be rejected
//	anything else                      left: a claim
func (r *run) answerWithoutClaim(route *Route, g *gateway, c claim) (a answer, done bool) {
	if c.pinned {
		if a, done := r.answerPinned(route, g, c); done {
			return a, true
		}
	}
	if route.Kind == KindTLSRoute {
		return r.answerTLSRoute(route, g, c), true
	}
	if listener, wider := r.servedBy(route, g, c); listener != nil {
		if wider {
			r.coveredByWider(g, c, listener)
		}
		return accept(listener.Name), true
	}
	return r.clash(g, slot{g.httpsPort, c.hostname}, c)
}

// answerPinned decides for a parentRef with sectionName or port. It is left to
// the claim where the listener that it names is the one that the claim makes.
func (r *run) answerPinned(route *Route, g *gateway, c claim) (answer, bool) {
	names := func(name string, port int) bool {
		return (c.parent.SectionName == "" || c.parent.SectionName == name) && (c.parent.Port == 0 || c.parent.Port == port)
	}
	if route.Kind != KindTLSRoute && names(ListenerName(c.hostname, g.httpsPort), g.httpsPort) {
		return answer{}, false
	}
	if route.Kind != KindTLSRoute && g.plain && names(PlainListenerName, g.policy.HTTP.Port) {
		return r.answerPlain(route, g), true
	}
	selected := slices.DeleteFunc(slices.Clone(g.hand), func(l SourceListener) bool { return !names(l.Name, l.Port) })
	if len(selected) == 0 {
		return refuse(ReasonNoMatchingParent, "%s has no listener %s, and a pinned route gets none; remove sectionName and port from the parentRef to get a listener of its own", g, pin(c.parent)), true
	}
	return r.bestAnswer(route, g, c, selected), true
}

// answerPlain decides for a route that asks for our plain listener.
func (r *run) answerPlain(route *Route, g *gateway) answer {
	if sameNamespace(route.Namespace, g.Namespace) == no && !slices.Contains(g.policy.ACMENamespaces, route.Namespace) {
		return refuse(ReasonNotAllowed, "listener %s admits plain HTTP from %s only; remove sectionName and port from the parentRef", PlainListenerName, namespaceOf(&g.Meta))
	}
	return accept(PlainListenerName)
}

func namespaceOf(m *Meta) string {
	if m.Namespace == "" {
		return "the namespace of the release"
	}
	return "namespace " + m.Namespace
}

func pin(p Parent) string {
	switch {
	case p.SectionName == "":
		return fmt.Sprintf("on port %d", p.Port)
	case p.Port == 0:
		return p.SectionName
	}
	return fmt.Sprintf("%s on port %d", p.SectionName, p.Port)
}

func (r *run) answerTLSRoute(route *Route, g *gateway, c claim) answer {
	listeners := slices.DeleteFunc(slices.Clone(g.hand), func(l SourceListener) bool { return l.Protocol != "TLS" })
	if len(listeners) == 0 {
		return refuse(ReasonNoHostname, "%s has no TLS listener for a TLSRoute; write one by hand (protocol TLS, tls.mode Passthrough)", g)
	}
	return r.bestAnswer(route, g, c, listeners)
}

// bestAnswer accepts the claim by the most specific listener that accepts the
// route and covers the hostname, or says why none does.
func (r *run) bestAnswer(route *Route, g *gateway, c claim, listeners []SourceListener) answer {
	slices.SortStableFunc(listeners, func(a, b SourceListener) int { return specificity(b.Hostname) - specificity(a.Hostname) })
	worst := answer{}
	for i := range listeners {
		l := &listeners[i]
		a := r.attach(route, g, l, c.hostname)
		if a.accepted {
			return a
		}
		if worst.reason == "" || a.reason == ReasonNotAllowed {
			worst = a
		}
	}
	return worst
}

// attach answers whether the listener accepts the route and answers every name
// that the hostname stands for.
func (r *run) attach(route *Route, g *gateway, l *SourceListener, hostname string) answer {
	switch {
	case !admitsKind(l, route.Kind):
		return refuse(ReasonNotAllowed, "listener %s (%s) does not take %ss; name another listener in the parentRef", l.Name, l.Protocol, route.Kind)
	case !intersects(l.Hostname, hostname):
		return refuse(ReasonNoHostname, "listener %s answers %s only; add the hostname to a listener, or remove sectionName and port from the parentRef", l.Name, l.Hostname)
	case !covers(l.Hostname, hostname):
		return refuse(ReasonNoHostname, "listener %s answers only %s of %s; write a listener for the whole wildcard", l.Name, l.Hostname, hostname)
	}
	switch r.admitsNamespace(g, l, route.Namespace) {
	case no:
		return refuse(ReasonNotAllowed, "listener %s does not admit routes from %s; widen its allowedRoutes.namespaces", l.Name, namespaceOf(&route.Meta))
	case unknown:
		return refuse(ReasonPending, "whether listener %s admits %s depends on a namespace that is not known; add --namespace", l.Name, namespaceOf(&route.Meta))
	}
	return accept(l.Name)
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
		if r.selects(l.AllowedSelector, namespace) == no {
			return no
		}
		return yes // what the chart's author wrote is trusted where labels are unknown
	}
	return sameNamespace(g.Namespace, namespace)
}

// selects evaluates a selector on a namespace. A render knows of most
// namespaces only their name.
func (r *run) selects(selector *metav1.LabelSelector, namespace string) tri {
	if selector == nil {
		return no
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return no
	}
	set := labels.Set{metadataName: namespace}
	known, found := r.labels[namespace]
	if found {
		for key, value := range known.Labels {
			set[key] = value
		}
	}
	requirements, _ := parsed.Requirements()
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

// servedBy returns the hand-written listener that would serve the claim, and
// whether it answers a wider set of names than cover lets count.
func (r *run) servedBy(route *Route, g *gateway, c claim) (served *SourceListener, wider bool) {
	for i := range g.hand {
		l := &g.hand[i]
		if l.Protocol != "HTTPS" || l.Port != g.httpsPort || !covers(l.Hostname, c.hostname) || !admitsKind(l, route.Kind) {
			continue
		}
		if c.parent.SectionName != "" {
			continue // the route takes no listener but the one of ours that it names
		}
		switch r.admitsNamespace(g, l, route.Namespace) {
		case no:
			continue
		case unknown:
			r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether listener %s of %s serves %s depends on the namespace of the release", l.Name, g, c.hostname)))
			continue
		}
		if served == nil || specificity(l.Hostname) > specificity(served.Hostname) {
			served = l
		}
	}
	return served, served != nil && !reaches(g.policy.Cover, served.Hostname, c.hostname)
}

// reaches says whether the policy's cover lets a listener of this hostname
// count as serving the claimed one.
func reaches(cover, listener, hostname string) bool {
	switch cover {
	case CoverExact:
		return listener == hostname
	case CoverWildcard:
		return listener == hostname || oneLabelBelow(listener, hostname)
	}
	return true
}

// coveredByWider deals with a name that a live listener answers although cover
// does not let it count: a listener of its own would take the name over before
// its Certificate exists. So the Certificate comes first, and the sweep adds
// the listener once it is ready.
func (r *run) coveredByWider(g *gateway, c claim, l *SourceListener) {
	if _, refused := r.refusedByPolicy(g, c); refused {
		return
	}
	message := fmt.Sprintf("%s is answered by the hand-written listener %s (%s); ", c.hostname, l.Name, orAny(l.Hostname))
	if g.policy.Certificates == PerHostname {
		r.wantCertificate(g, c.hostname)
		message += "its Certificate is made now; give it a listener of its own once that is ready (the sweep, which does so, is not part of this version)"
	} else {
		message += "its own listener would take the name over before its certificate exists, so none is made; set cover: Any to accept that, or write the listener by hand"
	}
	r.find(Warning, CodeCoveredByWider, c.object, message)
}

func orAny(hostname string) string {
	if hostname == "" {
		return "any hostname"
	}
	return hostname
}

// clash refuses a claim whose listener the API server or the data plane would
// reject beside the hand-written ones: one SNI namespace for each port over
// HTTPS and TLS, and one class of protocols on it.
func (r *run) clash(g *gateway, s slot, c claim) (answer, bool) {
	for i := range g.hand {
		l := &g.hand[i]
		if l.Port != s.port || l.Protocol == "UDP" {
			continue
		}
		switch {
		case !isTLS(l.Protocol):
			return refuse(ReasonUnsupported, "port %d of %s carries listener %s (%s) and cannot carry HTTPS too; set httpsPort in the policy", s.port, g, l.Name, l.Protocol), true
		case l.Hostname != s.hostname:
		case l.Protocol == "TLS":
			return refuse(ReasonNoHostname, "listener %s (TLS %s) already answers %s on port %d; remove it, or drop the hostname here", l.Name, l.TLSMode, s.hostname, s.port), true
		case c.parent.SectionName != "":
			return refuse(ReasonNoMatchingParent, "listener %s answers %s, so there is no listener %s; remove sectionName from the parentRef", l.Name, s.hostname, c.parent.SectionName), true
		case c.certificate == nil:
			return refuse(ReasonNotAllowed, "listener %s answers %s but does not admit %ss from %s; widen its allowedRoutes", l.Name, s.hostname, c.object.Kind, namespaceOf(c.object)), true
		}
	}
	return answer{}, false
}

// answerCertificate decides the claims of Certificates that need no listener.
// Only a listener of exactly the hostname counts as serving one: a wider
// listener would present another certificate.
func (r *run) answerCertificate(g *gateway, s slot, c claim) (answer, bool) {
	for i := range g.hand {
		l := &g.hand[i]
		if l.Protocol != "HTTPS" || l.Port != s.port || l.Hostname != s.hostname {
			continue
		}
		if !slices.ContainsFunc(l.CertificateRefs, func(ref ObjectName) bool { return ref.Name == c.certificate.SecretName }) {
			return refuse(ReasonHostnameConflict, "listener %s answers %s with another Secret; name Secret %s in its certificateRefs, or remove the listener", l.Name, s.hostname, c.certificate.SecretName), true
		}
		return accept(l.Name), true
	}
	return r.clash(g, s, c)
}
