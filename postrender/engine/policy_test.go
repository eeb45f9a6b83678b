package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schema returns the compiled schema and the one of a single entry, decoded.
func schema(t *testing.T) (compiled *jsonschema.Schema, entry map[string]any) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(PolicySchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("policy.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err = compiler.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled, document.(map[string]any)["$defs"].(map[string]any)["entry"].(map[string]any)["properties"].(map[string]any)
}

func TestSchemaHasTheKeysOfThePolicy(t *testing.T) {
	_, entry := schema(t)
	got := slices.Sorted(maps.Keys(entry))
	got = slices.DeleteFunc(got, func(key string) bool { return key == "match" })
	if diff := cmp.Diff(policyKeys(), got); diff != "" {
		t.Errorf("keys of the schema (-policy +schema):\n%s", diff)
	}
	defaults := jsonMap(DefaultPolicy())
	for _, key := range got {
		property := entry[key].(map[string]any)
		if property["description"] == nil {
			t.Errorf("%s has no description", key)
		}
		value, scalar := defaults[key].(string)
		if scalar && property["default"] != value {
			t.Errorf("the default of %s is %v, and %v in the schema", key, value, property["default"])
		}
	}
}

// TestSchemaAndParserAgree: what one refuses the other does not accept.
func TestSchemaAndParserAgree(t *testing.T) {
	compiled, _ := schema(t)
	tests := []struct {
		name, entry string
		ok          bool
	}{
		{"all keys that work", `{match: {namespace: infra, name: "*"}, issuerRef: {kind: ClusterIssuer, name: le}, certificates: PerHostname, attach: {from: List, namespaces: [a]},
			claims: OptedIn, hostnames: {allow: ["*.example.com"], perNamespace: {a: ["*.a.example.com"]}}, apex: example.com, wildcards: ["*.w.example.com"], cover: Exact,
			http: {listener: true, redirect: false, port: 8000}, acmeNamespaces: [acme], httpsPort: 8443, tlsOptions: {a/b: c}, maxListeners: 10,
			certificateTemplate: {duration: 2160h, renewBefore: 360h, privateKey: {algorithm: ECDSA, size: 256, rotationPolicy: Always}, usages: [server auth], revisionHistoryLimit: 2,
			labels: {a: b}, annotations: {a: b}, secretTemplate: {labels: {a: b}, annotations: {a: b}}}}`, true},
		{"issuer of another group", `{issuerRef: {group: awspca.cert-manager.io, kind: AWSPCAClusterIssuer, name: ca}}`, true},
		{"issuer whose kind is misspelt", `{issuerRef: {kind: clusterissuer, name: le}}`, false},
		{"issuer whose kind needs a group", `{issuers: [{hostnames: [a.example.com], issuerRef: {kind: AWSPCAClusterIssuer, name: ca}}]}`, false},
		{"issuer without a name", `{issuerRef: {kind: ClusterIssuer}}`, false},
		{"issuer whose name cannot be", `{issuerRef: {name: Lets Encrypt}}`, false},
		{"defaults", `{httpsPort: Auto, http: {listener: Auto}}`, true},
		{"unknown key", `{issuerref: {name: le}}`, false},
		{"unknown nested key", `{http: {lisener: true}}`, false},
		{"unknown key of match", `{match: {nam: edge}}`, false},
		{"bad enum", `{certificates: All}`, false},
		{"bad switch", `{http: {listener: "yes"}}`, false},
		{"bad port", `{httpsPort: 70000}`, false},
		{"bad number", `{maxListeners: 65}`, false},
		{"bad list", `{wildcards: "*.example.com"}`, false},
		{"bad from", `{attach: {from: Everyone}}`, false},
	}
	for _, test := range tests {
		file := "apiVersion: gatewright.dev/v1alpha1\nkind: Policy\ngateways: [" + test.entry + "]\n"
		_, err := ParsePolicyFile("policy.yaml", []byte(file))
		if (err == nil) != test.ok {
			t.Errorf("%s: the parser says %v", test.name, err)
		}
		data, convertErr := yaml.YAMLToJSON([]byte(file))
		if convertErr != nil {
			t.Fatal(convertErr)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != test.ok {
			t.Errorf("%s: the schema says %v", test.name, err)
		}
	}
}

// TestPolicyTextIsOneDocument: what a decoder would pass over is an error.
func TestPolicyTextIsOneDocument(t *testing.T) {
	const head = "apiVersion: gatewright.dev/v1alpha1\nkind: Policy\n"
	tests := []struct {
		text string
		ok   bool
	}{
		{head + "gateways: []\n", true},
		{"# a comment\n" + head + "gateways: []\n", true},
		{"---\n" + head + "gateways: []\n---\n", true},
		{head + "gateways: []\n---\nkind: Other\n", false},
		{"---\n" + head + "gateways: []\n--- # more\nkind: Other\n", false},
		{head + "gateways: []\ngateways: []\n", false},
	}
	for _, test := range tests {
		if _, err := ParsePolicyFile("policy.yaml", []byte(test.text)); (err == nil) != test.ok {
			t.Errorf("%q: %v", test.text, err)
		}
	}
	for _, annotation := range []string{"issuerRef: {name: a}\n---\nclaims: OptedIn\n", "claims: All\nclaims: OptedIn\n"} {
		snapshot := &Snapshot{Gateways: []*Gateway{{Meta: Meta{Kind: KindGateway, Name: "edge", Annotations: map[string]string{AnnotationPolicy: annotation}}}}}
		if _, err := Compute(snapshot, PolicySources{}); err == nil {
			t.Errorf("annotation %q is accepted", annotation)
		}
	}
}

// TestHolderKeepsItsHostname: the namespace that held a hostname keeps it, also
// while its claim is only just gone. The caller says how long.
func TestHolderKeepsItsHostname(t *testing.T) {
	route := func(namespace string) *Route {
		return &Route{Meta: Meta{Kind: KindHTTPRoute, Namespace: namespace, Name: "shop"}, Hostnames: []string{"a.example.com"},
			Parents: []ParentRef{{Group: GatewayGroup, Kind: KindGateway, Namespace: "infra", Name: "edge"}}}
	}
	keys := issuer()
	keys["attach"], keys["hostnameOwnership"] = map[string]any{"from": "All"}, OneNamespace
	tests := []struct {
		holder string
		routes []*Route
		want   string
	}{
		{"", []*Route{route("app"), route("web")}, "app"},
		{"web", []*Route{route("app"), route("web")}, "web"},
		{"web", []*Route{route("app")}, ""},
	}
	for _, test := range tests {
		snapshot := &Snapshot{Complete: true, Routes: test.routes, Gateways: []*Gateway{{
			Meta: Meta{Kind: KindGateway, Namespace: "infra", Name: "edge"}, Listeners: []SourceListener{{Name: "http", Port: 80, Protocol: "HTTP"}},
			Holders: map[string]string{"a.example.com": test.holder},
		}}}
		plan, err := Compute(snapshot, PolicySources{Flags: keys})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range plan.Verdicts {
			if v.Accepted {
				got = v.Namespace
			}
		}
		if got != test.want {
			t.Errorf("holder %q: %q has the hostname, want %q", test.holder, got, test.want)
		}
	}
}

func TestRenderedRecordsWhatDiffersFromTheDefaults(t *testing.T) {
	plan := planOf(t, limitationsInput, Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "le"}, "cover": CoverAny, "attach": map[string]any{"from": "All"}})
	want := `{"version":"v1alpha1","policy":{"attach":{"from":"All"},"issuerRef":{"kind":"ClusterIssuer","name":"le"}},"listeners":["` +
		ListenerName("a.example.com", 443) + `","` + ListenerName("b.example.com", 443) + `","` + ListenerName("c.example.com", 8443) + `"]}`
	if got := plan.Gateways[0].Rendered; got != want {
		t.Errorf("rendered:\n%s\nwant\n%s", got, want)
	}
}

