package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Hostnames that are one after normalising are one listener, and count once.
func TestTenantsNamesThatAreOne(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "maxListenersPerNamespace: 4", "referencegrants")
	const unsupported = engine.ReasonUnsupported
	c.run([]attack{
		{"four writings of a hostname", grantOfAll + certificateFor("one", onEdge, `"One.T.example.com"`, `"one.t.example.com."`, `"ONE.T.EXAMPLE.COM."`, `"ｏｎｅ.t.example.com"`) +
			claimBy("HTTPRoute", "one", "one.t.example.com", "one.t.example.com"), []string{"one.t.example.com:443"}, nil},
		{"an international name and its punycode", certificateFor("books", onEdge, `"bücher.t.example.com"`, `"BÜCHER.t.example.com"`, `"xn--bcher-kva.t.example.com"`, `"XN--BCHER-KVA.T.example.com."`),
			[]string{"xn--bcher-kva.t.example.com:443"}, nil},
		{"two final dots, an empty label, and a dot in front", certificateFor("dots", onEdge, `"a.t.example.com.."`, `"a..t.example.com"`, `".a.t.example.com"`), nil,
			map[string]string{"a.t.example.com..": unsupported, "a..t.example.com": unsupported, ".a.t.example.com": unsupported}},
		{"punycode of nothing, and of a wildcard", certificateFor("puny", onEdge, `"xn--.t.example.com"`, `"*.xn--bcher-kva.t.example.com"`),
			[]string{"*.xn--bcher-kva.t.example.com:443"}, map[string]string{"xn--.t.example.com": unsupported}},
		{"labels at their limit, and one past it", certificateFor("long", onEdge, strings.Repeat("l", 63)+".t.example.com", strings.Repeat("m", 64)+".t.example.com"),
			[]string{strings.Repeat("l", 63) + ".t.example.com:443"}, map[string]string{strings.Repeat("m", 64) + ".t.example.com": unsupported}},
		{"a quota that is used up by now", claimBy("HTTPRoute", "zz", "zz.t.example.com"), nil, map[string]string{"zz.t.example.com": engine.ReasonTooMany}},
	})
	var names []string
	for _, l := range listenerObjects(c.get("gateway", "edge")) {
		names = append(names, l["name"].(string))
	}
	slices.Sort(names)
	if slices.ContainsFunc(names, func(n string) bool { return len(n) > 63 }) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names of listeners: %q", names)
	}
}

// What the platform wrote by hand is nobody's else, in whatever writing and by
// whatever way a tenant asks for it.
func TestTenantTakesNothingHandWritten(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"", oneOwner, "cover: Exact"} {
		t.Run(policy, func(t *testing.T) {
			c := newTenancy(t, policy, "referencegrants")
			const hand, refused = "edge.hand.example.com", engine.ReasonNotAllowed
			before := listenerByHostname(c, hand)
			c.does(grantOfAll)
			c.run([]attack{
				{"its hostname by a route", claimBy("HTTPRoute", "route", hand), nil, map[string]string{hand: refused}},
				{"its hostname by a pinned route", routeTo("HTTPRoute", "pin", "{name: edge, namespace: PLATFORM, sectionName: hand}", hand, ""), nil, map[string]string{hand: refused}},
				{"its hostname by port", routeTo("HTTPRoute", "port", "{name: edge, namespace: PLATFORM, port: 443}", hand, ""), nil, map[string]string{hand: refused}},
				{"its hostname by a Certificate", certificateFor("certificate", onEdge, `"EDGE.hand.example.com."`), nil, map[string]string{hand: refused}},
			})
			if after := listenerByHostname(c, hand); after != before {
				t.Errorf("it was %s\nand is %s", before, after)
			}
		})
	}
}

func listenerByHostname(c *tenancy, hostname string) string {
	for _, l := range listenerObjects(c.get("gateway", "edge")) {
		if l["hostname"] == hostname {
			return fmt.Sprint(l)
		}
	}
	return ""
}

