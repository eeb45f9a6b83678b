package engine

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// claimCertificates collects the claims of annotated Certificates: each of
// their dnsNames.
func (r *run) claimCertificates() {
	for _, c := range r.by.annotated {
		if target, claims := c.claims(); claims {
			r.oddAnnotations(c, target)
			r.claimCertificate(c, target)
		}
	}
}

// claims says whether a Certificate asks a Gateway for listeners, and which.
func (c *Certificate) claims() (ObjectName, bool) {
	if c.Known || c.ours() || isShimOwner(c.Controller) || c.IsCA {
		return ObjectName{}, false
	}
	return gatewayOf(c)
}

// isShimOwner says whether cert-manager's shims derived the Certificate from
// listeners; a claim for it would keep those listeners for ever.
func isShimOwner(kind string) bool {
	return kind == KindGateway || kind == KindListenerSet || kind == "Ingress"
}

func (r *run) claimCertificate(c *Certificate, target ObjectName) {
	parent := Parent{Kind: KindGateway, Namespace: target.Namespace, Name: target.Name}
	g, err := r.findParent(&c.Meta, KindGateway, target)
	switch {
	case err != nil:
		r.errs = append(r.errs, err)
		return
	case g == nil:
		r.certificateElsewhere(c, target)
		return
	}
	g.claimed = true
	switch {
	case g.frozen != "":
		r.answerNames(&c.Meta, parent, c.DNSNames, refuse(ReasonPending, "%s", g.frozen))
		return
	case g.optedOut:
		r.gatewayOptedOut(g, &c.Meta, parent, c.DNSNames)
		return
	case !g.policy.managed:
		r.answerNames(&c.Meta, parent, c.DNSNames, withoutPolicy(g))
		return
	}
	port, portErr := r.certificatePort(c, g)
	for _, address := range c.IPAddresses {
		r.verdict(claim{object: &c.Meta, parent: parent, hostname: shortened(address), certificate: c}, refuse(ReasonUnsupported, "an IP address gets no listener"))
	}
	for _, raw := range distinct(c.DNSNames) {
		r.claimDNSName(c, g, parent, raw, port, portErr)
	}
}

func distinct(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, name := range names {
		if normal := normalOr(name); !seen[normal] {
			seen[normal] = true
			out = append(out, name)
		}
	}
	return out
}

// certificatePort returns the port of the Certificate's annotation, or that of
// the Gateway's terminate listeners.
func (r *run) certificatePort(c *Certificate, g *gateway) (int, error) {
	text := portAnnotation(c)
	if text == "" {
		return g.httpsPort, nil
	}
	port, err := strconv.Atoi(text)
	if err != nil || !validPort(port) {
		return 0, fmt.Errorf("the annotation asks for port %q; a port is 1 to 65535", shortened(text))
	}
	return port, nil
}

func portAnnotation(c *Certificate) string {
	return cmp.Or(c.Annotations[AnnotationPort], c.Annotations[aliasListenerPort])
}

func (r *run) claimDNSName(cert *Certificate, g *gateway, parent Parent, raw string, port int, portErr error) {
	hostname, err := NormalizeHostname(raw)
	if err != nil {
		raw = shortened(raw)
		hostname = raw
	}
	c := claim{object: &cert.Meta, parent: parent, hostname: hostname, certificate: cert}
	switch {
	case err != nil && isIP(raw):
		r.verdict(c, refuse(ReasonUnsupported, "%q is an IP address, and a listener takes none", raw))
	case err != nil:
		r.verdict(c, refuse(ReasonUnsupported, "%q %v; correct spec.dnsNames", raw, err))
	case portErr != nil:
		r.verdict(c, refuse(ReasonUnsupported, "%v", portErr))
	case cert.SecretName == "":
		r.verdict(c, refuse(ReasonUnsupported, "the Certificate has no secretName; set spec.secretName"))
	case len(validation.IsDNS1123Subdomain(cert.SecretName)) > 0:
		r.verdict(c, refuse(ReasonUnsupported, "no Secret can have the name %q; correct spec.secretName", shortened(cert.SecretName)))
	default:
		r.answerCertificate(g, slot{port, c.hostname}, c)
	}
}

// shortened cuts what may be of any length, and stands in messages, to what a
// hostname may have.
func shortened(text string) string {
	if len(text) <= maxHostname+1 {
		return text
	}
	return strings.ToValidUTF8(text[:maxHostname], "") + "…"
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}
