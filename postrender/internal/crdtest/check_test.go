package crdtest

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// object parses a manifest.
func object(t *testing.T, manifest string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &out); err != nil {
		t.Fatalf("%v in\n%s", err, manifest)
	}
	return out
}

// gateway is a manifest of a Gateway with listeners in YAML flow style.
func gateway(listeners ...string) string {
	return listening("Gateway", "gatewayClassName: traefik", listeners)
}

// listenerSet is the same for a ListenerSet.
func listenerSet(listeners ...string) string {
	return listening("ListenerSet", "parentRef: {name: edge}", listeners)
}

func listening(kind, spec string, listeners []string) string {
	return fmt.Sprintf(`{apiVersion: gateway.networking.k8s.io/v1, kind: %s,
metadata: {name: edge, namespace: infra}, spec: {%s, listeners: [%s]}}`, kind, spec, strings.Join(listeners, ",\n"))
}

const (
	plain = `{name: http, port: 80, protocol: HTTP}`
	https = `{name: https-a, hostname: a.example.com, port: 443, protocol: HTTPS,
tls: {mode: Terminate, certificateRefs: [{group: "", kind: Secret, name: a-tls}]},
allowedRoutes: {namespaces: {from: Same}}}`
	passthrough = `{name: tls-b, hostname: b.example.com, port: 443, protocol: TLS, tls: {mode: Passthrough}}`
)

// plains returns n plain listeners on ports of their own.
func plains(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("{name: l%d, port: %d, protocol: HTTP}", i, 1000+i))
	}
	return out
}

// refusal is a manifest and a part of the server's answer; "" means accepted.
type refusal struct {
	name, manifest, want string
}

func checkAll(t *testing.T, tests []refusal, check func(map[string]any) error) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, check(object(t, tt.manifest)), tt.want)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want an error with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q lacks %q", err, want)
	}
}

func TestListeners(t *testing.T) {
	tests := []refusal{
		{"plain, terminate and passthrough", gateway(plain, https, passthrough), ""},
		{"the same in a ListenerSet", listenerSet(plain, https, passthrough), ""},
		{"64", gateway(plains(64)...), ""},
		{"65", gateway(plains(65)...), "spec.listeners: Too many: 65: must have at most 64 items"},
		{"65 in a ListenerSet", listenerSet(plains(65)...), "spec.listeners: Too many: 65"},
		{"none", gateway(), "should have at least 1 items"},
		{"HTTPS with passthrough", gateway(`{name: x, port: 443, protocol: HTTPS, tls: {mode: Passthrough}}`),
			"tls mode must be Terminate for protocol HTTPS"},
		{"HTTPS without tls: known gap", gateway(`{name: x, port: 443, protocol: HTTPS}`), ""},
		{"HTTP with tls", gateway(`{name: x, port: 80, protocol: HTTP, tls: {certificateRefs: [{name: s}]}}`),
			"tls must not be specified for protocols"},
		{"TLS without tls", gateway(`{name: x, port: 443, protocol: TLS}`), "tls mode must be set for protocol TLS"},
		{"terminate without Secret", gateway(`{name: x, port: 443, protocol: HTTPS, tls: {mode: Terminate, certificateRefs: []}}`),
			"certificateRefs or options must be specified when mode is Terminate"},
		{"TCP with hostname", gateway(`{name: x, port: 1, protocol: TCP, hostname: a.example.com}`),
			"hostname must not be specified for protocols"},
		{"same name twice", gateway(plain, `{name: http, port: 81, protocol: HTTP}`), "Duplicate value"},
		{"same port, protocol and hostname twice", gateway(https, strings.Replace(https, "https-a", "https-b", 1)),
			"Combination of port, protocol and hostname must be unique for each listener"},
		{"HTTPS and TLS for one hostname: known gap", gateway(https, strings.Replace(passthrough, "b.example", "a.example", 1)), ""},
		{"wildcard as a name", gateway(`{name: "*.example.com", port: 80, protocol: HTTP}`), "spec.listeners[0].name"},
		{"wildcard hostname", gateway(`{name: x, port: 80, protocol: HTTP, hostname: "*.example.com"}`), ""},
		{"wildcard in the middle", gateway(`{name: x, port: 80, protocol: HTTP, hostname: "a.*.com"}`), "spec.listeners[0].hostname"},
		{"upper case hostname", gateway(`{name: x, port: 80, protocol: HTTP, hostname: A.example.com}`), "spec.listeners[0].hostname"},
		{"empty hostname", gateway(`{name: x, port: 80, protocol: HTTP, hostname: ""}`), "spec.listeners[0].hostname"},
		{"null hostname", gateway(`{name: x, port: 80, protocol: HTTP, hostname: null}`), ""},
		{"IP hostname: known gap", gateway(`{name: x, port: 80, protocol: HTTP, hostname: 1.2.3.4}`), ""},
		{"no port in a ListenerSet", listenerSet(`{name: x, protocol: HTTP}`), "spec.listeners[0].port: Required value"},
		{"port as a string", gateway(`{name: x, port: "80", protocol: HTTP}`), "must be of type integer"},
		{"from None", gateway(`{name: x, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: None}}}`),
			`Unsupported value: "None"`},
		{"unknown field", gateway(`{name: x, port: 80, protocol: HTTP, host: a.example.com}`),
			"unknown fields: spec.listeners[0].host"},
	}
	checkAll(t, tests, Check)
}