// A Certificate opens the port that it names, if that is one: nothing is guessed
// from what looks like a number.
func TestTenantsPorts(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "referencegrants")
	c.does(grantOfAll)
	attacks := []attack{
		{"the API server's port is a port as any", certificateFor("api", onEdge+`, gatewright.dev/listener-port: "6443"`, "api.t.example.com"), []string{"api.t.example.com:6443"}, nil},
		{"both families of annotations, of which ours counts", certificateFor("two", onEdge+`, gatewright.dev/listener-port: "443", gateway-cert-operator.io/listener-port: "9443", gateway-cert-operator.io/gateway-name: other`, "two.t.example.com"),
			[]string{"two.t.example.com:443"}, nil},
		{"a number with a sign and zeros before it", certificateFor("zeros", onEdge+`, gatewright.dev/listener-port: "+00443"`, "zeros.t.example.com"), []string{"zeros.t.example.com:443"}, nil},
	}
	for i, port := range []string{"0", "-1", "70000", "65536", "443 ", " 443", "443.0", "4_4_3", "0x1bb", "1e3", "４４３", "18446744073709552059", "443\\n", "80"} {
		hostname := fmt.Sprintf("p%d.t.example.com", i)
		attacks = append(attacks, attack{"port " + port, certificateFor(fmt.Sprintf("p%d", i), onEdge+`, gatewright.dev/listener-port: "`+port+`"`, hostname), nil,
			map[string]string{hostname: engine.ReasonUnsupported}})
	}
	c.run(attacks)
}

// A route whose parentRefs name a Gateway again and again has what one would
// have; a port that none of ours uses opens none.
func TestTenantsParentRefs(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner+", maxListenersPerNamespace: 2")
	for _, more := range []string{"", ", port: 443", ", sectionName: x"} {
		twice := routeTo("HTTPRoute", "twice", "{name: edge, namespace: PLATFORM"+more+"}, {name: edge, namespace: PLATFORM"+more+"}", "twice.t.example.com", "")
		if err := c.act("tenant", twice); !apierrors.IsInvalid(err) {
			t.Errorf("the API server takes the same parentRef twice: %v", err)
		}
	}
	const nowhere = engine.ReasonNoMatchingParent
	own, theirs := engine.ListenerName("own.t.example.com", 443), engine.ListenerName("shop.v.example.com", 443)
	c.run([]attack{
		{"its own listener by port, by name, and by both", routeTo("HTTPRoute", "port", "{name: edge, namespace: PLATFORM, port: 443}", "own.t.example.com", "") +
			routeTo("HTTPRoute", "name", "{name: edge, namespace: PLATFORM, sectionName: "+own+"}", "own.t.example.com", "") +
			routeTo("HTTPRoute", "both", "{name: edge, namespace: PLATFORM, port: 443, sectionName: "+own+"}", "own.t.example.com", ""), []string{"own.t.example.com:443"}, nil},
		{"a port that nothing is on", routeTo("HTTPRoute", "ssh", "{name: edge, namespace: PLATFORM, port: 22}", "ssh.t.example.com", ""), nil, map[string]string{"ssh.t.example.com": nowhere}},
		{"the plain listener by its port", routeTo("HTTPRoute", "plain", "{name: edge, namespace: PLATFORM, port: 80}", "plain.t.example.com", ""), nil, map[string]string{"plain.t.example.com": engine.ReasonNotAllowed}},
		{"the plain listener by its name", routeTo("HTTPRoute", "named", "{name: edge, namespace: PLATFORM, sectionName: plain}", "named.t.example.com", ""), nil, map[string]string{"named.t.example.com": engine.ReasonNotAllowed}},
		{"the victim's listener by its name", routeTo("HTTPRoute", "theirs", "{name: edge, namespace: PLATFORM, sectionName: "+theirs+"}", "shop.v.example.com", ""), nil,
			map[string]string{"shop.v.example.com": engine.ReasonHostnameConflict}},
		{"the victim's listener for a hostname of its own", routeTo("HTTPRoute", "other", "{name: edge, namespace: PLATFORM, sectionName: "+theirs+"}", "other.t.example.com", ""), nil,
			map[string]string{"other.t.example.com": engine.ReasonNoHostname}},
		{"a name that ours would have for what it does not claim", routeTo("HTTPRoute", "fake", "{name: edge, namespace: PLATFORM, sectionName: "+engine.ListenerName("fake.v.example.com", 443)+"}", "fake.t.example.com", ""), nil,
			map[string]string{"fake.t.example.com": nowhere}},
	})
}
