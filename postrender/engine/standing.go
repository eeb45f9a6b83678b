package engine

import (
	"fmt"
	"slices"
)

// standing is a listener of ours that the policy alone asks for, whatever
// claims there are.
type standing struct {
	Listener
	// attach says that the namespaces of the policy's attach are admitted;
	// otherwise it is the Gateway's own, and those of admits.
	attach bool
	admits []string
}

// isApexMode says whether a mode serves all names of an apex by listeners of
// its own.
func isApexMode(mode string) bool { return mode == Wildcard || mode == ExistingSecret || mode == Edge }

// standingListeners returns the plain listener, the listeners of the apex and
// the passthrough listeners. A ListenerSet has none of them.
func (r *run) standingListeners(g *gateway) []standing {
	if !g.policy.managed || g.Kind == KindListenerSet {
		return nil
	}
	g.keepsPlain = r.needsLivePlain(g)
	g.passthrough = r.passthroughListeners(g)
	var out []standing
	if r.wantsPlain(g) {
		out = append(out, g.plainListener())
	}
	if isApexMode(g.policy.Certificates) {
		out = append(out, r.apexListeners(g)...)
		r.childFinding(g)
	}
	return g.splitYielded(append(out, g.passthrough...))
}

// apexListeners returns *.apex and apex, and the same of child apexes that lie
// outside the apex: a listener's wildcard spans any depth, so those below it
// need none. What a hand-written listener answers already is left out.
func (r *run) apexListeners(g *gateway) []standing {
	if name := g.apexCertificate(); g.policy.Certificates == Wildcard && r.isTaken(g, name) {
		r.nameTaken(g, "Certificate or Secret "+name)
		return nil
	}
	var out []standing
	for _, hostname := range g.apexHostnames() {
		l := r.apexListener(g, hostname)
		if !g.answeredByHand(l) && g.displacedBy(l.Port, hostname) == nil && r.hasPlace(g, l) {
			out = append(out, standing{Listener: l, attach: true})
		}
	}
	return out
}

// apexHostnames are those of the listeners of an apex, none in other modes.
func (g *gateway) apexHostnames() []string {
	if !isApexMode(g.policy.Certificates) || g.Kind == KindListenerSet {
		return nil
	}
	out := []string{"*." + g.policy.Apex, g.policy.Apex}
	for _, child := range g.policy.children() {
		if !Covers("*."+g.policy.Apex, child) {
			out = append(out, "*."+child, child)
		}
	}
	return out
}

// hasPlace says whether a listener of the apex can stand beside the hand-written
// ones: one class of protocols on a port, and a name for each.
func (r *run) hasPlace(g *gateway, l Listener) bool {
	for _, hand := range g.hand {
		switch {
		case hand.Name == l.Name:
			r.nameTaken(g, "listener "+l.Name)
			return false
		case hand.Port == l.Port && hand.Protocol != "UDP" && class(hand.Protocol) != class(l.Protocol):
			r.find(Critical, CodeNameTaken, &g.Meta, fmt.Sprintf("port %d carries listener %s (%s), so the listener for %s has no place; set httpsPort, or http.port", l.Port, hand.Name, hand.Protocol, l.Hostname))
			return false
		}
	}
	return true
}

func (r *run) apexListener(g *gateway, hostname string) Listener {
	if g.policy.Certificates == Edge {
		port := g.policy.HTTP.Port
		return Listener{Name: plainHostName(hostname, port), Hostname: hostname, Port: port, Protocol: "HTTP"}
	}
	l := Listener{Name: ListenerName(hostname, g.httpsPort), Hostname: hostname, Port: g.httpsPort, Protocol: "HTTPS", Mode: "Terminate", tlsOptions: g.policy.TLSOptions}
	l.secretName = g.policy.SecretName
	if g.policy.Certificates == Wildcard {
		l.secretName = g.apexCertificate()
		if g.policy.writesCertificates() {
			l.Certificate = placedName(g.Namespace, l.secretName)
		}
	}
	return l
}

// apexCertificate is the name of the one Certificate of the mode Wildcard.
func (g *gateway) apexCertificate() string {
	return CertificateName(g.Kind, g.Name, "*."+g.policy.Apex)
}

// children returns the child apexes, each once: one that is named twice, or is the
// apex itself, would give two listeners of one name.
func (p *Policy) children() []string {
	var out []string
	for _, child := range p.ChildApexes {
		if child != p.Apex && !slices.Contains(out, child) {
			out = append(out, child)
		}
	}
	return out
}

