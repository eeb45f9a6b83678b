package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// ofTenant counts the tenant's listeners on the Gateway: those below its domain.
func (c *tenancy) ofTenant() int {
	c.t.Helper()
	count := 0
	for _, l := range c.listeners("edge") {
		if strings.Contains(l, ".t.example.com") {
			count++
		}
	}
	return count
}

// claimMany claims hostnames below the tenant's domain by a route.
func claimMany(route, prefix string, count int) string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("%s%d.t.example.com", prefix, i))
	}
	return claimBy("HTTPRoute", route, names...)
}

// A tenant has as many listeners as its quota says, and not one more, whatever
// it does with them.
func TestTenantStaysWithinItsQuota(t *testing.T) {
	t.Parallel()
	const quota = 3
	c := newTenancy(t, "maxListenersPerNamespace: 3", "referencegrants")
	within := func(what string) *report.Report {
		t.Helper()
		r := c.sweep()
		if got := c.ofTenant(); got > quota {
			t.Errorf("%s: it has %d listeners, and %d is its quota: %v", what, got, quota, c.listeners("edge"))
		}
		return r
	}
	c.does(claimMany("a", "a", 5))
	r := within("it claims more")
	c.wantRefused(r, map[string]string{"a3.t.example.com": engine.ReasonTooMany, "a4.t.example.com": engine.ReasonTooMany})
	c.does(grantOfAll + certificateFor("more", onEdge, "cert.t.example.com"))
	within("it claims by a Certificate")
	c.does(claimMany("a", "b", 3))
	within("it claims others in their place")
	c.later(time.Hour)
	c.does(claimMany("a", "c", 3))
	within("and others again")
	c.later(25 * time.Hour)
	within("the former ones go")
	within("and make room")
	var names []string
	for _, l := range c.listeners("edge") {
		if hostname, _, _ := strings.Cut(l, ":"); strings.Contains(hostname, ".t.") {
			names = append(names, hostname)
		}
	}
	if len(names) != quota {
		t.Fatalf("it has %v, and may have %d", names, quota)
	}
	c.does(routeTo("HTTPRoute", "a", "{name: edge, namespace: PLATFORM}", strings.Join(names, ", "), `annotations: {gatewright.dev/manage: "false"}`))
	c.does(claimMany("d", "d", 3))
	within("it opts out of those that it uses")
	pins := []string{}
	for _, name := range names {
		pins = append(pins, "{name: edge, namespace: PLATFORM, sectionName: "+engine.ListenerName(name, 443)+"}")
	}
	c.does(routeTo("HTTPRoute", "a", strings.Join(pins, ", "), "", ""))
	within("it pins them by name")
	c.later(25 * time.Hour)
	within("for a long time")
	for _, name := range names {
		c.legal = append(c.legal, name+":443")
	}
	c.serveVictim("new.v.example.com")
}

// A tenant keeps from nobody what it cannot have itself: hostnames that it claims
// first and past its quota.
func TestTenantHoardsNoHostnames(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner+", maxListenersPerNamespace: 3")
	c.does(claimBy("HTTPRoute", "hoard", "a.example.com", "b.example.com", "c.example.com", "d.example.com", "e.example.com"))
	c.legal = append(c.legal, "a.example.com:443", "b.example.com:443", "c.example.com:443")
	c.wantRefused(c.sweep(), map[string]string{"d.example.com": engine.ReasonTooMany, "e.example.com": engine.ReasonTooMany})
	waitASecond()
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "takes", "a.example.com", "d.example.com")))
	c.legal = append(c.legal, "d.example.com:443")
	r := c.sweep()
	c.quiet(r)
	c.wantRefused(r, map[string]string{"d.example.com": engine.ReasonHostnameConflict, "e.example.com": engine.ReasonTooMany})
	c.later(25 * time.Hour)
	c.quiet(c.sweep())
	c.does(claimBy("HTTPRoute", "hoard", "b.example.com", "c.example.com", "d.example.com", "e.example.com"))
	c.sweep()
	c.later(25 * time.Hour)
	c.sweep()
	c.sweep()
	c.legal = append(c.legal, "e.example.com:443") // in the place of a, which is the victim's now, within its quota
	c.quiet(c.sweep())
}

// Where no quota is set a tenant can fill the Gateway, and pushes nobody out.
func TestTenantPushesNobodyOut(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "")
	for i := range 5 {
		c.does(claimMany(fmt.Sprintf("r%d", i), fmt.Sprintf("r%d-", i), 16))
	}
	c.sweep()
	all := c.listeners("edge")
	if len(all) != 64 {
		t.Errorf("%d listeners, want 64", len(all))
	}
	served := func() string { return strings.Join(c.listeners("edge"), " ") }
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "second", "second.v.example.com")))
	c.sweep()
	c.undoes(engine.KindHTTPRoute, "r0")
	c.does(claimMany("r0", "again", 16))
	c.later(25 * time.Hour)
	c.sweep()
	if !strings.Contains(served(), "shop.v.example.com:443") {
		t.Errorf("the victim's listener is gone: %s", served())
	}
}

// A listener that only looks as if it were in use by a route which it does not
// admit goes all the same.
func TestTenantPinsNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner)
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "leaves", "leaves.v.example.com")))
	c.sweep()
	c.does(routeTo("HTTPRoute", "pin", "{name: edge, namespace: PLATFORM, sectionName: "+engine.ListenerName("leaves.v.example.com", 443)+"}", "", "") +
		routeTo("HTTPRoute", "out", "{name: edge, namespace: PLATFORM}", "leaves.v.example.com", `annotations: {gatewright.dev/manage: "false"}`))
	c.Kubectl(t, "", "delete", "httproute", "leaves", "-n", c.victim)
	c.sweep()
	c.later(25 * time.Hour)
	c.sweep()
	c.quiet(c.sweep())
}
