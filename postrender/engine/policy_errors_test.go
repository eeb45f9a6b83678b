package engine

import (
	"strings"
	"testing"
)

func TestPolicyErrorsNameTheKey(t *testing.T) {
	tests := []struct{ entry, want string }{
		{`{attach: {from: List}}`, "attach.namespaces"},
		{`{attach: {namespaces: [a]}}`, "attach.from: List"},
		{`{attach: {from: Selector}}`, "attach.selector"},
		{`{attach: {selector: {}}}`, "attach.from: Selector"},
		{`{attach: {from: All, from: Same}}`, "from"},
		{`{hostnames: {allow: ["a b"]}}`, "hostnames.allow"},
		{`{hostnames: {perNamespace: {a: ["*"]}}}`, "hostnames.perNamespace.a"},
		{`{apex: "*.example.com"}`, "apex"},
		{`{wildcards: [a.example.com]}`, "wildcards"},
		{`{http: {port: 0}}`, "http.port"},
		{`{http: {port: 443}, httpsPort: 443}`, "both 443"},
		{`{maxListeners: 0}`, "maxListeners"},
		{`{certificateTemplate: {usages: [foo]}}`, "usages"},
		{`{certificateTemplate: {privateKey: {algorithm: XX}}}`, "privateKey.algorithm"},
		{`{certificateTemplate: {privateKey: {encoding: XX}}}`, "privateKey.encoding"},
		{`{certificateTemplate: {privateKey: {rotationPolicy: XX}}}`, "privateKey.rotationPolicy"},
		{`{certificateTemplate: {privateKey: {size: 1024}}}`, "privateKey.size"},
		{`{certificateTemplate: {privateKey: {algorithm: ECDSA, size: 2048}}}`, "privateKey.size"},
		{`{certificateTemplate: {privateKey: {algorithm: Ed25519, size: 256}}}`, "privateKey.size"},
		{`{certificateTemplate: {labels: {team: "a b"}}}`, "certificateTemplate.labels.team"},
		{`{certificateTemplate: {labels: {"a b": c}}}`, "a b"},
		{`{certificateTemplate: {annotations: {"a b": c}}}`, "certificateTemplate.annotations"},
		{`{certificateTemplate: {secretTemplate: {labels: {team: "a b"}}}}`, "secretTemplate.labels.team"},
		{`{certificateTemplate: {secretTemplate: {annotations: {"a b": c}}}}`, "secretTemplate.annotations"},
		{`{tlsOptions: {"a b": c}}`, "tlsOptions"},
		{`{tlsOptions: {a: "` + strings.Repeat("x", 4097) + `"}}`, "tlsOptions.a"},
		{`{attach: {from: List, namespaces: ["a b"]}}`, "attach.namespaces"},
		{`{attach: {from: Selector, selector: {matchExpressions: [{key: a, operator: Is}]}}}`, "attach.selector"},
		{`{acmeNamespaces: [A]}`, "acmeNamespaces"},
		{`{hostnames: {perNamespace: {"a b": []}}}`, "hostnames.perNamespace"},
		{`{httpsPort: "443"}`, "neither Auto nor a number"},
		{`{http: {listener: "true"}}`, "neither Auto nor true nor false"},
		{`{secretRetention: Never}`, "secretRetention"},
		{`{secretRetention: {after: 0s}}`, "more than 0"},
		{`{secretRetention: {after: two weeks}}`, "secretRetention"},
		{`{certificateTemplate: {duration: 90d}}`, "duration"},
		{`{certificateTemplate: {duration: 30m}}`, "at least 1h"},
		{`{certificateTemplate: {renewBefore: 1m}}`, "at least 5m"},
		{`{certificateTemplate: {duration: 10h, renewBefore: 10h}}`, "not shorter"},
		{`{certificateTemplate: {renewBefore: 2160h}}`, "not shorter"},
		{`{certificateTemplate: {revisionHistoryLimit: 0}}`, "at least 1"},
		{`{certificateTemplate: {labels: {gatewright.dev/for: x}}}`, "gatewright's own label"},
		{`{certificateTemplate: {secretTemplate: {annotations: {cert-manager.io/x: z}}}}`, "cert-manager refuses"},
		{`{attach: {namespaces: a}}`, "attach.namespaces is a string, not a list"},
		{`{issuerRef: {name: 1}}`, "issuerRef.name is a number, not a string"},
		{`{issuerRef: le}`, "issuerRef is a string, not a mapping"},
		{`{issuerRef: {kind: clusterissuer, name: le}}`, `issuerRef.kind is "clusterissuer"; use Issuer or ClusterIssuer`},
		{`{issuerRef: {group: cert-manager.io, kind: Issuers, name: le}}`, `issuerRef.kind is "Issuers"`},
		{`{issuerRef: {kind: letsencrypt, name: ClusterIssuer}}`, `issuerRef.kind is "letsencrypt"`},
		{`{issuerRef: {kind: ClusterIssuer}}`, "issuerRef has no name"},
		{`{issuerRef: {name: Lets Encrypt}}`, `issuerRef.name is "Lets Encrypt"`},
		{`{issuerRef: {name: le.}}`, `issuerRef.name is "le."`},
		{`{issuers: [{hostnames: [a.example.com], issuerRef: {name: le}}, {hostnames: [b.example.com], issuerRef: {kind: issuer, name: le}}]}`, "issuers[1].issuerRef.kind"},
		{`{match: edge}`, "match"},
		{`{match: {name: 1}}`, "match.name"},
	}
	for _, test := range tests {
		_, err := ParsePolicyFile("policy.yaml", []byte("apiVersion: gatewright.dev/v1alpha1\nkind: Policy\ngateways:\n- "+test.entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "policy.yaml") {
			t.Errorf("%s: %v, want it to name %q", test.entry, err, test.want)
		}
	}
}

func TestPolicyErrorsSayWhatWasMeant(t *testing.T) {
	const head = "apiVersion: gatewright.dev/v1alpha1\nkind: Policy\n"
	const begins = "a policy file begins with apiVersion: gatewright.dev/v1alpha1, kind: Policy, gateways: and a list of entries"
	tests := []struct{ text, want string }{
		{"", "it is empty; " + begins},
		{"kind: Policy", "it is (none) Policy; " + begins},
		{"apiVersion: gatewright.dev/v2\nkind: Policy\n", "it is gatewright.dev/v2 Policy; " + begins},
		{"apiVersion: v1\nkind: ConfigMap\ndata: {}\n", "it is v1 ConfigMap; " + begins},
		{"data: {}\n", "it has no apiVersion and no kind; " + begins},
		{"issuerRef: {name: le}\n", "issuerRef belongs into an entry of gateways; " + begins},
		{head + "attach: {from: All}\n", "attach belongs into an entry of gateways"},
		{head + "match: {name: edge}\n", "match belongs into an entry of gateways"},
		{head + "gateway: []\n", "unknown key gateway; did you mean gateways?"},
		{head + "spec: []\n", "unknown key spec; " + begins},
		{head + "gateways: {name: edge}\n", "gateways is a mapping, not a list"},
		{head + "gateways: [edge]\n", `gateways[0]: it is "edge", not a mapping`},
		{"- a\n", "it is a list, not a mapping; " + begins},
		{"letsencrypt", "it is a string, not a mapping; " + begins},
		{"[", "yaml"},
		{"a: b: c", "yaml"},
		{head + "gateways: [{issuer: {name: le}}]", "unknown key issuer; did you mean issuerRef or issuers?"},
		{head + "gateways: [{isuserRef: {name: le}}]", "unknown key isuserRef; did you mean issuerRef?"},
		{head + "gateways: [{mach: {name: edge}}]", "unknown key mach; did you mean match?"},
		{head + "gateways: [{redirect: true}]", "the keys there are acmeNamespaces, apex, attach, certificateTemplate, certificates, childApexes, claims, cover, hostnameOwnership, hostnames, http, httpsPort, issuerRef, issuers, match, max"},
		{head + "gateways: [{issuers: [{hostname: [a.example.com], issuerRef: {name: le}}]}]", "unknown key issuers[0].hostname; did you mean hostnames?"},
		{head + "gateways: [{attach: {which: All}}]", "unknown key attach.which; the keys there are from, namespaces, selector"},
		{head + "gateways: [{certificateTemplate: {privateKey: {bits: 256}}}]", "unknown key certificateTemplate.privateKey.bits; the keys there are algorithm, encoding, rotationPolicy, size"},
		{head + "gateways: [{issuerRef: letsencrypt}]", "issuerRef is a string, not a mapping; write {kind: ClusterIssuer, name: letsencrypt}"},
		{head + "gateways: [{issuers: [{hostnames: a.example.com}]}]", "issuers.hostnames is a string, not a list; write [shop.example.com]"},
		{head + "gateways: [{attach: All}]", "attach is a string, not a mapping; write {from: All}"},
		{head + "gateways: [{maxListeners: 1.5}]", "maxListeners is a number, not a whole number"},
		{head + "gateways: [{certificateTemplate: {usages: [1]}}]", "certificateTemplate.usages is a number, not a string"},
	}
	for _, test := range tests {
		_, err := ParsePolicyFile("policy.yaml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "policy.yaml") {
			t.Errorf("%q:\n%v\nwant it to say\n%s", test.text, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "Go ") {
			t.Errorf("%q: %v speaks of Go", test.text, err)
		}
	}
}
