package engine

import (
	"cmp"
	"fmt"
	"strings"
)

// issuerProblem says why no Certificate can be made for a hostname, and what to
// do; "" for nothing.
func (r *run) issuerProblem(g *gateway, hostname string) (message, fix string) {
	switch issuer := g.policy.issuerFor(hostname); {
	case issuer.Name == "":
		first := "add --issuer NAME, issuerRef in the policy"
		if r.snapshot.Complete { // where a flag would reach every Gateway
			first = "add issuerRef to the policy (the annotation " + AnnotationPolicy + " or the policy file)"
		}
		return "its policy names no issuer, and its hostnames need Certificates" + unknownAside(g.policy.unknown),
			first + ", or certificates: ListenersOnly with a cert-manager issuer annotation on the Gateway"
	case !r.policies.allows(issuer):
		return fmt.Sprintf("its policy asks for %s %s, and no Certificates may be made by that", cmp.Or(issuer.Kind, "Issuer"), issuer.Name),
			"name one of the allowed issuers: " + strings.Join(r.policies.AllowedIssuers, ", ")
	}
	return "", ""
}

// nobodyIssues refuses a new claim for which the policy has no issuer, although
// it has some for others: it must not cost those theirs. What lives by such an
// issuer, and a policy without any, is an error of the whole parent, which keeps
// it as it is.
func (r *run) nobodyIssues(g *gateway, hostname string) (answer, bool) {
	message, fix := r.issuerProblem(g, hostname)
	if message == "" || !r.snapshot.Complete || len(g.policy.Issuers) == 0 || r.hasCertificate(g, hostname) {
		return answer{}, false
	}
	return refuse(ReasonUnsupported, "%s for %s: %s; %s", g, hostname, message, fix), true
}

// issues is nobodyIssues for a hostname that is served all the same.
func (r *run) issues(g *gateway, hostname string) bool {
	_, refused := r.nobodyIssues(g, hostname)
	return !refused
}

// hasCertificate says whether a Certificate of ours for the hostname is there.
func (r *run) hasCertificate(g *gateway, hostname string) bool {
	return r.hasOurs(ObjectName{g.Namespace, CertificateName(g.Kind, g.Name, hostname)})
}

// hasOurs says whether a Certificate of ours is there.
func (r *run) hasOurs(name ObjectName) bool {
	if r.ourCertificates == nil {
		r.ourCertificates = map[ObjectName]bool{}
		for _, c := range r.by.ours {
			r.ourCertificates[ObjectName{c.Namespace, c.Name}] = true
		}
	}
	return r.ourCertificates[name]
}
