package engine

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// metadataName is the label that Kubernetes itself puts on every namespace.
const metadataName = "kubernetes.io/metadata.name"

// answerRoute decides the claim of an HTTPRoute or GRPCRoute, or leaves it to
// be wanted.
//
//	the route                          the answer
//	names a section or port that is    by that listener alone
//	  not made for its claim
//	is served by a hand-written one    accepted, as far as cover reaches
//	is refused by the policy           refused
//	is in a mode of an apex            by the listeners of the apex
//	meets one that only looks alike    refused: a second would be rejected
//	anything else                      wanted
func (r *run) answerRoute(route *Route, g *gateway, c claim) {
	named := slices.ContainsFunc(g.hand, func(l SourceListener) bool { return l.Name == c.parent.SectionName })
	if named || (c.pinned() && !c.selects(ListenerName(c.hostname, g.httpsPort), g.httpsPort)) {
		r.answerPinned(route, g, c)
		return
	}
	if listener, wider := r.servedBy(route, g, c); listener != nil {
		if !wider || !r.getsItsOwn(g, c) {
			if wider {
				r.coveredByWider(g, c, listener)
			}
			r.servedByHand(g, c, listener)
			return
		}
	}
	a, refused := r.refusedByPolicy(g, c)
	switch {
	case refused:
		r.verdict(c, a)
		return
	case isApexMode(g.policy.Certificates):
		r.answerByApex(route, g, c)
		return
	}
	s := slot{g.httpsPort, c.hostname}
	if a, refused := g.clash(s, c); refused {
		r.verdict(c, a)
		return
	}
	g.want(s, c)
}

// servedByHand accepts a claim by a hand-written listener. Where that names the
// Secret of a Certificate of ours, the Certificate is made for it.
func (r *run) servedByHand(g *gateway, c claim, l *SourceListener) {
	name := CertificateName(g.Kind, g.Name, c.hostname)
	for _, ref := range l.CertificateRefs {
		if ref.Name != name || !g.policy.writesCertificates() || !r.issues(g, c.hostname) {
			continue
		}
		switch sameNamespace(cmp.Or(ref.Namespace, g.Namespace), g.Namespace) {
		case yes:
			r.wantCertificate(g, c.hostname, c.object.String())
		case unknown:
			r.errs = append(r.errs, r.needNamespace(&g.Meta, fmt.Sprintf("whether its listener %s names the Secret of a Certificate beside it depends on the namespace of the release", l.Name)))
		}
	}
	if l.Protocol == "HTTPS" {
		if g.byHand == nil {
			g.byHand = map[string][]handClaim{}
		}
		key := c.hostname
		if isWildcard(key) {
			key = ""
		}
		g.byHand[key] = append(g.byHand[key], handClaim{c, *l})
	}
	r.answerByHand(g, c, l)
}

// pinned says whether a parentRef names a section or a port.
func (c *claim) pinned() bool { return c.parent.SectionName != "" || c.parent.Port != 0 }

// selects says whether the claim's parentRef selects a listener.
func (c *claim) selects(name string, port int) bool {
	return (c.parent.SectionName == "" || c.parent.SectionName == name) && (c.parent.Port == 0 || c.parent.Port == port)
}

// selectedBy returns the listeners that a parentRef selects, but for those that
// claims make.
func (g *gateway) selectedBy(c claim) []SourceListener {
	return slices.DeleteFunc(g.standAndHand(), func(l SourceListener) bool { return !c.selects(l.Name, l.Port) })
}

// standAndHand returns the hand-written and the standing listeners, once that
// is known without those past a limit.
func (g *gateway) standAndHand() []SourceListener {
	out := slices.Clone(g.hand)
	for i := range g.standing {
		if _, cut := g.overLimit[g.standing[i].Name]; !cut {
			out = append(out, g.standing[i].asSource(g))
		}
	}
	return out
}

