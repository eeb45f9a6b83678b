package engine

import (
	"fmt"
	"slices"
	"strings"
)

// issuerKey names an issuer; a ClusterIssuer has no namespace.
type issuerKey struct{ kind, namespace, name string }

// indexIssuers looks up what is known of each issuer. Where two have one name,
// each may be the one that counts, so they are taken together.
func indexIssuers(issuers []*Issuer) map[issuerKey]Issuer {
	out := map[issuerKey]Issuer{}
	for _, i := range issuers {
		key := issuerKey{i.Kind, i.Namespace, i.Name}
		known := out[key]
		known.ACME, known.HTTP01, known.DNS01 = known.ACME || i.ACME, known.HTTP01 || i.HTTP01, known.DNS01 || i.DNS01
		known.Server = max(known.Server, i.Server)
		out[key] = known
	}
	return out
}

// issuer returns what is known of the issuer of a Certificate. One of another
// group is known not to be ACME.
func (r *linter) issuer(ref IssuerRef, namespace string) (issuer Issuer, known bool) {
	if ref.Group != "" && ref.Group != CertManagerGroup {
		return Issuer{}, true
	}
	key := issuerKey{KindIssuer, namespace, ref.Name}
	if ref.Kind == KindClusterIssuer {
		key = issuerKey{KindClusterIssuer, "", ref.Name}
	}
	issuer, known = r.issuers[key]
	return issuer, known
}

// lintMissingIssuers finds Certificates of ours that are never issued, since
// nobody made their issuer.
func (r *linter) lintMissingIssuers() {
	type asked struct {
		gateway ObjectName
		issuer  string
	}
	names := map[asked][]string{}
	for _, c := range r.certificates {
		if c.Action != Remove && r.isMissing(c.IssuerRef, c.Namespace) {
			key := asked{c.Gateway, c.IssuerRef.in(c.Namespace)}
			names[key] = append(names[key], c.DNSNames...)
		}
	}
	for key, names := range names {
		m := &Meta{Kind: KindGateway, Namespace: key.gateway.Namespace, Name: key.gateway.Name}
		r.find(Critical, CodeIssuerMissing, m, fmt.Sprintf("there is no %s, so nobody issues the certificates of %s; create it, or correct issuerRef in the policy", key.issuer, listed(names)))
	}
}

// isMissing says whether it is known that there is no such issuer.
func (r *linter) isMissing(ref IssuerRef, namespace string) bool {
	s := r.snapshot
	_, known := r.issuer(ref, namespace)
	return ref.Name != "" && !known && s.Complete && slices.Contains(s.IssuerKinds, ref.kind()) && (ref.kind() == KindClusterIssuer || !s.unread(namespace))
}

// onlyHTTP01 says whether an issuer is known to have solvers of that kind alone.
func (r *linter) onlyHTTP01(ref IssuerRef, namespace string) bool {
	issuer, known := r.issuer(ref, namespace)
	return known && issuer.HTTP01 && !issuer.DNS01
}

// lintChallenges warns of Certificates of ours that HTTP-01 alone can validate,
// on a Gateway where no plain listener takes the route of the challenge.
func (r *linter) lintChallenges() {
	type group struct {
		g       *gateway
		issuer  IssuerRef
		problem string
	}
	gateways, plain := map[ObjectName]*gateway{}, map[*gateway][]*endpoint{}
	for _, g := range r.managed {
		if g.Kind == KindGateway {
			gateways[ObjectName{g.Namespace, g.Name}], plain[g] = g, r.plainEndpoints(g)
		}
	}
	names := map[group][]string{}
	for _, c := range r.certificates {
		g := gateways[c.Gateway]
		if c.Action == Remove || g == nil || !r.onlyHTTP01(c.IssuerRef, c.Namespace) {
			continue
		}
		if problem := r.challengeProblem(plain[g], &c); problem != "" {
			key := group{g, c.IssuerRef, problem}
			names[key] = append(names[key], c.DNSNames...)
		}
	}
	for key, names := range names {
		r.find(Warning, CodeChallengeUnreachable, &key.g.Meta, fmt.Sprintf("%s %s validates %s by HTTP-01 alone, and %s", key.issuer.Kind, key.issuer.Name, listed(names), key.problem))
	}
}

// plainEndpoints returns the listeners that a request to port 80 may reach. A
// controller behind a Service that maps its ports has others (Traefik: 8000).
func (r *linter) plainEndpoints(g *gateway) []*endpoint {
	var out []*endpoint
	for i := range r.endpoints[g] {
		if e := &r.endpoints[g][i]; e.protocol == "HTTP" && (e.port == 80 || e.port == g.policy.HTTP.Port || g.httpsPort != 443) {
			out = append(out, e)
		}
	}
	return out
}

// challengeProblem says why no plain listener takes the route of a challenge,
// which stands in the namespace of the Certificate, and what to do; or "".
func (r *linter) challengeProblem(plain []*endpoint, c *CertificatePlan) string {
	if len(plain) == 0 {
		return "it has no listener for plain HTTP on port 80; set http.listener: true in its policy, or write one by hand"
	}
	admitting := slices.DeleteFunc(slices.Clone(plain), func(e *endpoint) bool { return r.admits(e, KindHTTPRoute, c.Namespace) == no })
	if len(admitting) == 0 {
		return fmt.Sprintf("its plain listener %s admits no HTTPRoute from %s, where the challenges stand; widen its allowedRoutes, or acmeNamespaces in the policy", plain[0].name, namespaceOf(&Meta{Namespace: c.Namespace}))
	}
	for _, name := range c.DNSNames {
		answered := slices.ContainsFunc(admitting, func(e *endpoint) bool { return intersects(e.hostname, name) })
		if !answered && !isWildcard(name) {
			return "none of its plain listeners that admit the challenges answers that; add one without a hostname"
		}
	}
	return ""
}

