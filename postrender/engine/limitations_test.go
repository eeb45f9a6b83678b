package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
)

// The tests below show that gatewright has none of the seven limitations that
// the operator before it, which turned Certificates into listeners, recorded of
// itself.

const limitationsInput = `
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
---
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: ["a.example.com", "*.w.example.com"]}
---
kind: HTTPRoute
metadata: {name: other, namespace: app}
spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [b.example.com]}
---
kind: Certificate
metadata: {name: web, namespace: infra, annotations: {gateway-cert-operator.io/gateway-name: edge, gateway-cert-operator.io/listener-port: "8443"}}
spec: {secretName: web-tls, dnsNames: [c.example.com]}
`

func planOf(t testing.TB, input string, keys Keys) *Plan {
	t.Helper()
	snapshot := &Snapshot{}
	for _, object := range parseObjects(t, input) {
		if err := snapshot.Decode(object, Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Compute(snapshot, PolicySources{Flags: keys})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func issuer() Keys { return Keys{"issuerRef": map[string]any{"name": "le"}} }

// 1: the annotation for the port was dead.
func TestPortAnnotationIsRead(t *testing.T) {
	for _, l := range planOf(t, limitationsInput, issuer()).Gateways[0].Listeners {
		if l.Hostname == "c.example.com" && l.Port == 8443 {
			return
		}
	}
	t.Error("no listener has the port of the annotation")
}

// 2: a setting was parsed and then not used. Every policy key changes what is
// rendered for some input, or what becomes of Secrets.
func TestEveryPolicyKeyHasAnEffect(t *testing.T) {
	values := map[string]any{
		"issuerRef":           map[string]any{"name": "other"},
		"certificates":        ListenersOnly,
		"apex":                "other.test",
		"attach":              map[string]any{"from": "All"},
		"claims":              ClaimsOptedIn,
		"hostnames":           map[string]any{"allow": []any{"other.test"}},
		"wildcards":           []any{"*.w.example.com"},
		"cover":               CoverExact,
		"http":                map[string]any{"redirect": true},
		"acmeNamespaces":      []any{"acme"},
		"httpsPort":           9443,
		"tlsOptions":          map[string]any{"example.com/option": "x"},
		"certificateTemplate": map[string]any{"duration": "2160h"},
		"maxListeners":        2,
		"issuers":             []any{map[string]any{"hostnames": []any{"a.example.com"}, "issuerRef": map[string]any{"name": "x"}}},
		"childApexes":         []any{"kid.test"},
		"secretName":          "wild-tls",
		"hostnameOwnership":   OneNamespace,
		"passthrough":         []any{map[string]any{"name": "db", "port": 5432, "hostname": "db.example.com"}},
		"withdraw":            "Served",
		"priorityNamespaces":  []any{"app"},

		"maxListenersPerNamespace": 1,
		"secretRetention":          "Delete",
	}
	// Some keys speak only beside others.
	beside := map[string]Keys{
		"childApexes":        {"apex": "example.com", "certificates": Wildcard},
		"secretName":         {"apex": "example.com", "certificates": ExistingSecret, "secretName": "other-tls"},
		"withdraw":           {"passthrough": []any{map[string]any{"name": "db", "port": 5432, "hostname": "t.example.com"}}},
		"hostnameOwnership":  {"attach": map[string]any{"from": "All"}},
		"priorityNamespaces": {"hostnameOwnership": OneNamespace, "attach": map[string]any{"from": "All"}},
	}
	for _, key := range policyKeys() {
		keys := Keys{}
		maps.Copy(keys, beside[key])
		base := everything(t, keys)
		keys[key] = values[key]
		if got := everything(t, keys); got == base {
			t.Errorf("%s changes nothing", key)
		}
	}
}

// racing is an input for keys that only a complete snapshot obeys.
const racing = `
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
---
kind: HTTPRoute
metadata: {name: first, namespace: aaa}
spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [t.example.com]}
---
kind: HTTPRoute
metadata: {name: second, namespace: app}
spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [t.example.com]}
---
kind: HTTPRoute
metadata: {name: own, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [t.example.com, u.example.com]}
---
kind: TLSRoute
metadata: {name: db, namespace: infra}
spec: {parentRefs: [{name: edge, sectionName: tls-db}], hostnames: [t.example.com], rules: [{backendRefs: [{name: db, port: 5432}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: infra}
`

// everything prints all that a policy key may reach: the limitations' input and
// two Gateways that some keys need.
func everything(t testing.TB, keys Keys) string {
	inputs := []string{
		limitationsInput,
		racing,
		strings.Replace(limitationsInput, "[{name: http, port: 80, protocol: HTTP}]", "[]", 1),
		strings.Replace(limitationsInput, "[{name: http, port: 80, protocol: HTTP}]", "[{name: all, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: x}]}}]", 1),
	}
	all := issuer()
	for key, value := range keys {
		all[key] = value
	}
	var b strings.Builder
	sources := PolicySources{Flags: all}
	fmt.Fprintln(&b, sources.SecretRetention("infra", "edge"))
	for _, input := range inputs {
		snapshot := &Snapshot{Complete: strings.Contains(input, "TLSRoute")}
		for _, object := range parseObjects(t, input) {
			if err := snapshot.Decode(object, Origin{}); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := Compute(snapshot, sources)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		for _, g := range plan.Gateways {
			for _, l := range g.Listeners {
				fmt.Fprintln(&b, compact(l.Object()))
			}
		}
		for _, c := range plan.Certificates {
			fmt.Fprintln(&b, compact(c.Object()))
		}
		fmt.Fprintln(&b, printPlan(plan))
	}
	return b.String()
}

// 3: a deleted Certificate left its listener behind, for ever if it was the last.
func TestWithdrawnClaimTakesItsListenerAway(t *testing.T) {
	plan := planOf(t, `
kind: Gateway
metadata: {name: edge, namespace: infra, annotations: {gatewright.dev/rendered: '{"version":"v1alpha1","listeners":["`+ListenerName("gone.example.com", 443)+`"]}'}}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}, {name: `+ListenerName("gone.example.com", 443)+`, hostname: gone.example.com, port: 443, protocol: HTTPS}]}
`, issuer())
	if got := plan.Gateways[0].Listeners; len(got) != 1 || got[0].Action != Remove {
		t.Errorf("listeners: %+v", got)
	}
}

// 4: only some fields were compared, so drift in the others stayed.
func TestDriftInAnyFieldIsSeen(t *testing.T) {
	name, secret := ListenerName("a.example.com", 443), CertificateName(KindGateway, "edge", "a.example.com")
	good := `{name: ` + name + `, hostname: a.example.com, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: Same}}, tls: {mode: Terminate, certificateRefs: [{group: "", kind: Secret, name: ` + secret + `}]}}`
	tests := []struct{ name, old, now string }{
		{"nothing", "", ""},
		{"protocol", "protocol: HTTPS", "protocol: HTTP"},
		{"port", "port: 443", "port: 444"},
		{"hostname", "hostname: a.", "hostname: b."},
		{"allowedRoutes", "from: Same", "from: All"},
		{"options", "mode: Terminate", "mode: Terminate, options: {x/y: z}"},
		{"second certificateRef", secret + "}]", secret + "}, {group: \"\", kind: Secret, name: more}]"},
		{"kind of the certificateRef", "kind: Secret", "kind: Widget"},
		{"group of the certificateRef", `group: ""`, "group: core"},
	}
	for _, test := range tests {
		plan := planOf(t, `
kind: Gateway
metadata: {name: edge, namespace: infra, annotations: {gatewright.dev/rendered: '{"version":"v1alpha1","listeners":["`+name+`"]}'}}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}, `+strings.Replace(good, test.old, test.now, 1)+`]}
---
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com]}
`, issuer())
		want := Update
		if test.old == "" {
			want = Keep
		}
		if got := plan.Gateways[0].Listeners[0].Action; got != want {
			t.Errorf("%s: %s, want %s", test.name, got, want)
		}
	}
}

// 5: a Gateway that does not exist was looked for without end and without a
// word to the user.
func TestMissingGatewayIsSaid(t *testing.T) {
	plan := planOf(t, strings.ReplaceAll(limitationsInput, "gateway-name: edge", "gateway-name: typo"), issuer())
	for _, f := range plan.Findings {
		if f.Code == CodeGatewayElsewhere && strings.Contains(f.Message, "infra/typo") {
			return
		}
	}
	t.Errorf("no finding names the missing Gateway: %+v", plan.Findings)
}

// 6: two replicas would have fought. Runs share no state, and the same input
// gives the same bytes in each.
func TestRunsDoNotMeet(t *testing.T) {
	want, _ := json.Marshal(planOf(t, limitationsInput, issuer()))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got, _ := json.Marshal(planOf(t, limitationsInput, issuer())); string(got) != string(want) {
				t.Errorf("another run gave\n%s\nnot\n%s", got, want)
			}
		})
	}
	group.Wait()
}

// 7: names held a *, collided, or were cut to the same text.
func TestNamesOfAllClaimsDiffer(t *testing.T) {
	long := strings.Repeat("x", 60) + "." + strings.Repeat("y", 60) + "." + strings.Repeat("z", 60) + "." + strings.Repeat("w", 50) + "."
	hostnames := []string{"*.example.com", "wildcard.example.com", "a.b.com", "a-b.com", "a-b-com", "b-c.com", "c.com", long + "one.example", long + "two.example"}
	seen := map[string]string{}
	for _, hostname := range hostnames {
		for _, name := range []string{ListenerName(hostname, 443), CertificateName(KindGateway, "a", hostname), CertificateName(KindGateway, "a-b", hostname)} {
			if other, taken := seen[name]; taken || !dnsLabel.MatchString(name) {
				t.Errorf("%s of %s (also %q)", name, hostname, other)
			}
			seen[name] = hostname
		}
	}
}