// apexDNSNames returns the names of that Certificate. A wildcard in a
// certificate spans one label, so child apexes need their own; a name that a
// wildcard of the same certificate covers is left out, since Let's Encrypt
// refuses it as redundant.
func (p *Policy) apexDNSNames() []string {
	names := []string{p.Apex, "*." + p.Apex}
	for _, child := range p.children() {
		names = append(names, child, "*."+child)
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return other != name && oneLabelBelow(other, name) && !isWildcard(name) })
	})
}

// planApexCertificate adds the Certificate of the mode Wildcard, unless none of
// its listeners is left.
func (r *run) planApexCertificate(g *gateway) {
	if g.policy.Certificates != Wildcard || !g.policy.writesCertificates() {
		return
	}
	for _, s := range g.standing {
		if s.Mode == "Terminate" {
			r.wantCertificateFor(g, "*."+g.policy.Apex, g.policy.apexDNSNames(), policyAsks)
			return
		}
	}
}

// answeredByHand says whether a hand-written listener of the port answers the
// hostname: the very one, or a wider one as far as cover reaches.
func (g *gateway) answeredByHand(l Listener) bool {
	return slices.ContainsFunc(g.hand, func(hand SourceListener) bool {
		return hand.Port == l.Port && class(hand.Protocol) == class(l.Protocol) && Covers(hand.Hostname, l.Hostname) && reaches(g.policy.Cover, hand.Hostname, l.Hostname)
	})
}

// asSource is the standing listener as a route meets it.
func (s *standing) asSource(g *gateway) SourceListener {
	l := SourceListener{Name: s.Name, Hostname: s.Hostname, Port: s.Port, Protocol: s.Protocol, TLSMode: s.Mode, AllowedFrom: FromSame}
	if s.attach {
		l.AllowedFrom = fromAttach
	} else if len(s.admits) > 0 {
		l.AllowedFrom, l.admits = fromNames, append(slices.Clone(s.admits), g.Namespace)
	}
	return l
}

// Values of AllowedFrom for listeners of ours.
const (
	fromAttach = "attach"
	fromNames  = "names"
)

// completeStanding fills in what depends on namespaces, once the claims are
// known.
func (r *run) completeStanding(g *gateway) []Listener {
	out := make([]Listener, 0, len(g.standing)+len(g.wanted)) // the claimed ones follow
	for _, s := range g.standing {
		l := s.Listener
		switch {
		case s.attach:
			l.AllowedRoutes = r.allowedRoutes(g)
		case len(s.admits) == 0:
			l.AllowedRoutes = fromNamespaces(FromSame, nil)
		default:
			l.AllowedRoutes = r.ownAnd(g, s.admits)
		}
		out = append(out, l)
	}
	return out
}

// ownAnd admits the Gateway's own namespace and others by name.
func (r *run) ownAnd(g *gateway, others []string) map[string]any {
	if g.Namespace == "" {
		r.errs = append(r.errs, r.needNamespace(&g.Meta, "its plain listener admits acmeNamespaces beside its own namespace, which is that of the release"))
		return fromNamespaces(FromSame, nil)
	}
	return r.fromList(g, append(slices.Clone(others), g.Namespace))
}

// depthFinding warns of a hostname that a wildcard listener answers and its
// certificate, which spans one label, does not cover.
func (r *run) depthFinding(g *gateway, c claim, l *standing) {
	if g.policy.Certificates == Edge || !isWildcard(l.Hostname) || oneLabelBelow(l.Hostname, c.hostname) {
		return
	}
	if g.policy.Certificates == Wildcard && slices.ContainsFunc(g.policy.apexDNSNames(), func(name string) bool { return name == c.hostname || oneLabelBelow(name, c.hostname) }) {
		return
	}
	r.find(Warning, CodeNotCovered, c.object, fmt.Sprintf("%s lies more than one label below %s, so the certificate of listener %s may not cover it; name its parent domain in childApexes", c.hostname, l.Hostname, l.Name))
}

// childFinding warns of child apexes below which a given Secret must serve: its
// names cannot be looked up here.
func (r *run) childFinding(g *gateway) {
	if g.policy.Certificates != ExistingSecret {
		return
	}
	for _, child := range g.policy.children() {
		r.find(Warning, CodeNotCovered, &g.Meta, fmt.Sprintf("names below child apex %s are served with Secret %s, and whether that covers *.%s is not known here; see that its certificate names it", child, g.policy.SecretName, child))
	}
}
