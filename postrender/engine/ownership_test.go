package engine

import "testing"

// oneNamespace plans a cluster where hostnames belong to one namespace.
func oneNamespace(t *testing.T, input string, change func(*Gateway)) *Plan {
	t.Helper()
	snapshot := &Snapshot{Complete: true}
	for _, object := range parseObjects(t, input) {
		if err := snapshot.Decode(object, Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	change(snapshot.Gateways[0])
	plan, err := Compute(snapshot, PolicySources{Flags: Keys{
		"issuerRef": map[string]any{"name": "le"}, "attach": map[string]any{"from": FromAll}, "hostnameOwnership": OneNamespace,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestHandWrittenListenerForOneNamespace: whoever wrote a listener for one
// namespace decided whose the name is, whatever the sweep remembers.
func TestHandWrittenListenerForOneNamespace(t *testing.T) {
	for from, want := range map[string]string{
		`{from: Selector, selector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [web]}]}}`: ReasonAccepted,
		`{from: All}`: ReasonHostnameConflict,
	} {
		plan := oneNamespace(t, `
kind: Gateway
metadata: {name: edge, namespace: infra}
spec: {listeners: [{name: own, hostname: a.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: x}]}, allowedRoutes: {namespaces: `+from+`}}]}
---
kind: HTTPRoute
metadata: {name: shop, namespace: web}
spec: {parentRefs: [{name: edge, namespace: infra}], hostnames: [a.example.com]}
`, func(g *Gateway) { g.Holders = map[string]string{"a.example.com": "app"} })
		if got := plan.Verdicts[0].Reason; got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}

// TestServedByHandWaits: a listener whose claims a hand-written one serves now is
// stale like any other, and does not go at once.
func TestServedByHandWaits(t *testing.T) {
	name := ListenerName("a.example.com", 443)
	plan := oneNamespace(t, `
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  listeners:
  - {name: own, hostname: "*.example.com", port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: x}]}}
  - {name: `+name+`, hostname: a.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: z}]}}
---
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: edge}], hostnames: [a.example.com]}
`, func(g *Gateway) { g.Listeners[1].Owned = true })
	listeners := plan.Gateways[0].Listeners
	if len(listeners) != 1 || listeners[0].Action != Remove || listeners[0].Immediate {
		t.Errorf("listeners %+v, want %s to go, and not at once", listeners, name)
	}
}
