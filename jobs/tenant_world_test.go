package jobs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// tenancy is a Gateway of a platform's namespace that two teams share: a victim,
// and a tenant whose ServiceAccount may write nothing but routes and
// Certificates, and what a test grants besides, in its own namespace.
type tenancy struct {
	*world
	victim, tenant string
	asTenant       dynamic.Interface
	// legal is what the Gateway is to have: the victim's listeners and those that
	// the tenant may have.
	legal []string
}

// tenantKinds are those that a tenant's role is for.
var tenantKinds = map[string]schema.GroupVersionResource{
	engine.KindHTTPRoute: httpRoutes, engine.KindGRPCRoute: grpcRoutes,
	engine.KindTLSRoute:    {Group: engine.GatewayGroup, Version: "v1", Resource: "tlsroutes"},
	engine.KindCertificate: certificates, engine.KindListenerSet: listenerSets,
	engine.KindGrant:  {Group: engine.GatewayGroup, Version: "v1beta1", Resource: "referencegrants"},
	engine.KindIssuer: {Group: engine.CertManagerGroup, Version: "v1", Resource: "issuers"},
	engine.KindSecret: {Version: "v1", Resource: "secrets"}, engine.KindService: {Version: "v1", Resource: "services"},
}

const tenantRights = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant}
rules:
- {apiGroups: [gateway.networking.k8s.io], resources: [httproutes, grpcroutes, tlsroutes, MORE], verbs: [get, list, create, update, patch, delete]}
- {apiGroups: [cert-manager.io], resources: [certificates, MORE], verbs: [get, list, create, update, patch, delete]}
- {apiGroups: [""], resources: [none, MORE], verbs: [get, list, create, update, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: ServiceAccount, name: tenant, namespace: TENANT}]
`

// newTenancy makes a Gateway with a policy, and the victim's route, which one
// sweep serves. The tenant may write the kinds of more, too. The sweep runs with
// the rights that the chart grants for the policy.
func newTenancy(t *testing.T, policy string, more ...string) *tenancy {
	t.Helper()
	w := newWorld(t)
	if strings.Contains(policy, "redirect: true") {
		w.features = append(w.features, withRedirects)
	}
	w.now = w.now.Truncate(time.Second)
	c := &tenancy{world: w, victim: w.Namespace(t), tenant: w.Namespace(t)}
	c.Apply(t, "platform", c.tenant, c.named(strings.ReplaceAll(tenantRights, "MORE", strings.Join(more, ", "))))
	var err error
	if c.asTenant, err = dynamic.NewForConfig(w.As(t, c.tenant, "tenant")); err != nil {
		t.Fatal(err)
	}
	c.Apply(t, "platform", c.namespace, c.named(gatewayOf("edge", policy, "")))
	c.legal = []string{"plain", "edge.hand.example.com:443"}
	c.serveVictim("shop.v.example.com")
	return c
}

// named puts the namespaces into manifests.
func (c *tenancy) named(manifest string) string {
	return strings.NewReplacer("PLATFORM", c.namespace, "VICTIM", c.victim, "TENANT", c.tenant).Replace(manifest)
}

// serveVictim lets the victim publish a hostname, and says that it stays so.
func (c *tenancy) serveVictim(hostname string) {
	c.t.Helper()
	name := strings.ReplaceAll(hostname, ".", "-")
	c.Apply(c.t, "victim", c.victim, c.named(claimBy("HTTPRoute", name, hostname)))
	c.legal = append(c.legal, hostname+":443")
	r := c.sweep()
	c.wantVictimHeard(r)
	c.quiet(r)
}

// issued says that the Certificate of ours for a hostname is ready.
func (c *tenancy) issued(hostname string) {
	c.t.Helper()
	ready := []byte(`{"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
	_, err := c.Dynamic.Resource(certificates).Namespace(c.namespace).Patch(c.t.Context(), certificateOf("edge", hostname), types.MergePatchType, ready, metav1.PatchOptions{}, "status")
	if err != nil {
		c.t.Fatal(err)
	}
}

// claimBy is a route to the platform's Gateway.
func claimBy(kind, name string, hostnames ...string) string {
	return routeTo(kind, name, "{name: edge, namespace: PLATFORM}", strings.Join(hostnames, ", "), "")
}

