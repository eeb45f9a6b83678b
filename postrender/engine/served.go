package engine

import (
	"cmp"
	"fmt"
	"slices"
)

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
		if s.Protocol != "TLS" && s.Hostname != "" && c.selects(s.Name, s.Port) && Covers(s.Hostname, c.hostname) && (best == nil || specificity(s.Hostname) > specificity(best.Hostname)) {
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
