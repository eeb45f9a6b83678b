package engine

import (
	"cmp"
	"slices"
)

// leaveOutUnusable refuses the Certificates that the parent cannot present, or
// not yet. They are refused alone: neither the hostname's routes nor its other
// Certificates suffer by them, and they win no race.
func (r *run) leaveOutUnusable(g *gateway) {
	for s, w := range g.wanted {
		name := ListenerName(s.hostname, s.port)
		w.certificates = slices.DeleteFunc(w.certificates, func(c claim) bool {
			a, unusable := r.unusable(g, name, c.certificate)
			if unusable {
				r.verdict(c, a)
			}
			return unusable
		})
		if len(w.certificates)+len(w.routes) == 0 {
			delete(g.wanted, s) // nobody races for it
		}
	}
}

// unusable says why a listener cannot present a Certificate.
func (r *run) unusable(g *gateway, listener string, cert *Certificate) (answer, bool) {
	beside := sameNamespace(cert.Namespace, g.Namespace)
	switch {
	case beside == yes && cert.Name != cert.SecretName && g.shimAnnotation() != "" && !ignoredByShim(g, listener):
		return refuse(ReasonHostnameConflict, "cert-manager's gateway-shim would write Secret %s by a Certificate of that name beside this one; name the Certificate as its Secret, or list %s in cert-manager.io/ignore-tls-listeners of %s", cert.SecretName, listener, g), true
	case !r.snapshot.Complete:
		return answer{}, false
	case beside == no && !r.grantedSecret(g, cert):
		return notPermitted(g, cert), true
	}
	if other := g.presentsAnother(listener, cert); other != "" && !r.readySecrets[ObjectName{cert.Namespace, cert.SecretName}] {
		return refuse(ReasonPending, "listener %s of %s presents Secret %s until this Certificate is ready", listener, g, other), true
	}
	return answer{}, false
}

// presentsAnother returns the Secret that a live listener presents in place of
// that of a Certificate, or "".
func (g *gateway) presentsAnother(listener string, cert *Certificate) string {
	i := slices.IndexFunc(g.Listeners, func(l SourceListener) bool { return l.Name == listener })
	if i < 0 || len(g.Listeners[i].CertificateRefs) == 0 {
		return ""
	}
	ref := g.Listeners[i].CertificateRefs[0]
	ref.Namespace = cmp.Or(ref.Namespace, g.Namespace)
	if ref == (ObjectName{cert.Namespace, cert.SecretName}) {
		return ""
	}
	return ref.Namespace + "/" + ref.Name
}

// rivals are the claims that race for a hostname, whatever their ports. Those of
// a slot that is closed to all take no part.
func (r *run) rivals(g *gateway, hostname string) []claim {
	if g.claims == nil {
		g.claims = map[string][]claim{}
		var open []slot
		for _, s := range g.sortedSlots() {
			all := g.wanted[s].all()
			if _, closed := r.closedSlot(g, s, g.wanted[s]); !closed && len(all) > 0 {
				open = append(open, s)
				g.claims[s.hostname] = append(g.claims[s.hostname], all...)
			}
		}
		r.leaveOutSpent(g, open)
	}
	return g.claims[hostname]
}