func (g *gateway) standingIndex(name string) int {
	return slices.IndexFunc(g.standing, func(s standing) bool { return s.Name == name })
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

// answerByApex decides for a route in a mode of an apex: one of its listeners
// serves every name that the fence lets through.
func (r *run) answerByApex(route *Route, g *gateway, c claim) {
	var best *standing
	for i := range g.standing {
		s := &g.standing[i]
		if s.Protocol != "TLS" && s.Hostname != "" && c.selects(s.Name, s.Port) && covers(s.Hostname, c.hostname) && (best == nil || specificity(s.Hostname) > specificity(best.Hostname)) {
			best = s
		}
	}
	switch {
	case g.Kind == KindListenerSet:
		r.verdict(c, refuse(ReasonNoMatchingParent, "certificates: %s serves routes of the Gateway only; name %s in the parentRef", g.policy.Certificates, g.label()))
	case best != nil:
		r.answerByStanding(g, c, best)
	default:
		r.answerLater(route, g, c, r.unanswered(route, g, c))
	}
}

// unanswered says why no listener of the apex serves a hostname within the
// fence: a hand-written or passthrough listener stands in its place.
func (r *run) unanswered(route *Route, g *gateway, c claim) answer {
	if s := g.displacedBy(g.httpsPort, c.hostname); s != nil {
		return refuse(ReasonNoHostname, "passthrough listener %s (%s) answers it on port %d; drop the hostname here, or the entry in the policy", s.Name, s.Hostname, s.Port)
	}
	listeners := slices.DeleteFunc(g.selectedBy(c), func(l SourceListener) bool { return isTLS(l.Protocol) == (g.policy.Certificates == Edge) })
	switch {
	case len(listeners) == 0 && c.pinned():
		return refuse(ReasonNoMatchingParent, "%s has no listener %s; remove sectionName and port from the parentRef", g, pin(c.parent))
	case len(listeners) == 0:
		return refuse(ReasonNoMatchingParent, "%s has no listener for it; see its findings", g)
	}
	return r.bestAnswer(route, g, c, listeners)
}

// bestAnswer accepts the claim by the most specific listener that accepts the
// route and covers the hostname, or part of it where that is enough, or says
// why none does.
func (r *run) bestAnswer(route *Route, g *gateway, c claim, listeners []SourceListener) answer {
	rank := func(l SourceListener) int {
		if isWildcard(c.hostname) && covers(l.Hostname, c.hostname) {
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
	case !covers(l.Hostname, hostname) && route.Kind != KindTLSRoute:
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

// servedBy returns the hand-written listener that would serve the claim, and
// whether it answers a wider set of names than cover lets count.
func (r *run) servedBy(route *Route, g *gateway, c claim) (served *SourceListener, wider bool) {
	if c.parent.SectionName != "" {
		return nil, false // the route takes no listener but the one of ours that it names
	}
	var undecided []*SourceListener
	for i := range g.hand {
		l := &g.hand[i]
		if l.lost != "" || l.Protocol != "HTTPS" || l.Port != g.httpsPort || !covers(l.Hostname, c.hostname) || !admitsKind(l, route.Kind) {
			continue
		}
		switch r.admitsNamespace(g, l, route.Namespace) {
		case no:
			continue
		case unknown:
			undecided = append(undecided, l)
			continue
		}
		if served == nil || specificity(l.Hostname) > specificity(served.Hostname) {
			served = l
		}
	}
	for _, l := range undecided {
		if served == nil || specificity(l.Hostname) > specificity(served.Hostname) {
			r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether listener %s of %s serves %s depends on the namespace of the release", l.Name, g, c.hostname)))
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

// getsItsOwn says whether a name that a wider listener answers has, or can now
// have, a listener of its own beside it: its certificate is there.
func (r *run) getsItsOwn(g *gateway, c claim) bool {
	if !r.snapshot.Complete || isApexMode(g.policy.Certificates) {
		return false
	}
	l := Listener{Name: ListenerName(c.hostname, g.httpsPort), Certificate: "of ours", secretName: CertificateName(g.Kind, g.Name, c.hostname)}
	return g.lives(l.Name) || (g.policy.writesCertificates() && r.ready(g, &l))
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
	switch {
	case isApexMode(g.policy.Certificates):
		return
	case g.policy.writesCertificates() && r.issues(g, c.hostname) && (!isWildcard(c.hostname) || slices.Contains(g.policy.Wildcards, c.hostname)):
		r.wantCertificate(g, c.hostname, c.object.String())
		message += "its Certificate is made now, and the sweep gives it a listener of its own once that is ready"
	default:
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
func (g *gateway) clash(s slot, c claim) (answer, bool) {
	for i := range g.hand {
		l := &g.hand[i]
		if l.Port != s.port || l.Protocol == "UDP" {
			continue
		}
		switch {
		case !isTLS(l.Protocol):
			return refuse(ReasonUnsupported, "port %d of %s carries listener %s (%s) and cannot carry HTTPS too; set httpsPort in the policy", s.port, g, l.Name, l.Protocol), true
		case l.Hostname != s.hostname:
		case l.lost != "":
			return refuse(ReasonHostnameConflict, "%s", l.lost), true
		case l.Protocol == "TLS":
			return refuse(ReasonNoHostname, "listener %s (TLS %s) already answers %s on port %d; remove it, or drop the hostname here", l.Name, l.TLSMode, s.hostname, s.port), true
		case c.parent.SectionName != "":
			return refuse(ReasonNoMatchingParent, "listener %s answers %s, so there is no listener %s; remove sectionName from the parentRef", l.Name, s.hostname, c.parent.SectionName), true
		case c.certificate == nil && g.policy.HostnameOwnership == OneNamespace && g.Rendered()[l.Name]:
			return refuse(ReasonHostnameConflict, "%s belongs to the namespace that listener %s of the release admits; drop the hostname here, or there", s.hostname, l.Name), true
		case c.certificate == nil:
			return refuse(ReasonNotAllowed, "listener %s answers %s but does not admit %ss from %s; widen its allowedRoutes", l.Name, s.hostname, c.object.Kind, namespaceOf(c.object)), true
		}
	}
	if s.port == g.policy.HTTP.Port && g.plain() != nil {
		return refuse(ReasonUnsupported, "port %d of %s carries the plain listener and cannot carry HTTPS too; choose another port", s.port, g), true
	}
	return answer{}, false
}

// answerCertificate decides the claim of a Certificate, or leaves it to be
// wanted. Only a listener of exactly the hostname counts as serving one: a
// wider listener would present another certificate.
func (r *run) answerCertificate(g *gateway, s slot, c claim) {
	for i := range g.hand {
		l := &g.hand[i]
		if !isTLS(l.Protocol) || l.TLSMode != "Terminate" || l.Port != s.port || l.Hostname != s.hostname {
			continue
		}
		r.verdict(c, r.answerPresented(g, l, c))
		return
	}
	a, refused := g.clash(s, c)
	if !refused {
		a, refused = r.refusedByPolicy(g, c)
	}
	if !refused && g.policy.Certificates == Edge {
		a, refused = refuse(ReasonUnsupported, "certificates: Edge serves no TLS; remove the annotation, or choose another mode"), true
	}
	if i := g.standingIndex(ListenerName(s.hostname, s.port)); !refused && i >= 0 {
		a, refused = refuse(ReasonHostnameConflict, "listener %s of the apex answers %s with another Secret; drop the name from the Certificate", g.standing[i].Name, s.hostname), true
	}
	if refused {
		r.verdict(c, a)
		return
	}
	g.want(s, c)
}

// answerPresented says whether a hand-written listener presents a Certificate.
func (r *run) answerPresented(g *gateway, l *SourceListener, c claim) answer {
	cert := c.certificate
	if l.lost != "" {
		return refuse(ReasonHostnameConflict, "%s", l.lost)
	}
	for _, ref := range l.CertificateRefs {
		if ref.Name != cert.SecretName {
			continue
		}
		switch sameNamespace(cmp.Or(ref.Namespace, g.Namespace), cert.Namespace) {
		case yes:
			if sameNamespace(g.Namespace, cert.Namespace) == no && r.snapshot.Complete && !r.grantedSecret(g, cert) {
				return notPermitted(g, cert)
			}
			return accept(l.Name)
		case unknown:
			r.errs = append(r.errs, r.needNamespace(&cert.Meta, fmt.Sprintf("whether listener %s of %s names its Secret depends on the namespace of the release", l.Name, g)))
		}
	}
	return refuse(ReasonHostnameConflict, "listener %s answers %s with another Secret; name Secret %s in its certificateRefs, or remove the listener", l.Name, c.hostname, cert.SecretName)
}