// lintWildcards finds wildcards that are never issued, since their issuer can
// validate by HTTP-01 alone: of our Certificates and of those that claim.
func (r *linter) lintWildcards() {
	for i := range r.certificates {
		if c := &r.certificates[i]; c.Action != Remove {
			m := &Meta{Kind: KindCertificate, Namespace: c.Namespace, Name: c.Name}
			r.lintWildcard(m, c.DNSNames, c.IssuerRef)
			r.lintNames(m, c.DNSNames, c.IssuerRef)
		}
	}
	for _, c := range r.by.annotated {
		if c.Known || c.Labels[LabelFor] != "" {
			continue
		}
		ref := c.issuerRef()
		r.lintWildcard(&c.Meta, c.DNSNames, ref)
		r.lintNames(&c.Meta, c.DNSNames, ref)
	}
}

func (r *linter) lintWildcard(m *Meta, dnsNames []string, ref IssuerRef) {
	i := slices.IndexFunc(dnsNames, isWildcard)
	if i < 0 || !r.onlyHTTP01(ref, m.Namespace) {
		return
	}
	r.find(Critical, CodeWildcardNeedsDNS01, m, fmt.Sprintf("%s needs DNS-01, and %s %s has HTTP-01 solvers only, so the Certificate is never issued; add a dns01 solver to the issuer, name another issuer, or drop the wildcard",
		dnsNames[i], ref.kind(), ref.Name))
}

func (ref IssuerRef) kind() string {
	if ref.Kind == "" {
		return KindIssuer
	}
	return ref.Kind
}

// in names an issuer that a Certificate of a namespace refers to.
func (ref IssuerRef) in(namespace string) string {
	if ref.kind() == KindClusterIssuer {
		return ref.kind() + " " + ref.Name
	}
	return ref.kind() + " " + namespace + "/" + ref.Name
}

// lintTwoGateways warns of a hostname on two Gateways of one namespace, at
// least one of which orders a certificate by what may be HTTP-01.
func (r *linter) lintTwoGateways() {
	type place struct{ namespace, hostname string }
	first := map[place]*endpoint{}
	type pair struct{ g, other *gateway }
	twice := map[pair][]string{}
	for _, g := range r.managed {
		for i := range r.endpoints[g] {
			e := &r.endpoints[g][i]
			if e.protocol != "HTTPS" || e.hostname == "" {
				continue
			}
			key := place{g.GatewayName().Namespace, e.hostname}
			other := first[key]
			switch {
			case other == nil:
				first[key] = e
			case other.g.GatewayName() != g.GatewayName() && (r.orders(e) || r.orders(other)):
				twice[pair{g, other.g}] = append(twice[pair{g, other.g}], e.hostname)
			}
		}
	}
	for p, names := range twice {
		r.find(Warning, CodeHostnameTwice, &p.g.Meta, fmt.Sprintf("%s: %s answers that too, each orders a certificate of its own, and HTTP-01 succeeds only where DNS points to; keep it on one Gateway, or use an issuer with DNS-01",
			listed(names), p.other))
	}
}

// lintNobodyIssues warns of listeners whose Certificates are left to
// cert-manager's shim, on a parent that the shim passes over.
func (r *linter) lintNobodyIssues(g *gateway) {
	if g.policy.Certificates != ListenersOnly || g.policy.shim {
		return
	}
	var names []string
	for _, e := range r.endpoints[g] {
		if e.ours != nil && e.mode == "Terminate" && e.ours.Certificate == "" && e.ours.secretName != "" {
			names = append(names, e.hostname)
		}
	}
	if len(names) > 0 {
		r.find(Warning, CodeNobodyIssues, &g.Meta, fmt.Sprintf("nobody issues the certificates of %s: certificates: ListenersOnly leaves that to cert-manager, which serves only a %s with its annotation; add cert-manager.io/cluster-issuer: NAME to it, or choose another mode and an issuer",
			listed(names), g.Kind))
	}
}

// orders says whether the listener has a Certificate of ours whose issuer may
// validate it by HTTP-01.
func (r *linter) orders(e *endpoint) bool {
	if e.ours == nil {
		return false
	}
	c := r.wantCertificates.get(ObjectName{e.g.Namespace, e.ours.secretName})
	if c == nil {
		return false
	}
	issuer, known := r.issuer(c.IssuerRef, c.Namespace)
	return !known || issuer.HTTP01
}

// letsEncrypt says whether an issuer may be Let's Encrypt: it is unless its
// kind or its server are known to be others.
func (r *linter) letsEncrypt(ref IssuerRef, namespace string) bool {
	issuer, known := r.issuer(ref, namespace)
	return !known || (issuer.ACME && (issuer.Server == "" || strings.Contains(issuer.Server, "//acme-v02.api.letsencrypt.org")))
}