func TestCertificateTemplate(t *testing.T) {
	keys := issuer()
	keys["certificateTemplate"] = map[string]any{
		"duration": "2160h", "renewBefore": "360h", "usages": []any{"server auth"}, "revisionHistoryLimit": 2,
		"privateKey": map[string]any{"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
		"labels":     map[string]any{"team": "a"}, "annotations": map[string]any{"note": "b"},
		"secretTemplate": map[string]any{"labels": map[string]any{"s": "t"}, "annotations": map[string]any{"u": "v"}},
	}
	got, err := yaml.Marshal(planOf(t, limitationsInput, keys).Certificates[0].Object())
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  annotations:
    acme.cert-manager.io/http01-parentrefkind: Gateway
    acme.cert-manager.io/http01-parentrefname: edge
    note: b
  labels:
    gatewright.dev/for: edge
    team: a
  name: edge-a-example-com-90fac53406be-tls
  namespace: infra
spec:
  dnsNames:
  - a.example.com
  duration: 2160h0m0s
  issuerRef:
    group: cert-manager.io
    kind: Issuer
    name: le
  privateKey:
    algorithm: ECDSA
    rotationPolicy: Always
    size: 256
  renewBefore: 360h0m0s
  revisionHistoryLimit: 2
  secretName: edge-a-example-com-90fac53406be-tls
  secretTemplate:
    annotations:
      u: v
    labels:
      gatewright.dev/for: edge
      s: t
  usages:
  - server auth
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("Certificate (-want +got):\n%s", diff)
	}
}
