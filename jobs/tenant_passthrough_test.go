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
	const entry = `, passthrough: [{name: db, port: 443, hostname: "*.db.example.com", from: Attach}], withdraw: Served`
	const service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}"
	for name, policy := range map[string]string{
		"a fence":       `hostnames: {perNamespace: {VICTIM: ["*.v.example.com", "*.db.example.com"], TENANT: ["*.t.example.com"]}}`,
		"one namespace": oneOwner,
	} {
		t.Run(name, func(t *testing.T) {
			c := newTenancy(t, policy, "services")
			c.options.Services = true
			c.Apply(t, "platform", c.namespace, c.named(gatewayOf("edge", policy+entry, "")))
			c.legal = append(c.legal, "*.db.example.com:443")
			c.serveVictim("shop.db.example.com")
			waitASecond()
			c.does(service)
			for _, hostname := range []string{"shop.db.example.com", "*.db.example.com", "shop.v.example.com", "edge.hand.example.com"} {
				kind := strings.NewReplacer("*", "wild", ".", "-").Replace(hostname)
				c.does(claimBy(engine.KindTLSRoute, kind, `"`+hostname+`"`))
			}
			c.does(strings.Replace(claimBy(engine.KindTLSRoute, "any", ""), "hostnames: []", "hostnames: [x.db.example.com]", 1))
			for range 3 {
				r := c.sweep()
				c.wantVictimHeard(r)
				c.quiet(r)
				c.later(25 * time.Hour)
			}
		})
	}
}
