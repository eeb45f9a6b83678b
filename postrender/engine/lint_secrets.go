package engine

import (
	"fmt"
	"slices"
)

// lintSharedSecrets warns of HTTPS listeners of one port that present one
// certificate for different hostnames: a client reuses a connection for every
// name that its certificate holds, and so ends up at the wrong listener. A
// wildcard and its apex are one set of names, and so are the listeners of a
// mode that shares a certificate, and those of one annotated Certificate.
func (r *linter) lintSharedSecrets(s *site) {
	type presented struct {
		port   int
		secret ObjectName
	}
	first, sharing := map[presented]*endpoint{}, map[presented][]*endpoint{}
	for _, e := range s.endpoints {
		if e.protocol != "HTTPS" {
			continue
		}
		for _, secret := range e.secrets() {
			if secret.Namespace == "" {
				secret.Namespace = e.g.Namespace
			}
			key := presented{e.port, secret}
			switch other := first[key]; {
			case other == nil:
				first[key] = e
			case sharing[key] == nil:
				sharing[key] = []*endpoint{other, e}
			default:
				sharing[key] = append(sharing[key], e)
			}
		}
	}
	for key, endpoints := range sharing {
		r.lintSharing(s, endpoints, key.secret, fmt.Sprintf("Secret %s on port %d", placedName(key.secret.Namespace, key.secret.Name), key.port))
	}
}

func (r *linter) lintSharing(s *site, endpoints []*endpoint, secret ObjectName, shared string) {
	byHostname := map[string]*endpoint{}
	for _, e := range endpoints {
		byHostname[e.hostname] = e
	}
	narrow := map[*endpoint][]string{}
	for _, e := range endpoints {
		if wide := widerOf(e, byHostname); wide != nil {
			narrow[wide] = append(narrow[wide], e.hostname)
		}
	}
	for wide, names := range narrow {
		r.find(Warning, CodeOverlappingTLS, &s.g.Meta, fmt.Sprintf("listeners of %s present the certificate of the wider %s (%s), %s, so clients reuse the connection of one for another; give each a Secret of its own",
			listed(names), wide.in(s.g), orAny(wide.hostname), shared))
	}
	if names := apart(endpoints, byHostname); len(narrow) == 0 && len(names) > 1 && !r.claimed[secret] {
		r.find(Warning, CodeSharedSecret, &s.g.Meta, fmt.Sprintf("listeners of %s present one certificate, %s, so clients reuse the connection of one for another; give each a Secret of its own", listed(names), shared))
	}
}

// widerOf returns the listener with the next wider hostname, unless both are
// meant to share a certificate.
func widerOf(e *endpoint, byHostname map[string]*endpoint) *endpoint {
	for pattern := range patternsAbove(e.hostname) {
		if wide := byHostname[pattern]; wide != nil && !(wide.ofApex() && e.ofApex()) {
			return wide
		}
	}
	return nil
}

// apart returns the hostnames that are not meant to share a certificate: an
// apex below its wildcard does not count, nor does what a mode asks for.
func apart(endpoints []*endpoint, byHostname map[string]*endpoint) []string {
	var names []string
	for _, e := range endpoints {
		if byHostname["*."+e.hostname] == nil && !e.ofApex() {
			names = append(names, orAny(e.hostname))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// claimedSecrets looks up the Secrets of Certificates that claim their names:
// listeners of those share one because somebody asked for it.
func claimedSecrets(annotated []*Certificate) map[ObjectName]bool {
	out := map[ObjectName]bool{}
	for _, c := range annotated {
		out[ObjectName{c.Namespace, c.SecretName}] = true
	}
	return out
}

// lintCertificateRefs warns of a listener that ends TLS without a certificate.
// Where an implementation finds one by itself, an option or an annotation says
// so.
func (r *linter) lintCertificateRefs(e *endpoint) {
	tls, _ := e.hand.Object["tls"].(map[string]any)
	options, _ := tls["options"].(map[string]any)
	terminates := e.protocol == "HTTPS" || (e.protocol == "TLS" && e.mode == "Terminate")
	if !terminates || e.hand.HasRefs || len(options) > 0 || e.g.Annotations[certificateMap] != "" {
		return
	}
	r.find(Warning, CodeNoCertificate, &e.g.Meta, fmt.Sprintf("listener %s (%s) has no certificateRefs, so most implementations do not serve it; name the Secret of its certificate in tls.certificateRefs", e.name, orAny(e.hostname)))
}

// certificateMap is the annotation of GKE that takes the place of
// certificateRefs.
const certificateMap = "networking.gke.io/certmap"

// lintSecretGrants finds references to Secrets of other namespaces that no
// ReferenceGrant allows. A render does not see the grants of other releases.
func (r *linter) lintSecretGrants(e *endpoint) {
	for _, secret := range e.hand.CertificateRefs {
		if secret.Namespace == "" || sameNamespace(secret.Namespace, e.g.Namespace) != no || r.willRead(e.g, secret) {
			continue
		}
		what := fmt.Sprintf("listener %s names Secret %s", e.name, placedName(secret.Namespace, secret.Name))
		fix := fmt.Sprintf("add one in namespace %s from %s of namespace %s", secret.Namespace, e.g.Kind, e.g.Namespace)
		switch {
		case r.snapshot.Complete && !r.snapshot.unread(secret.Namespace):
			r.find(Critical, CodeSecretNotGranted, &e.g.Meta, fmt.Sprintf("%s, and no ReferenceGrant lets it read that, so it serves nothing; %s", what, fix))
		case len(r.grantsIn[secret.Namespace]) > 0:
			r.find(Warning, CodeSecretNotGranted, &e.g.Meta, fmt.Sprintf("%s, and the ReferenceGrants of namespace %s that are in the input do not let it read that; %s", what, secret.Namespace, fix))
		default:
			r.find(Warning, CodeSecretNotGranted, &e.g.Meta, fmt.Sprintf("%s, and whether a ReferenceGrant lets it read that is not known here; if there is none, %s", what, fix))
		}
	}
}

// willRead says whether a grant lets the parent read a Secret: one of the
// snapshot, one of the release whose namespace is not known, or one of ours.
func (r *linter) willRead(g *gateway, secret ObjectName) bool {
	ours := r.wantGrants[ObjectName{secret.Namespace, grantName(g.Kind, g.Name, secret.Name)}]
	return r.mayRead(g, secret.Namespace, secret.Name) || r.mayRead(g, "", secret.Name) || (ours != nil && slices.Contains(ours.From, g.Namespace))
}
