package jobs_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/postrender/engine"
)

const oneOwner = "hostnameOwnership: OneNamespace"

// A hostname that belongs to the victim stays the victim's.
func TestTenantTakesNoHostnameOver(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner, "referencegrants")
	const conflict = engine.ReasonHostnameConflict
	c.serveVictim("api.v.example.com")
	c.serveVictim("exact.wild.example.com")
	c.run([]attack{
		{"a route for the victim's hostname", claimBy("HTTPRoute", "shop", "shop.v.example.com"), nil, map[string]string{"shop.v.example.com": conflict}},
		{"a route of another kind", claimBy("GRPCRoute", "shop", "shop.v.example.com"), nil, map[string]string{"shop.v.example.com": conflict}},
		{"a Certificate for it", grantOfAll + certificateFor("api", onEdge, "API.v.example.com."), nil, map[string]string{"api.v.example.com": conflict}},
		{"a Certificate for it on another port", certificateFor("port", onEdge+`, gatewright.dev/listener-port: "8443"`, "api.v.example.com"), nil, map[string]string{"api.v.example.com": conflict}},
		{"a wildcard takes no name from a more specific listener, and is the tenant's own", certificateFor("wild", onEdge, `"*.wild.example.com"`), []string{"*.wild.example.com:443"}, nil},
	})
}

// A name that a wider listener answers for the victim stays so: no more specific
// one takes it.
func TestTenantTakesNoNameFromAWildcard(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner+", cover: Exact")
	c.Apply(t, "platform", c.namespace, strings.TrimRight(c.named(gatewayOf("edge", oneOwner+", cover: Exact", "")), "\n")+`
  - {name: wide, port: 443, protocol: HTTPS, hostname: "*.wide.example.com", tls: {certificateRefs: [{name: wide}]}, allowedRoutes: {namespaces: {from: All}}}
`)
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "wide", "x.wide.example.com")))
	c.legal = append(c.legal, "*.wide.example.com:443")
	c.sweep()
	waitASecond() // so that the tenant's route is younger
	c.does(claimBy("HTTPRoute", "wide", "x.wide.example.com"))
	c.sweep()
	c.issued("x.wide.example.com")
	c.legal = append(c.legal, "x.wide.example.com:443") // the victim's, beside the wide one
	c.wantRefused(c.stands(), map[string]string{"x.wide.example.com": engine.ReasonHostnameConflict})
	for _, l := range listenerObjects(c.get("gateway", "edge")) {
		if l["hostname"] == "x.wide.example.com" && !strings.Contains(fmt.Sprint(l["allowedRoutes"]), c.victim) {
			t.Errorf("it admits %v, not the victim", l["allowedRoutes"])
		}
	}
}

// A hostname that the victim publishes again within the grace period was its own
// all the time; a route that is made anew is no older than it is.
func TestTenantCannotWaitForAHostname(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner)
	refused := map[string]string{"shop.v.example.com": engine.ReasonHostnameConflict}
	c.does(claimBy("HTTPRoute", "shop", "shop.v.example.com"))
	c.wantRefused(c.sweep(), refused)
	if err := c.Dynamic.Resource(httpRoutes).Namespace(c.victim).Delete(t.Context(), "shop-v-example-com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.wantRefused(c.sweep(), refused)
	c.undoes(engine.KindHTTPRoute, "shop")
	c.does(claimBy("HTTPRoute", "shop", "shop.v.example.com"))
	c.wantRefused(c.sweep(), refused)
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "shop-v-example-com", "shop.v.example.com")))
	c.wantRefused(c.stands(), refused)
}

// Of claims that are new at the same sweep the older one wins, whatever ports
// they ask for.
func TestTenantIsNotFirstOnAnotherPort(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner, "referencegrants")
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "new", "new.v.example.com")))
	c.does(grantOfAll)
	waitASecond()
	c.does(certificateFor("port", onEdge+`, gatewright.dev/listener-port: "8443"`, "new.v.example.com"))
	c.legal = append(c.legal, "new.v.example.com:443")
	r := c.sweep()
	c.wantRefused(r, map[string]string{"new.v.example.com": engine.ReasonHostnameConflict})
	c.wantVictimHeard(r)
	c.wantVictimHeard(c.stands())
}