func TestOtherKinds(t *testing.T) {
	grant := `{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: g, namespace: app},
spec: {from: [%s], to: [{group: "", kind: Secret, name: s}]}}`
	from := `{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}`
	tlsRoute := `{apiVersion: gateway.networking.k8s.io/%s, kind: TLSRoute, metadata: {name: r}, spec: {parentRefs: [{name: edge}],
hostnames: [%s], rules: [{backendRefs: [{name: db, port: 5432}]}]}}`
	httpRoute := `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [%s],
rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: %d}}]}]}}`
	tests := []refusal{
		{"grant", fmt.Sprintf(grant, from), ""},
		{"grant, v1", strings.Replace(fmt.Sprintf(grant, from), "v1beta1", "v1", 1), ""},
		{"grant, 16 from", fmt.Sprintf(grant, strings.Repeat(from+",", 16)), ""},
		{"grant, 17 from", fmt.Sprintf(grant, strings.Repeat(from+",", 17)), "spec.from: Too many: 17"},
		{"grant, none", fmt.Sprintf(grant, ""), "spec.from"},
		{"grant, no namespace", fmt.Sprintf(grant, `{group: gateway.networking.k8s.io, kind: Gateway}`),
			"spec.from[0].namespace: Required value"},
		{"TLSRoute", fmt.Sprintf(tlsRoute, "v1", "db.example.com"), ""},
		{"TLSRoute without hostname", fmt.Sprintf(tlsRoute, "v1", ""), "spec.hostnames"},
		{"TLSRoute with IP", fmt.Sprintf(tlsRoute, "v1", "1.2.3.4"), "Hostnames cannot contain an IP"},
		{"TLSRoute, a version of one channel", fmt.Sprintf(tlsRoute, "v1alpha2", "db.example.com"),
			"channel standard: TLSRoute.gateway.networking.k8s.io: version v1alpha2 is not served"},
		{"redirect", fmt.Sprintf(httpRoute, "{name: edge, sectionName: http}", 301), ""},
		{"redirect, bad status", fmt.Sprintf(httpRoute, "{name: edge}", 200), `Unsupported value: 200`},
		{"parentRefs that differ in port alone", fmt.Sprintf(httpRoute, "{name: edge, port: 80}, {name: edge, port: 443}", 301),
			"channel standard:"},
		{"cluster scoped", `{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: i}, spec: {selfSigned: {}}}`, ""},
		{"core kind", `{apiVersion: v1, kind: Secret, metadata: {name: s}}`, `no definition known for the API group ""`},
	}
	checkAll(t, tests, Check)
	wantError(t, Experimental.Check(object(t, fmt.Sprintf(tlsRoute, "v1alpha2", "db.example.com"))), "")
	wantError(t, Experimental.Check(object(t, fmt.Sprintf(httpRoute, "{name: edge, port: 80}, {name: edge, port: 443}", 301))), "")
}

func TestMetadata(t *testing.T) {
	manifest := `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {%s},
spec: {gatewayClassName: traefik, listeners: [` + plain + `]}}`
	tests := []refusal{
		{"name, label, annotation", `name: a.b-c, labels: {example.com/x: y_Z}, annotations: {example.com/x: "any text"}`, ""},
		{"no name", `namespace: infra`, "metadata.name: Required value"},
		{"name in upper case", `name: Edge`, "metadata.name: Invalid value"},
		{"name too long", "name: " + strings.Repeat("a", 254), "metadata.name: Invalid value"},
		{"namespace with a dot", `name: edge, namespace: a.b`, "metadata.namespace: Invalid value"},
		{"label value too long", "name: edge, labels: {x: " + strings.Repeat("a", 64) + "}", "metadata.labels: Invalid value"},
		{"label that is a number", `name: edge, labels: {x: 1}`, "cannot unmarshal number"},
		{"annotation that is a bool", `name: edge, annotations: {x: true}`, "cannot unmarshal bool"},
		{"annotation key with two slashes", `name: edge, annotations: {a/b/c: x}`, "metadata.annotations: Invalid value"},
		{"unknown field", `name: edge, label: {}`, "unknown fields: metadata.label"},
	}
	for i := range tests {
		tests[i].manifest = fmt.Sprintf(manifest, tests[i].manifest)
	}
	checkAll(t, tests, Check)
}

// The caller's object stays as it is, defaults included.
func TestCheckLeavesTheObjectAlone(t *testing.T) {
	given := object(t, gateway(plain))
	wantError(t, Check(given), "")
	listener := given["spec"].(map[string]any)["listeners"].([]any)[0].(map[string]any)
	if _, ok := listener["allowedRoutes"]; ok {
		t.Errorf("Check filled in %v", listener)
	}
}
