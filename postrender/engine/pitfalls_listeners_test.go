package engine

import (
	"fmt"
	"strings"
	"testing"
)

func numbered(i int) string { return fmt.Sprintf("h%d.example.com", i) }

func onPort(i int) string { return fmt.Sprintf("{name: l%d, port: %d, protocol: HTTP}", i, 1000+i) }

// longest is a hostname of 253 characters.
var longest = strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 61)

var listenerPitfalls = []pitfall{{
	id: "P1", rule: "a list of listeners is never empty",
	examples: []example{
		{shows: "the plain listener comes", input: edge(), has: []string{"add http :80 HTTP"}},
	},
	takes: []string{"[" + plain + "]"}, refuses: []string{"[]"},
}, {
	id: "P2", rule: "a Gateway has 64 listeners at most, with those of others",
	examples: []example{
		{shows: "62 beside 2", input: edge(plain, onPort(0)) + shop(repeated(62, numbered)), check: countListeners(62)},
		{shows: "63 beside 2", input: edge(plain, onPort(0)) + shop(repeated(63, numbered)), fails: "64 is the limit"},
	},
	takes: []string{"[" + repeated(64, onPort) + "]"}, refuses: []string{"[" + repeated(65, onPort) + "]"},
}, {
	id: "P3", rule: "a listener's name is a lower-case subdomain without a wildcard",
	examples: []example{{
		shows: "a wildcard has a name", input: edge(plain) + shop(`"*.example.com"`), keys: Keys{"wildcards": []any{"*.example.com"}},
		has: []string{`"name":"https-wildcard-example-com-`}, not: []string{`"name":"https-*`},
	}},
	refuses: []string{`[{name: "https-*.example.com", port: 80, protocol: HTTP}]`, "[{name: Plain, port: 80, protocol: HTTP}]", "[{name: a_b, port: 80, protocol: HTTP}]"},
}, {
	id: "P4", rule: "two hostnames never have one name",
	examples: []example{{
		shows: "a wildcard and a host called so", input: edge(plain) + shop(`"*.example.com", wildcard.example.com`), keys: Keys{"wildcards": []any{"*.example.com"}},
		check: func(t *testing.T, plan *Plan) {
			countListeners(2)(t, plan)
			if l := plan.Gateways[0].Listeners; l[0].Name == l[1].Name || l[0].secretName == l[1].secretName {
				t.Errorf("one name for two hostnames: %s", l[0].Name)
			}
		},
	}},
	refuses: []string{"[" + plain + ", {name: http, port: 81, protocol: HTTP}]"},
}, {
	id: "P5", rule: "a name has 63 characters at most, however long the hostname",
	examples: []example{{
		shows: "a hostname of 253", input: edge(plain) + shop(longest),
		check: func(t *testing.T, plan *Plan) {
			countListeners(1)(t, plan)
			if l := plan.Gateways[0].Listeners[0]; len(longest) != 253 || len(l.Name) > 63 || len(l.secretName) > 63 || l.Hostname != longest {
				t.Errorf("names %q and %q for a hostname of %d", l.Name, l.secretName, len(longest))
			}
		},
	}},
	refuses: []string{"[{name: " + longest + "x, port: 80, protocol: HTTP}]"},
}, {
	id: "P6", rule: "a wildcard is the whole first label",
	examples: []example{{
		shows: "others are refused alone", input: edge(plain) + web(`"*.x.example.com", "a.*.example.com", "*a.example.com", "*"`),
		has: []string{"*.x.example.com:443", "a.*.example.com: UnsupportedValue", "*a.example.com: UnsupportedValue", "*: UnsupportedValue"},
		not: []string{"a.*.example.com:443", "*a.example.com:443"},
	}},
	takes:   []string{"[" + httpsListener("a", "*.x.example.com") + "]"},
	refuses: []string{"[" + httpsListener("a", "a.*.example.com") + "]", "[" + httpsListener("a", "*a.example.com") + "]", "[" + httpsListener("a", "*") + "]"},
}, {
	id: "P7", rule: "a hostname is lower case, without a last dot, in punycode",
	examples: []example{{
		shows: "names are brought into the form", input: edge(plain) + web(`API.Example.com., "Bücher.example.com"`),
		has: []string{`"hostname":"api.example.com"`, `"hostname":"xn--bcher-kva.example.com"`},
	}},
	refuses: []string{"[" + httpsListener("a", "API.example.com") + "]", "[" + httpsListener("a", "a.example.com.") + "]", "[" + httpsListener("a", "bücher.example.com") + "]"},
}, {
	id: "P8", rule: "no hostname is no key, and never an empty one",
	examples: []example{{
		shows: "the plain listener", input: edge(),
		has: []string{`{"allowedRoutes":{"namespaces":{"from":"Same"}},"name":"http","port":80,"protocol":"HTTP"}`},
	}},
	refuses: []string{`[{name: http, port: 80, protocol: HTTP, hostname: ""}]`},
}}

