package engine

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// What Let's Encrypt issues in a week: for one registered domain, and for
// exactly the same names.
const (
	weeklyPerDomain = 50
	weeklyPerNames  = 5
)

// mostNames is how many names Let's Encrypt takes in one certificate.
const mostNames = 100

// lintNames finds a certificate that holds more names than Let's Encrypt takes.
func (r *linter) lintNames(m *Meta, dnsNames []string, ref IssuerRef) {
	if len(dnsNames) <= mostNames || !r.letsEncrypt(ref, m.Namespace) {
		return
	}
	r.find(Warning, CodeTooManyNames, m, fmt.Sprintf("it holds %d names, and Let's Encrypt issues certificates of at most %d; name fewer childApexes, or use several Certificates", len(dnsNames), mostNames))
}

// tally counts the new certificates of one issuer by registered domain, and by
// the set of their names.
type tally struct{ domains, sets map[string]int }

// lintBudget warns of plans that ask for more new certificates than Let's
// Encrypt issues in a week. Issuers of one name in several namespaces are taken
// for one.
func (r *linter) lintBudget() {
	tallies := map[IssuerRef]*tally{}
	issued := r.issued()
	for i := range r.certificates {
		c := &r.certificates[i]
		there := slices.ContainsFunc(issued[c.SecretName], func(namespace string) bool { return sameNamespace(namespace, c.Namespace) != no })
		if c.Action != Add || there || !r.letsEncrypt(c.IssuerRef, c.Namespace) {
			continue
		}
		t := tallies[c.IssuerRef]
		if t == nil {
			t = &tally{map[string]int{}, map[string]int{}}
			tallies[c.IssuerRef] = t
		}
		t.add(c.DNSNames)
	}
	for issuer, t := range tallies {
		m := &Meta{Kind: issuer.kind(), Name: issuer.Name}
		for domain, count := range t.domains {
			if count <= weeklyPerDomain {
				continue
			}
			r.overBudget(m, CodeCertificateBudget, count, weeklyPerDomain, "below "+domain, "below one domain", "use certificates: Wildcard, fewer hostnames")
		}
		for names, count := range t.sets {
			if count <= weeklyPerNames {
				continue
			}
			r.overBudget(m, CodeIdenticalCertificates, count, weeklyPerNames, "for just "+names, "with the same names", "serve them on fewer Gateways")
		}
	}
}

func (t *tally) add(names []string) {
	for _, domain := range registeredDomains(names) {
		t.domains[domain]++
	}
	if len(names) > 1 {
		names = slices.Sorted(slices.Values(names))
	}
	t.sets[strings.Join(names, ", ")]++
}

func (r *linter) overBudget(issuer *Meta, code string, count, weekly int, what, limited, cure string) {
	there := ""
	if !r.snapshot.Complete {
		there = " (less those that the cluster has already)"
	}
	r.find(Warning, code, issuer, fmt.Sprintf("the plan asks for %d new certificates %s, and Let's Encrypt issues %d a week %s: %d fit, %d wait%s; %s, or add them over %d weeks",
		count, what, weekly, limited, weekly, count-weekly, there, cure, (count+weekly-1)/weekly))
}

// issued returns the namespaces of Secrets and known Certificates by name:
// cert-manager takes over what is there, and orders nothing.
func (r *linter) issued() map[string][]string {
	out := map[string][]string{}
	for _, secret := range r.snapshot.Secrets {
		out[secret.Name] = append(out[secret.Name], secret.Namespace)
	}
	for _, c := range r.snapshot.Certificates {
		if c.Known {
			out[c.SecretName] = append(out[c.SecretName], c.Namespace)
		}
	}
	return out
}

// registeredDomains returns the domains that names count for, each once. A name
// that no public registry delegates counts for none: nobody issues for it.
func registeredDomains(names []string) []string {
	var out []string
	for _, name := range names {
		name = strings.TrimPrefix(name, "*.")
		suffix, public := publicsuffix.PublicSuffix(name)
		if !public && !strings.Contains(suffix, ".") {
			continue
		}
		domain := name // a name that is a public suffix itself
		if below := len(name) - len(suffix) - 1; below > 0 {
			domain = name[strings.LastIndexByte(name[:below], '.')+1:]
		}
		if !slices.Contains(out, domain) {
			out = append(out, domain)
		}
	}
	return out
}
