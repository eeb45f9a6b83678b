package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// A tenant with Services takes no hostname of the victim's out of TLS
// termination, where a policy lets TLSRoutes do that for a passthrough name.
func TestTenantPassesNothingOfOthersThrough(t *testing.T) {
	t.Parallel()
	const entry = `, passthrough: [{name: db, port: 443, hostname: "*.db.example.com", from: Attach}], withdraw: Served`
	const service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}"
	const outside = engine.ReasonNotAllowed
	for name, tt := range map[string]struct{ policy, shop, other string }{
		"a fence":       {`hostnames: {perNamespace: {VICTIM: ["*.v.example.com", "*.db.example.com"], TENANT: ["*.t.example.com"]}}`, outside, outside},
		"one namespace": {oneOwner, engine.ReasonHostnameConflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTenancy(t, tt.policy, "services")
			c.options.Services = true
			c.Apply(t, "platform", c.namespace, c.named(gatewayOf("edge", tt.policy+entry, "")))
			c.legal = append(c.legal, "*.db.example.com:443")
			c.serveVictim("shop.db.example.com")
			waitASecond()
			c.does(service)
			for _, hostname := range []string{"shop.db.example.com", "*.db.example.com", "shop.v.example.com", "edge.hand.example.com"} {
				name := strings.NewReplacer("*", "wild", ".", "-").Replace(hostname)
				c.does(claimBy(engine.KindTLSRoute, name, `"`+hostname+`"`))
			}
			c.does(claimBy(engine.KindTLSRoute, "x", "x.db.example.com")) // which nobody else claims
			for range 3 {
				r := c.sweep()
				c.wantVictimHeard(r)
				c.quiet(r)
				if got := c.reasons(r); got["shop.db.example.com"] != tt.shop || got["x.db.example.com"] != tt.other {
					t.Errorf("the tenant is refused %v", got)
				}
				c.later(25 * time.Hour)
			}
		})
	}
}
