package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostnamesBelow makes routes that ask for a number of hostnames below a domain.
func hostnamesBelow(domain string, count int) string {
	var b strings.Builder
	for first := 0; first < count; first += 16 {
		var names []string
		for i := first; i < min(first+16, count); i++ {
			names = append(names, fmt.Sprintf("h%d.%s", i, domain))
		}
		fmt.Fprintf(&b, "---\nkind: HTTPRoute\nmetadata: {name: %s-%d, namespace: infra}\nspec: {parentRefs: [{name: edge}], hostnames: [%s]}\n", domain, first, strings.Join(names, ", "))
	}
	return b.String()
}

func acmeIssuer(server string) string {
	return "---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: le, namespace: infra}\nspec: {acme: {server: " + server + ", solvers: [{dns01: {}}]}}\n"
}

func TestCertificateBudget(t *testing.T) {
	const gateway = "kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {listeners: [{name: http, port: 80, protocol: HTTP}]}\n"
	secret := fmt.Sprintf("---\nkind: Secret\nmetadata: {name: %[1]s, namespace: infra, annotations: {cert-manager.io/certificate-name: %[1]s}}\n", CertificateName(KindGateway, "edge", "h0.example.com"))
	rendered := "---\n" + mustJSON(planOf(t, gateway+hostnamesBelow("example.com", 1), issuer()).Certificates[0].Object()) + "\n"
	tests := []struct {
		name, input string
		want        []string
	}{
		{"51 are one too many", hostnamesBelow("example.com", 51),
			[]string{"Issuer le: the plan asks for 51 new certificates below example.com, and Let's Encrypt issues 50 a week below one domain: 50 fit, 1 wait (less those that the cluster has already); use certificates: Wildcard, fewer hostnames, or add them over 2 weeks"}},
		{"50 fit", hostnamesBelow("example.com", 50), nil},
		{"one Secret is there already", hostnamesBelow("example.com", 51) + secret, nil},
		{"one stands in the input already", hostnamesBelow("example.com", 51) + rendered, nil},
		{"two domains", hostnamesBelow("example.com", 30) + hostnamesBelow("example.org", 30), nil},
		{"subdomains of one domain", hostnamesBelow("a.example.co.uk", 30) + hostnamesBelow("b.example.co.uk", 30),
			[]string{"Issuer le: the plan asks for 60 new certificates below example.co.uk, and Let's Encrypt issues 50 a week below one domain: 50 fit, 10 wait (less those that the cluster has already); use certificates: Wildcard, fewer hostnames, or add them over 2 weeks"}},
		{"domains of a public suffix", hostnamesBelow("github.io", 60), nil},
		{"names that are not public", hostnamesBelow("cluster.internal", 60), nil},
		{"Let's Encrypt in the snapshot", hostnamesBelow("example.com", 51) + acmeIssuer("https://acme-v02.api.letsencrypt.org/directory"),
			[]string{"Issuer le: the plan asks for 51 new certificates below example.com, and Let's Encrypt issues 50 a week below one domain: 50 fit, 1 wait (less those that the cluster has already); use certificates: Wildcard, fewer hostnames, or add them over 2 weeks"}},
		{"its staging server", hostnamesBelow("example.com", 51) + acmeIssuer("https://acme-staging-v02.api.letsencrypt.org/directory"), nil},
		{"another ACME server", hostnamesBelow("example.com", 51) + acmeIssuer("https://acme.example.net/directory"), nil},
		{"an issuer that is not ACME", hostnamesBelow("example.com", 51) + "---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: le, namespace: infra}\nspec: {ca: {secretName: ca}}\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range planOf(t, gateway+tt.input, issuer()).Findings {
				if f.Code == CodeCertificateBudget {
					got = append(got, f.Object+": "+f.Message)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRegisteredDomains(t *testing.T) {
	tests := []struct {
		names, want string
	}{
		{"a.b.example.com example.com *.example.com", "example.com"},
		{"a.example.com a.example.org", "example.com example.org"},
		{"shop.example.co.uk", "example.co.uk"},
		{"me.github.io you.github.io", "me.github.io you.github.io"},
		{"github.io", "github.io"},
		{"co.uk", "co.uk"},
		{"a.example.internal db.svc.cluster.local", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(slices.Sorted(slices.Values(registeredDomains(strings.Fields(tt.names)))), " "); got != tt.want {
			t.Errorf("%s count for %q, not %q", tt.names, got, tt.want)
		}
	}
}

// TestTooManyNames: an annotated Certificate of somebody else is counted too.
func TestTooManyNames(t *testing.T) {
	for count, want := range map[int]bool{mostNames: false, mostNames + 1: true} {
		c := &Certificate{Meta: Meta{Kind: KindCertificate, Namespace: "infra", Name: "own", Annotations: map[string]string{AnnotationGateway: "edge"}}, SecretName: "own-tls"}
		for i := range count {
			c.DNSNames = append(c.DNSNames, fmt.Sprintf("n%d.example.com", i))
		}
		plan, err := Compute(&Snapshot{Certificates: []*Certificate{c}}, PolicySources{})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(plan.Findings, func(f Finding) bool { return f.Code == CodeTooManyNames && f.Object == c.String() })
		if found != want {
			t.Errorf("%d names: found %v, want %v", count, found, want)
		}
	}
}

// TestBudgetLeavesOutWhatIsKnown: a Certificate of --snapshot orders nothing anew,
// in its own namespace.
func TestBudgetLeavesOutWhatIsKnown(t *testing.T) {
	input := "kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {listeners: [{name: http, port: 80, protocol: HTTP}]}\n" + hostnamesBelow("example.com", 51)
	for namespace, want := range map[string]bool{"infra": false, "elsewhere": true} {
		snapshot := &Snapshot{}
		for _, object := range parseObjects(t, input) {
			if err := snapshot.Decode(object, Origin{}); err != nil {
				t.Fatal(err)
			}
		}
		known := jsonMap(planOf(t, input, issuer()).Certificates[0].Object())
		metadata(known)["namespace"] = namespace
		if err := snapshot.Decode(known, Origin{Known: true}); err != nil {
			t.Fatal(err)
		}
		plan, err := Compute(snapshot, PolicySources{Flags: issuer()})
		if err != nil {
			t.Fatal(err)
		}
		if found := slices.ContainsFunc(plan.Findings, func(f Finding) bool { return f.Code == CodeCertificateBudget }); found != want {
			t.Errorf("known in %s: found %v, want %v", namespace, found, want)
		}
	}
}

// TestIdenticalSets: the same names in another order are the same set, six of
// them one too many; another issuer counts for itself.
func TestIdenticalSets(t *testing.T) {
	for count, want := range map[int]bool{weeklyPerNames: false, weeklyPerNames + 1: true} {
		tally := &tally{map[string]int{}, map[string]int{}}
		for i := range count {
			names := []string{"a.example.com", "b.example.com"}
			if i%2 == 0 {
				slices.Reverse(names)
			}
			tally.add(names)
		}
		if got := tally.sets["a.example.com, b.example.com"] > weeklyPerNames; got != want {
			t.Errorf("%d of them: %v, want %v", count, tally.sets, want)
		}
		if tally.domains["example.com"] != count {
			t.Errorf("%d of them count %d for their domain", count, tally.domains["example.com"])
		}
	}
}
