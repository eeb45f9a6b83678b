package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a plan says beside the listeners: why something is in it, and what stands
// in an object that no case prints.

const saidGateway = "kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {listeners: [{name: http, port: 80, protocol: HTTP}]}\n"

func saidRoute(name, hostnames string) string {
	return fmt.Sprintf("---\nkind: HTTPRoute\nmetadata: {name: %s, namespace: infra}\nspec: {parentRefs: [{name: edge}], hostnames: [%s]}\n", name, hostnames)
}

// TestReasonsNameWhoAsks: a listener and its Certificate name the object that
// asks for them, or the first of several and how many more there are.
func TestReasonsNameWhoAsks(t *testing.T) {
	input := saidGateway + saidRoute("one", "a.example.com, b.example.com, c.example.com") + saidRoute("aa", "b.example.com, c.example.com") + saidRoute("zz", "c.example.com")
	plan := planOf(t, input, issuer())
	got := map[string]string{}
	for _, l := range plan.Gateways[0].Listeners {
		got["listener "+l.Hostname] = l.Reason
	}
	for _, c := range plan.Certificates {
		got["Certificate "+c.DNSNames[0]] = c.Reason
	}
	want := map[string]string{
		"listener a.example.com":    "HTTPRoute infra/one",
		"listener b.example.com":    "HTTPRoute infra/aa and 1 more",
		"listener c.example.com":    "HTTPRoute infra/aa and 2 more",
		"Certificate a.example.com": "HTTPRoute infra/one",
		"Certificate b.example.com": "HTTPRoute infra/aa and 1 more",
		"Certificate c.example.com": "HTTPRoute infra/aa and 2 more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// TestReasonOfTwoPorts: a hostname on two ports has one Certificate, whose reason
// does not depend on which of them comes first.
func TestReasonOfTwoPorts(t *testing.T) {
	web := func(name, port string) string {
		return fmt.Sprintf("---\nkind: HTTPRoute\nmetadata: {name: %s, namespace: infra}\nspec: {parentRefs: [{name: edge, port: %s}], hostnames: [a.example.com]}\n", name, port)
	}
	keys := issuer()
	for _, first := range []string{"aa", "zz"} {
		second := map[string]string{"aa": "zz", "zz": "aa"}[first]
		plan := planOf(t, saidGateway+web(first, "443")+web(second, "443"), keys)
		if got := plan.Certificates[0].Reason; got != "HTTPRoute infra/aa and 1 more" {
			t.Errorf("%s before %s: %s", first, second, got)
		}
	}
}

// TestGatewayAction: a Gateway is written if a listener changes, or what is
// recorded of its policy, and else it is not.
func TestGatewayAction(t *testing.T) {
	rendered := func(value string) string {
		return strings.Replace(saidGateway, "namespace: infra}", "namespace: infra, annotations: {gatewright.dev/rendered: '"+value+"'}}", 1)
	}
	first := planOf(t, saidGateway, issuer()).Gateways[0]
	tests := []struct {
		name, input string
		want        Action
	}{
		{"the policy is new", saidGateway, Update},
		{"nothing changes", rendered(first.Rendered), Keep},
		{"another policy is recorded", rendered(`{"version":"v1alpha1"}`), Update},
		{"a listener comes", rendered(first.Rendered) + saidRoute("shop", "a.example.com"), Update},
	}
	for _, tt := range tests {
		if got := planOf(t, tt.input, issuer()).Gateways[0].Action; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestGatewayActionInCluster: there the annotation is the release's, so only
// listeners count.
func TestGatewayActionInCluster(t *testing.T) {
	for input, want := range map[string]Action{saidGateway: Keep, saidGateway + saidRoute("shop", "a.example.com"): Update} {
		snapshot := &Snapshot{Complete: true}
		for _, object := range parseObjects(t, input) {
			if err := snapshot.Decode(object, Origin{}); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := Compute(snapshot, PolicySources{Flags: issuer()})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Gateways[0]; got.Action != want || got.Rendered != "" {
			t.Errorf("%s, %q recorded; want %s and nothing", got.Action, got.Rendered, want)
		}
	}
}

// TestIssuerOfCertificates: what the policy leaves out of an issuer is filled in,
// and nothing that it says is lost.
func TestIssuerOfCertificates(t *testing.T) {
	external := map[string]any{"group": "awspca.cert-manager.io", "kind": "AWSPCAClusterIssuer", "name": "private"}
	tests := []struct {
		name string
		keys Keys
		want IssuerRef
	}{
		{"a name alone", issuer(), IssuerRef{CertManagerGroup, "Issuer", "le"}},
		{"a kind", Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "le"}}, IssuerRef{CertManagerGroup, "ClusterIssuer", "le"}},
		{"another group", Keys{"issuerRef": external}, IssuerRef{"awspca.cert-manager.io", "AWSPCAClusterIssuer", "private"}},
		{"an exception", Keys{"issuerRef": map[string]any{"name": "le"}, "issuers": []any{
			map[string]any{"hostnames": []any{"b.example.com"}, "issuerRef": map[string]any{"name": "no"}},
			map[string]any{"hostnames": []any{"*.example.com"}, "issuerRef": external},
			map[string]any{"hostnames": []any{"a.example.com"}, "issuerRef": map[string]any{"name": "late"}},
		}}, IssuerRef{"awspca.cert-manager.io", "AWSPCAClusterIssuer", "private"}},
	}
	for _, tt := range tests {
		if got := planOf(t, saidGateway+saidRoute("shop", "a.example.com"), tt.keys).Certificates[0].IssuerRef; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestTLSOptions: they are copied to every computed listener that ends TLS, and
// to no other.
func TestTLSOptions(t *testing.T) {
	options := map[string]any{"example.com/minimum": "1.3"}
	for _, mode := range []string{PerHostname, Wildcard, ExistingSecret, Edge} {
		keys := Keys{"issuerRef": map[string]any{"name": "le"}, "certificates": mode, "apex": "example.com", "tlsOptions": options, "http": map[string]any{"port": 8080, "listener": true}}
		if mode == ExistingSecret {
			keys["secretName"] = "wild"
		}
		if mode != Edge {
			keys["passthrough"] = []any{map[string]any{"name": "db", "port": 5432, "hostname": "db.example.com"}}
		}
		seen := 0
		for _, l := range planOf(t, saidGateway+saidRoute("shop", "a.example.com"), keys).Gateways[0].Listeners {
			tls, _ := jsonMap(l.Object())["tls"].(map[string]any)
			if want := l.Protocol == "HTTPS"; (tls["options"] != nil) != want || (want && !cmp.Equal(tls["options"], any(options))) {
				t.Errorf("%s: listener %s has options %v", mode, l.Name, tls["options"])
			}
			seen++
		}
		if seen < 2 {
			t.Errorf("%s: only %d listeners", mode, seen)
		}
	}
}

// TestServerSpeaksFirst: the ports of protocols in which the client waits, and
// their neighbours over TLS in which it does not.
func TestServerSpeaksFirst(t *testing.T) {
	first := []int{21, 22, 25, 110, 119, 143, 587, 2525, 3306, 4190, 5900}
	for _, port := range append([]int{20, 23, 26, 111, 443, 465, 563, 853, 990, 993, 995, 5432, 6379, 8443}, first...) {
		input := fmt.Sprintf("kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {listeners: [{name: x, hostname: a.example.com, port: %d, protocol: TLS, tls: {mode: Passthrough}}]}\n", port)
		got := slices.ContainsFunc(planOf(t, input, issuer()).Findings, func(f Finding) bool { return f.Code == CodeServerSpeaksFirst })
		if want := slices.Contains(first, port); got != want {
			t.Errorf("port %d: found %v, want %v", port, got, want)
		}
	}
}

// TestNoCommonName: no Certificate has one, in any mode, and no name stands twice
// among its dnsNames or makes two listeners, however often the policy names it.
func TestNoCommonName(t *testing.T) {
	for _, mode := range []string{PerHostname, Wildcard} {
		keys := Keys{"issuerRef": map[string]any{"name": "le"}, "certificates": mode, "apex": "example.com",
			"childApexes": []any{"a.example.com", "x.test", "a.example.com", "x.test", "example.com"}}
		plan := planOf(t, saidGateway+saidRoute("one", "a.example.com, A.example.com.")+saidRoute("two", "a.example.com"), keys)
		if len(plan.Certificates) != 1 {
			t.Fatalf("%s: %d Certificates, want 1", mode, len(plan.Certificates))
		}
		spec := jsonMap(plan.Certificates[0].Object())["spec"].(map[string]any)
		names := plan.Certificates[0].DNSNames
		listeners := map[string]bool{}
		for _, l := range plan.Gateways[0].Listeners {
			if listeners[l.Name] {
				t.Errorf("%s: two listeners are called %s", mode, l.Name)
			}
			listeners[l.Name] = true
		}
		if spec["commonName"] != nil || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			t.Errorf("%s: commonName %v, dnsNames %v", mode, spec["commonName"], names)
		}
	}
}

// TestCertificateTemplateFields: every field of the template reaches the
// Certificate, beside what gatewright writes itself.
func TestCertificateTemplateFields(t *testing.T) {
	template := map[string]any{
		"duration": "2160h", "renewBefore": "360h", "revisionHistoryLimit": 3, "usages": []any{"server auth"},
		"privateKey":     map[string]any{"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always", "encoding": "PKCS8"},
		"labels":         map[string]any{"team": "a"},
		"annotations":    map[string]any{"note": "b"},
		"secretTemplate": map[string]any{"labels": map[string]any{"copy": "c"}, "annotations": map[string]any{"reflect": "d"}},
	}
	plan := planOf(t, saidGateway+saidRoute("shop", "a.example.com"), Keys{"issuerRef": map[string]any{"name": "le"}, "certificateTemplate": template})
	c := plan.Certificates[0]
	name := CertificateName(KindGateway, "edge", "a.example.com")
	want := map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
		"metadata": map[string]any{
			"name": name, "namespace": "infra",
			"labels": map[string]any{"team": "a", LabelFor: "edge"},
			"annotations": map[string]any{"note": "b", "acme.cert-manager.io/http01-parentrefkind": "Gateway",
				"acme.cert-manager.io/http01-parentrefname": "edge"},
		},
		"spec": map[string]any{
			"dnsNames": []any{"a.example.com"}, "secretName": name,
			"issuerRef": map[string]any{"group": "cert-manager.io", "kind": "Issuer", "name": "le"},
			"duration":  "2160h0m0s", "renewBefore": "360h0m0s", "revisionHistoryLimit": 3.0, "usages": []any{"server auth"},
			"privateKey": map[string]any{"algorithm": "ECDSA", "size": 256.0, "rotationPolicy": "Always", "encoding": "PKCS8"},
			"secretTemplate": map[string]any{"labels": map[string]any{"copy": "c", LabelFor: "edge"},
				"annotations": map[string]any{"reflect": "d"}},
		},
	}
	if diff := cmp.Diff(want, jsonMap(c.Object())); diff != "" {
		t.Errorf("Certificate (-want +got):\n%s", diff)
	}
}

// TestWaitingListenerObeys: a listener that goes on with its Secret until another
// is ready obeys the policy in all else, at once: whom it admits is not to wait
// for a certificate that may never come.
func TestWaitingListenerObeys(t *testing.T) {
	name, old := ListenerName("example.com", 443), CertificateName(KindGateway, "edge", "example.com")
	live := fmt.Sprintf("{name: %s, hostname: example.com, port: 443, protocol: HTTPS, tls: {mode: Terminate, certificateRefs: [{group: '', kind: Secret, name: %s}]}, allowedRoutes: {namespaces: {from: All}}}", name, old)
	snapshot := &Snapshot{Complete: true}
	for _, object := range parseObjects(t, "kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {listeners: ["+live+"]}\n") {
		if err := snapshot.Decode(object, Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	snapshot.Gateways[0].Listeners[0].Owned = true
	plan, err := Compute(snapshot, PolicySources{Flags: Keys{"issuerRef": map[string]any{"name": "le"}, "certificates": Wildcard, "apex": "example.com", "tlsOptions": map[string]any{"example.com/minimum": "1.3"}}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(plan.Gateways[0].Listeners, func(l Listener) bool { return l.Name == name })
	got := plan.Gateways[0].Listeners[i]
	want := map[string]any{
		"name": name, "hostname": "example.com", "port": 443.0, "protocol": "HTTPS",
		"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "Same"}},
		"tls": map[string]any{"mode": "Terminate", "options": map[string]any{"example.com/minimum": "1.3"},
			"certificateRefs": []any{map[string]any{"group": "", "kind": "Secret", "name": old}}},
	}
	if diff := cmp.Diff(want, jsonMap(got.Object())); diff != "" || got.Action != Update {
		t.Errorf("%s of the listener (-want +got):\n%s", got.Action, diff)
	}
}
