package engine

import (
	"fmt"
	"testing"
)

// TestGrants: a ReferenceGrant lets a Gateway read a Secret, or a TLSRoute send
// to a Service, if all that it says of both fits, and not if anything differs.
func TestGrants(t *testing.T) {
	tests := []struct {
		name, namespace, from, to string
		secret, service           bool // whether it permits the Secret, and the Service
	}{
		{"all Secrets", "app", "gateway.networking.k8s.io Gateway infra", "'' Secret ''", true, false},
		{"the Secret by name", "app", "gateway.networking.k8s.io Gateway infra", "'' Secret web-tls", true, false},
		{"all Services", "app", "gateway.networking.k8s.io TLSRoute infra", "'' Service ''", false, true},
		{"the Service by name", "app", "gateway.networking.k8s.io TLSRoute infra", "'' Service db", false, true},
		{"in another namespace", "web", "gateway.networking.k8s.io Gateway infra", "'' Secret ''", false, false},
		{"from another group", "app", "networking.k8s.io Gateway infra", "'' Secret ''", false, false},
		{"from no group", "app", "'' TLSRoute infra", "'' Service ''", false, false},
		{"from a ListenerSet", "app", "gateway.networking.k8s.io ListenerSet infra", "'' Secret ''", false, false},
		{"from an HTTPRoute", "app", "gateway.networking.k8s.io HTTPRoute infra", "'' Service ''", false, false},
		{"from another namespace", "app", "gateway.networking.k8s.io Gateway web", "'' Secret ''", false, false},
		{"from the namespace of the Secret", "app", "gateway.networking.k8s.io Gateway app", "'' Secret ''", false, false},
		{"to another group", "app", "gateway.networking.k8s.io Gateway infra", "example.com Secret ''", false, false},
		{"to a Service of another group", "app", "gateway.networking.k8s.io TLSRoute infra", "example.com Service db", false, false},
		{"to another kind", "app", "gateway.networking.k8s.io Gateway infra", "'' Service ''", false, false},
		{"to a Secret for a route", "app", "gateway.networking.k8s.io TLSRoute infra", "'' Secret ''", false, false},
		{"to another Secret", "app", "gateway.networking.k8s.io Gateway infra", "'' Secret other-tls", false, false},
		{"to another Service", "app", "gateway.networking.k8s.io TLSRoute infra", "'' Service other", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plan := planWithGrant(t, test.namespace, test.from, test.to)
			for _, v := range plan.Verdicts {
				switch v.Kind {
				case KindCertificate:
					if want := map[bool]string{true: ReasonAccepted, false: ReasonRefNotPermitted}[test.secret]; v.Reason != want {
						t.Errorf("the Secret: %s, want %s", v.Reason, want)
					}
				case KindHTTPRoute: // is withdrawn once the TLSRoute forwards somewhere
					if v.Accepted == test.service {
						t.Errorf("the Service: the terminate listener is %s", v.Reason)
					}
				}
			}
		})
	}
}

// planWithGrant plans a Gateway of namespace infra which presents a Secret of
// namespace app, and passes a name through to a Service there.
func planWithGrant(t *testing.T, namespace, from, to string) *Plan {
	t.Helper()
	var group, kind, other, toGroup, toKind, name string
	scan(t, from, &group, &kind, &other)
	scan(t, to, &toGroup, &toKind, &name)
	input := fmt.Sprintf(`
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
---
kind: Certificate
metadata: {name: web, namespace: app, annotations: {gatewright.dev/gateway: infra/edge}}
spec: {secretName: web-tls, dnsNames: [web.example.com], issuerRef: {name: x}}
---
kind: HTTPRoute
metadata: {name: db, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [db.example.com]}
---
kind: TLSRoute
metadata: {name: db, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [db.example.com], rules: [{backendRefs: [{name: db, namespace: app, port: 5432}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: app}
---
kind: ReferenceGrant
metadata: {name: grant, namespace: %s}
spec: {from: [{group: %q, kind: %s, namespace: %s}], to: [{group: %q, kind: %s, name: %q}]}
`, namespace, group, kind, other, toGroup, toKind, name)
	snapshot := &Snapshot{Complete: true}
	for _, object := range parseObjects(t, input) {
		if err := snapshot.Decode(object, Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Compute(snapshot, PolicySources{Flags: Keys{
		"issuerRef": map[string]any{"name": "le"}, "attach": map[string]any{"from": FromAll}, "withdraw": "Served",
		"passthrough": []any{map[string]any{"name": "db", "port": 5432, "hostname": "db.example.com", "from": "Attach"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Verdicts) != 4 { // the entry of passthrough has one too
		t.Fatalf("%d verdicts: %+v", len(plan.Verdicts), plan.Verdicts)
	}
	return plan
}

// scan reads words, of which a pair of quotes is an empty one.
func scan(t *testing.T, text string, words ...*string) {
	t.Helper()
	into := make([]any, len(words))
	for i := range words {
		into[i] = words[i]
	}
	if _, err := fmt.Sscan(text, into...); err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		if *word == "''" {
			*word = ""
		}
	}
}
