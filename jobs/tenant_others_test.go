package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

const redirectOfAll = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: https}
spec:
  parentRefs: [{name: edge, namespace: PLATFORM}]
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]
`

// ourOwn is an object with all the marks of ours: label, name, field manager and
// what the sweep remembers.
var (
	ourOwnCertificate = strings.Replace(certificateFor("edge-x-0123456789ab-tls", "gatewright.dev/stale-since: \"2000-01-01T00:00:00Z\"", "shop.v.example.com"), "metadata: {", "metadata: {labels: {gatewright.dev/for: edge}, ", 1)
	ourOwnRedirect    = routeTo("HTTPRoute", "edge-https-0123456789ab-redirect", "{name: edge, namespace: PLATFORM}", "", "labels: {gatewright.dev/for: edge}")
	// A Certificate with the name of the victim's, in the tenant's namespace.
	ourNamesake = strings.Replace(certificateFor("NAME", onEdge, "shop.v.example.com"), "metadata: {", "metadata: {labels: {gatewright.dev/for: edge}, ", 1)
)

// What looks like the sweep's own lets it remove, copy and write nothing of
// others: it reads no Secret, and writes to the Gateway and beside it.
func TestTenantRemovesNothingOfOthers(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "http: {redirect: true}", "listenersets", "referencegrants")
	names := func() string {
		var out []string
		for _, namespace := range []string{c.namespace, c.victim} {
			for _, kind := range tenantKinds {
				list, err := c.Dynamic.Resource(kind).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range list.Items {
					out = append(out, item.GetKind()+" "+item.GetNamespace()+"/"+item.GetName()+" "+string(item.GetUID()))
				}
			}
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	before := names()
	if !strings.Contains(before, "-redirect ") {
		t.Fatalf("no redirect of ours: %s", before)
	}
	own := ourOwnCertificate + ourOwnRedirect + strings.ReplaceAll(ourNamesake, "NAME", certificateOf("edge", "shop.v.example.com"))
	if err := c.act(engine.FieldManager, own); err != nil {
		t.Fatal(err)
	}
	c.does(redirectOfAll + grantOfAll)
	record := &clustertest.Recorder{}
	c.config = clustertest.Wrapped(c.config, record.Wrap)
	for range 4 {
		c.quiet(c.sweep())
		c.later(25 * time.Hour)
	}
	if after := names(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	for _, call := range record.Calls() {
		ours := call.Namespace == c.namespace || call.Namespace == c.tenant && call.Verb != "create"
		if call.Resource == "secrets" || call.Writes() && !ours {
			t.Errorf("the sweep asks for %s", call)
		}
	}
}

// A tenant who may write Certificates beside the Gateway, too, can take the name
// of one that is not there yet. That hostname is refused, in words that name what
// stands in its way, and nothing is overwritten.
func TestTenantTakesAName(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "")
	squatted := certificateOf("edge", "new.v.example.com")
	c.Apply(t, "tenant", c.namespace, certificateFor(squatted, "", "mine.example.com"))
	c.Apply(t, "victim", c.victim, c.named(claimBy("HTTPRoute", "new", "new.v.example.com")))
	r := c.sweep()
	said := ""
	for _, v := range r.Refused {
		if v.Hostname == "new.v.example.com" {
			said = fmt.Sprintf("%s: %s", v.Reason, v.Message)
		}
	}
	if !strings.Contains(said, squatted) {
		t.Errorf("the victim is told %q", said)
	}
	if got := c.Kubectl(t, "", "get", "certificate", squatted, "-n", c.namespace, "-o", "jsonpath={.spec.dnsNames[0]} {.spec.issuerRef.name}"); got != "mine.example.com own" {
		t.Errorf("it is %s now", got)
	}
	c.quiet(r)
}

// An empty mapping of annotations, as charts write it, belongs to whoever applies
// it; the hostnames are served all the same.
func TestAnnotationsOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", strings.Replace(gatewayOf("edge", "", ""), "annotations: {gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: ca}, attach: {from: All}, }'}", "annotations: {}", 1))
	w.options.Policies.Flags = engine.Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "ca"}}
	w.options.Policies.FlagsFor = []engine.ObjectName{{Namespace: w.namespace, Name: "edge"}}
	w.apply("me", route("shop", "shop.example.com"))
	r, err := w.trySweep()
	if err != nil || len(r.Problems) > 1 {
		t.Fatal(told(r, err))
	}
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "shop.example.com:443")
	w.later(48 * time.Hour)
	w.apply("me", route("shop", "other.example.com"))
	r, err = w.trySweep()
	if err != nil {
		t.Fatal(err)
	}
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "shop.example.com:443", "other.example.com:443")
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "leave metadata.annotations out") {
		t.Errorf("%s", lines(r))
	}
}