func countListeners(want int) func(*testing.T, *Plan) {
	return func(t *testing.T, plan *Plan) {
		t.Helper()
		if got := len(plan.Gateways[0].Listeners); got != want {
			t.Fatalf("%d listeners are computed, not %d", got, want)
		}
	}
}

func label(n int) string { return strings.Repeat("a", n) + ".example.com" }

func odd(protocol string) string { return "{name: odd, port: 443, protocol: " + protocol + "}" }

const through = "{name: through, hostname: a.example.com, port: 443, protocol: TLS, tls: {mode: Passthrough}}"

var hostnamePitfalls = []pitfall{{
	id: "P9", rule: "an address is no hostname, although the API lets it pass",
	examples: []example{{
		shows: "it is refused alone", input: edge(plain) + shop("192.0.2.1, a.example.com"),
		has: []string{"192.0.2.1: UnsupportedValue", "a.example.com:443"}, not: []string{`"hostname":"192.0.2.1"`},
	}},
	takes: []string{"[" + httpsListener("a", "192.0.2.1") + "]"},
}, {
	id: "P10", rule: "a label has 63 characters at most, although the API lets more pass",
	examples: []example{{
		shows: "it is refused alone", input: edge(plain) + shop(label(63)+", "+label(64)),
		has: []string{label(63) + ":443", label(64) + ": UnsupportedValue"}, not: []string{label(64) + ":443"},
	}},
	takes: []string{"[" + httpsListener("a", label(64)) + "]"},
}, {
	id: "P11", rule: "port, protocol and hostname are unique in a Gateway",
	examples: []example{{
		shows: "two Certificates of one name", input: edge(plain) + web("a.example.com") + claimingCertificate("other", "infra", "", "a.example.com"),
		has: []string{"Certificate infra/web a.example.com: HostnameConflict"}, check: countListeners(1),
	}},
	refuses: []string{"[" + httpsListener("a", "a.example.com") + ", " + httpsListener("b", "a.example.com") + "]"},
}, {
	id: "P12", rule: "a port carries HTTP or TLS, although the API lets both pass",
	examples: []example{{
		shows: "the port is taken", input: edge(odd("HTTP")) + shop("a.example.com"), keys: Keys{"httpsPort": 443},
		has: []string{"a.example.com: UnsupportedValue port 443"}, check: countListeners(0),
	}},
	takes: []string{"[" + odd("HTTP") + ", " + httpsListener("a", "a.example.com") + "]"},
}, {
	id: "P13", rule: "a hostname is unique over HTTPS and TLS on a port, although the API lets both pass",
	examples: []example{
		{shows: "a hand-written passthrough", input: edge(through) + shop("a.example.com"), has: []string{"a.example.com: NoMatchingListenerHostname"}, check: countListeners(0)},
		{shows: "an entry of the policy", input: edge(plain) + shop("a.example.com"), keys: passthrough(443, "a.example.com"),
			has: []string{"add tls-db", "shop a.example.com: NoMatchingListenerHostname"}, not: []string{"add https-"}},
	},
	takes: []string{"[" + through + ", " + httpsListener("a", "a.example.com") + "]"},
}, {
	id: "P14", rule: "no TCP beside HTTP or TLS on a port, although the API lets it pass",
	examples: []example{{
		shows: "the port is taken", input: edge(odd("TCP")) + shop("a.example.com"),
		has: []string{"a.example.com: UnsupportedValue port 443"}, check: countListeners(0),
	}},
	takes: []string{"[" + odd("TCP") + ", " + httpsListener("a", "a.example.com") + "]"},
}, {
	id: "P15", rule: "ending TLS and passing it through on one port is not for every implementation",
	examples: []example{
		{shows: "one port", input: edge(plain) + shop("a.example.com"), keys: passthrough(443, "b.example.com"), has: []string{"warning MixedTLS"}},
		{shows: "two ports", input: edge(plain) + shop("a.example.com"), keys: passthrough(5432, "b.example.com"), not: []string{"MixedTLS"}},
	},
	takes: []string{"[" + through + ", " + httpsListener("a", "b.example.com") + "]"},
}}