// certificateFor is a Certificate that claims hostnames, with annotations.
func certificateFor(name, annotations string, dnsNames ...string) string {
	return fmt.Sprintf(`
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: %s, annotations: {%s}}
spec: {secretName: %s, dnsNames: [%s], issuerRef: {name: own}}
`, name, annotations, name, strings.Join(dnsNames, ", "))
}

const onEdge = "gatewright.dev/gateway: PLATFORM/edge"

// grantOfAll lets the platform's Gateways read the tenant's Secrets.
const grantOfAll = `
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: all}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: PLATFORM}]
  to: [{group: "", kind: Secret}]
`

// act applies what the tenant writes, with its own rights, under a field manager
// of its choice. The error is the API server's.
func (c *tenancy) act(manager, manifest string) error {
	c.t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(c.named(manifest)), 1<<20)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			c.t.Fatal(err)
		case object.Object == nil:
			continue
		}
		data, err := json.Marshal(object.Object)
		if err != nil {
			c.t.Fatal(err)
		}
		namespace := c.tenant
		if ns := object.GetNamespace(); ns != "" {
			namespace = ns
		}
		client := c.asTenant.Resource(tenantKinds[object.GetKind()]).Namespace(namespace)
		if _, err := client.Patch(c.t.Context(), object.GetName(), types.ApplyPatchType, ascii(data), metav1.PatchOptions{FieldManager: manager}); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

// ascii writes JSON without the characters that YAML, which an apply is sent as,
// does not take.
func ascii(data []byte) []byte {
	var out []byte
	for _, r := range string(data) {
		if r >= 0x20 && r < 0x7f {
			out = append(out, byte(r))
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// does is act for what the API server takes.
func (c *tenancy) does(manifest string) {
	c.t.Helper()
	if err := c.act("tenant", manifest); err != nil {
		c.t.Fatal(err)
	}
}

// undoes deletes an object of the tenant's.
func (c *tenancy) undoes(kind, name string) {
	c.t.Helper()
	err := c.asTenant.Resource(tenantKinds[kind]).Namespace(c.tenant).Delete(c.t.Context(), name, metav1.DeleteOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
}

// quiet says that the Gateway has what is legal, and that nothing of ours is
// beside it, or elsewhere, that does not belong there.
func (c *tenancy) quiet(r *report.Report) {
	c.t.Helper()
	if r.Result == report.Failed {
		c.t.Fatalf("the sweep failed: %s", r.Message)
	}
	c.wantListeners("edge", c.legal...)
}

// stands sweeps now, and when everything that is stale is due, and says that
// nothing changes by that. The victim goes on publishing in between.
func (c *tenancy) stands() *report.Report {
	c.t.Helper()
	r := c.sweep()
	c.quiet(r)
	c.later(25 * time.Hour)
	c.sweep()
	c.serveVictim(fmt.Sprintf("after-%d.v.example.com", len(c.legal)))
	c.later(25 * time.Hour)
	c.quiet(c.sweep())
	return r
}

// reasons are those by which the tenant's claims are refused, by hostname.
func (c *tenancy) reasons(r *report.Report) map[string]string {
	out := map[string]string{}
	for _, v := range r.Refused {
		if v.Namespace == c.tenant {
			out[v.Hostname] = v.Reason
		}
	}
	return out
}

// wantRefused says which of the tenant's hostnames are refused, and why.
func (c *tenancy) wantRefused(r *report.Report, want map[string]string) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.reasons(r)); diff != "" {
		c.t.Errorf("what the tenant is refused (-want +got):\n%s", diff)
	}
}

// wantVictimHeard says that no claim of the victim is refused.
func (c *tenancy) wantVictimHeard(r *report.Report) {
	c.t.Helper()
	for _, v := range r.Refused {
		if v.Namespace == c.victim {
			c.t.Errorf("%s is refused to the victim: %s: %s", v.Hostname, v.Reason, v.Message)
		}
	}
}

// certificatesIn lists the names of the Certificates of a namespace that our
// field manager wrote.
func (c *tenancy) certificatesIn(namespace string) []string {
	c.t.Helper()
	list, err := c.Dynamic.Resource(certificates).Namespace(namespace).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	out := []string{}
	for _, item := range list.Items {
		if slices.ContainsFunc(item.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == engine.FieldManager }) {
			out = append(out, item.GetName())
		}
	}
	return out
}

// eventsOn are sweeps that tell what they do.
func eventsOn(o *jobs.Options) { o.Events = true }
