package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/postrender/engine"
)

// A Certificate's Secret is one of its own namespace, whatever its name looks
// like, and several Certificates for one Secret are one claim's trouble.
func TestTenantsSecretNames(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, oneOwner, "referencegrants")
	c.does(grantOfAll)
	victims := certificateOf("edge", "shop.v.example.com")
	named := func(name, secret, hostname string) string {
		return strings.Replace(certificateFor(name, onEdge, hostname), "secretName: "+name, "secretName: "+secret, 1)
	}
	c.run([]attack{
		{"the Secret's name that the victim's Certificate has", named("same", victims, "same.t.example.com"), []string{"same.t.example.com:443"}, nil},
		{"a Secret of another namespace", named("other", "PLATFORM/"+victims, "other.t.example.com"), nil, map[string]string{"other.t.example.com": engine.ReasonUnsupported}},
		{"a name that is none", named("none", `"A_b"`, "none.t.example.com"), nil, map[string]string{"none.t.example.com": engine.ReasonUnsupported}},
		{"an issuer of an unknown kind", strings.Replace(certificateFor("kind", onEdge, "kind.t.example.com"), "issuerRef: {name: own}", "issuerRef: {group: example.com, kind: Thing, name: own}", 1), []string{"kind.t.example.com:443"}, nil},
	})
	for _, l := range listenerObjects(c.get("gateway", "edge")) {
		if l["hostname"] == "shop.v.example.com" && strings.Contains(fmt.Sprint(l["tls"]), c.tenant) {
			t.Errorf("the victim's listener presents the tenant's Secret: %v", l)
		}
	}
}

// A tenant who may write Certificates beside the Gateway takes no Secret that
// the sweep's Certificate has, nor one that it is going to have: that hostname is
// refused, in words that name what stands in its way.
func TestTenantTakesASecret(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "")
	beside := func(name, secret string) {
		t.Helper()
		manifest := strings.Replace(certificateFor(name, "", "mine.example.com"), "secretName: "+name, "secretName: "+secret, 1)
		c.Apply(t, "tenant", c.namespace, manifest)
	}
	beside("late", certificateOf("edge", "shop.v.example.com"))
	beside("early", certificateOf("edge", "new.v.example.com"))
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "new", "new.v.example.com")))
	r := c.sweep()
	c.quiet(r) // the first one's listener stays, and the second gets none
	said := ""
	for _, v := range r.Refused {
		said += v.Hostname + ": " + v.Message + "\n"
	}
	if !strings.HasPrefix(said, "new.v.example.com: ") || !strings.Contains(said, certificateOf("edge", "new.v.example.com")) {
		t.Errorf("the victim is told %q", said)
	}
	c.later(25 * time.Hour)
	c.quiet(c.sweep())
	if c.get("certificate", certificateOf("edge", "shop.v.example.com")) == nil || c.get("certificate", certificateOf("edge", "new.v.example.com")) != nil {
		t.Error("want the Certificate that was first, and no second one for a Secret that is taken")
	}
}

// Listeners count against the quota by port, too, and a grant that is withdrawn
// and given again makes no more of them.
func TestTenantsQuotaCountsPorts(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "maxListenersPerNamespace: 3", "referencegrants")
	c.does(grantOfAll)
	for _, port := range []string{"443", "8443", "9443", "10443", "11443"} {
		c.does(certificateFor("p"+port, onEdge+`, gatewright.dev/listener-port: "`+port+`"`, "p.t.example.com"))
	}
	c.sweep()
	if got := c.ofTenant(); got != 3 {
		t.Fatalf("%d listeners, want 3: %v", got, c.listeners("edge"))
	}
	c.undoes(engine.KindGrant, "all")
	c.sweep()
	c.later(25 * time.Hour)
	c.sweep()
	if got := c.ofTenant(); got > 3 {
		t.Errorf("without a grant, %d listeners: %v", got, c.listeners("edge"))
	}
	c.does(grantOfAll)
	c.sweep()
	if got := c.ofTenant(); got != 3 {
		t.Errorf("with the grant again, %d listeners, want 3: %v", got, c.listeners("edge"))
	}
}

// A wildcard that a tenant may have keeps no name below it from the victim.
func TestTenantsWildcardBlocksNobody(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"", oneOwner} {
		t.Run(policy, func(t *testing.T) {
			c := newTenancy(t, policy, "referencegrants")
			c.does(grantOfAll + certificateFor("wild", onEdge, `"*.v.example.com"`, `"*.example.com"`))
			c.legal = append(c.legal, "*.v.example.com:443", "*.example.com:443")
			c.quiet(c.sweep())
			c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "new", "new.v.example.com")))
			c.quiet(c.sweep()) // the wide one answers until there is a certificate
			c.issued("new.v.example.com")
			c.legal = append(c.legal, "new.v.example.com:443")
			for range 3 {
				r := c.sweep()
				c.quiet(r)
				c.wantVictimHeard(r)
				c.later(25 * time.Hour)
			}
			if l := listenerByHostname(c, "new.v.example.com"); strings.Contains(l, c.tenant) {
				t.Errorf("the victim's listener is %s", l)
			}
		})
	}
}

// What a tenant names and labels like the sweep's Secrets, and like what an
// implementation makes, is not removed and names nobody else's.
func TestTenantsSecretsAndServices(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "secrets", "services")
	file, err := engine.ParsePolicyFile("policy.yaml", fmt.Appendf(nil,
		"{apiVersion: gatewright.dev/v1alpha1, kind: Policy, gateways: [{match: {namespace: %s}, secretRetention: Delete}]}", c.namespace))
	if err != nil {
		t.Fatal(err)
	}
	c.options.Policies.File, c.options.Infrastructure = file, true
	c.features = append(c.features, withRetention)
	like := issued("gone.example.com")
	if err := c.act(issuing, like); err != nil {
		t.Fatal(err)
	}
	c.does("{apiVersion: v1, kind: Service, metadata: {name: fake, labels: {gateway.networking.k8s.io/gateway-name: edge}}, spec: {ports: [{port: 80}]}}")
	for range 4 {
		c.quiet(c.sweep())
		c.later(25 * time.Hour)
	}
	if _, err := c.asTenant.Resource(tenantKinds[engine.KindSecret]).Namespace(c.tenant).Get(t.Context(), certificateOf("edge", "gone.example.com"), metav1.GetOptions{}); err != nil {
		t.Errorf("the tenant's Secret: %v", err)
	}
	for _, f := range c.sweep().Findings {
		if f.Code == jobs.CodeInfrastructureOrphan && !strings.Contains(f.Object, c.tenant) {
			t.Errorf("a Service of the tenant's casts suspicion on others: %+v", f)
		}
	}
}
