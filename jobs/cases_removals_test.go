package jobs_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// orphaned is a ground with Certificates that are due, of these hostnames: their
// listeners are gone.
func orphaned(t *testing.T, hostnames ...string) *ground {
	t.Helper()
	g := simple(t, hostnames...)
	g.unclaim(hostnames...)
	g.sweeps()
	g.later(25 * time.Hour)
	return g
}

func removalOf(certificate string) func(clustertest.Call) bool {
	return func(c clustertest.Call) bool { return c.Verb == "delete" && c.Name == certificate }
}

func forbiddenRemoval(t *testing.T) {
	g := orphaned(t, "a.example.com", "b.example.com")
	before := g.things()
	fault := &clustertest.Fault{Kind: clustertest.Status403, Match: removalOf(certificateOf("edge", "a.example.com"))}
	got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, fault.Wrap))
	g.checkGone(before, got, err, false, "Certificate for b.example.com")
	g.wantGone(true, "Certificate for a.example.com")
}

func failedRemoval(t *testing.T) {
	g := simple(t, "a.example.com", "b.example.com", "c.example.com", "d.example.com")
	g.unclaim("a.example.com", "b.example.com", "c.example.com")
	g.unclaim("d.example.com") // so that its listener is due together with their Certificates
	a, b, c, d := certificateOf("edge", "a.example.com"), certificateOf("edge", "b.example.com"), certificateOf("edge", "c.example.com"), certificateOf("edge", "d.example.com")
	before := g.things()
	outcomes := func(got *report.Report, writes int, want map[string]report.Outcome) {
		t.Helper()
		is := map[string]report.Outcome{}
		for _, c := range got.Changes {
			is[cmp.Or(c.Hostname, c.Name)] = c.Outcome
		}
		if diff := gocmp.Diff(want, is); diff != "" || got.Writes != writes {
			t.Errorf("%d writes, want %d (-want +got):\n%s%s", got.Writes, writes, diff, lines(got))
		}
	}
	for _, dry := range []report.DryRun{report.DryRunClient, report.DryRunServer} {
		got, err := g.sweepBy(t.Context(), g.config, func(o *jobs.Options) { o.DryRun = dry })
		g.checkGone(before, got, err, true)
		outcomes(got, 0, map[string]report.Outcome{a: report.Would, b: report.Would, c: report.Would, d: report.Held, "d.example.com": report.Would})
	}
	gone404 := &clustertest.Fault{Kind: clustertest.Status404, Match: removalOf(a)}
	broken := &clustertest.Fault{Kind: clustertest.Status500, Match: removalOf(b)}
	got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, gone404.Wrap, broken.Wrap))
	g.checkGone(before, got, err, false, "Certificate for c.example.com", listenerOf("d.example.com"))
	outcomes(got, 2, map[string]report.Outcome{a: report.Made, b: report.Broken, c: report.Made, d: report.Held, "d.example.com": report.Made})
	if len(got.Problems) != 1 {
		t.Errorf("%d problems\n%s", len(got.Problems), lines(got))
	}
}

// odd are hostnames that are long, wild, of other scripts, or in capitals, claimed
// by Certificates of their own where an HTTPRoute may not have them.
var (
	longName = strings.Repeat("a", 50) + "." + strings.Repeat("b", 50) + ".example.com"
	oddNames = []string{longName, "xn--bcher-kva.example.com", "*.wide.example.com", "xn--mnchen-3ya.example.com", "mixed.example.com", "*.wild.example.com"}
	odd      = routeTo("HTTPRoute", "odd", "{name: edge}", longName+`, xn--bcher-kva.example.com, "*.wide.example.com"`, "") + `
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: mixed, annotations: {gatewright.dev/gateway: edge}}
spec: {dnsNames: [MiXed.Example.com, "*.wild.example.com", "münchen.example.com"], secretName: mixed, issuerRef: {name: ca}}
`
)

// keepsOdd says that all odd hostnames have a listener of the one name that it has
// everywhere, and that the sweep writes and removes nothing, however late it runs.
func (g *ground) keepsOdd() {
	g.t.Helper()
	before := g.things()
	for _, hostname := range oddNames {
		if got, want := g.listener("edge", hostname)["name"], engine.ListenerName(hostname, 443); got != want {
			g.t.Errorf("the listener of %s is %v, want %s", hostname, got, want)
		}
	}
	for range 3 {
		g.later(1000 * time.Hour)
		got, err := g.sweepBy(g.t.Context(), g.config)
		if went := gone(before, g.things()); err != nil || got.Writes > 0 || len(went) > 0 {
			g.t.Errorf("removed %q\n%s", went, told(got, err))
		}
	}
}

func oddHostnames(t *testing.T) {
	g := newGround(t)
	g.apply("me", gatewayOf("edge", `wildcards: ["*.wide.example.com"]`, "")+odd)
	g.sweeps()
	g.keepsOdd()
}

// renderedOddHostnames are rendered where not even the namespace is known.
func renderedOddHostnames(t *testing.T) {
	g := newGround(t)
	manifests := gatewayOf("edge", `wildcards: ["*.wide.example.com"]`, "") + odd
	result, err := postrender.Render([]byte(manifests), postrender.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rendered strings.Builder
	if _, err := result.WriteTo(&rendered); err != nil {
		t.Fatal(err)
	}
	g.apply("helm", rendered.String())
	g.keepsOdd()
}

func tooManyAtOnce(t *testing.T) {
	var hostnames, listeners []string
	for n := range 20 {
		hostnames = append(hostnames, fmt.Sprintf("h%02d.example.com", n))
		listeners = append(listeners, listenerOf(hostnames[n]))
	}
	g := simple(t, hostnames...)
	foreign := `{name: f%d, port: %d, protocol: HTTP}`
	var others []string
	for n := range 30 {
		others = append(others, fmt.Sprintf(foreign, n, 9000+n))
	}
	g.apply("somebody", "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge}, spec: {gatewayClassName: test, listeners: ["+strings.Join(others, ", ")+"]}}")
	g.unclaim(hostnames[1:]...) // to one
	g.wantGone(false)
	g.remove(httpRoutes, "h00") // to none
	g.sweepBy(t.Context(), g.config)
	g.later(25 * time.Hour)
	g.wantGone(false)
	g.claim(hostnames[5:]...) // five of twenty are many
	g.wantGone(false)
	g.claim(hostnames[4:5]...) // four of twenty are few
	g.wantGone(true, listeners[:4]...)
	g.claim(hostnames[:1]...)
	g.sweeps()
	g.unclaim(hostnames[:1]...)
	g.wantGone(true, listeners[0], "Certificate for h01.example.com", "Certificate for h02.example.com", "Certificate for h03.example.com")
}

func changedHostname(t *testing.T) {
	g := simple(t, "a.example.com")
	g.apply("me", routeTo("HTTPRoute", "other", toEdge, "shared.example.com", "")+routeTo("HTTPRoute", "a", toEdge, "a.example.com, shared.example.com", ""))
	g.sweeps()
	g.apply("me", routeTo("HTTPRoute", "a", toEdge, "b.example.com", ""))
	g.wantGone(true)
	if now := g.things(); now[listenerOf("b.example.com")] == nil || now[listenerOf("a.example.com")] == nil {
		t.Error("the new hostname does not come before the old one goes")
	}
	g.later(25 * time.Hour)
	g.wantGone(true, listenerOf("a.example.com"))
}

func noForeignOwners(t *testing.T) {
	g := newGround(t)
	g.apply("me", full)
	g.sweeps()
	found := 0
	for _, kind := range written {
		for _, object := range g.list(kind) {
			found++
			for _, owner := range object.GetOwnerReferences() {
				_, err := g.Dynamic.Resource(gateways).Namespace(object.GetNamespace()).Get(t.Context(), owner.Name, metav1.GetOptions{})
				if owner.Kind != engine.KindGateway || err != nil || object.GetKind() == engine.KindCertificate {
					t.Errorf("%s %s has the owner %s %s: %v", object.GetKind(), object.GetName(), owner.Kind, owner.Name, err)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d objects", found)
	}
}

// longSilence is a CronJob that was suspended for weeks: the first run marks, and
// removes nothing that it did not see for the grace period itself.
func longSilence(t *testing.T) {
	g := simple(t, "live.example.com", "gone.example.com")
	g.remove(httpRoutes, "gone")
	g.later(1000 * time.Hour)
	g.wantGone(true)
	g.later(25 * time.Hour)
	g.wantGone(true, listenerOf("gone.example.com"))
}

// otherNames are a listener and a Certificate of ours with names that are not
// those of today.
func otherNames(t *testing.T) {
	g := newGround(t)
	g.apply("me", gatewayOf("edge", "", "")+routeTo("HTTPRoute", "a", toEdge, "a.example.com", ""))
	g.apply("gatewright", `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: old-a, labels: {gatewright.dev/for: edge}}
spec: {dnsNames: [a.example.com], secretName: old-a, issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: ca}, secretTemplate: {labels: {gatewright.dev/for: edge}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec: {gatewayClassName: test, listeners: [{name: old-a, port: 443, protocol: HTTPS, hostname: a.example.com, allowedRoutes: {namespaces: {from: All}}, tls: {mode: Terminate, certificateRefs: [{group: "", kind: Secret, name: old-a}]}}]}
`)
	g.sweeps() // makes the Certificate that has its name today
	for range 3 {
		g.wantQuiet("edge")
		g.later(1000 * time.Hour)
	}
	if g.things()[listenerOf("a.example.com")] == nil || g.get("certificate", "old-a") == nil {
		t.Error("the listener or its Certificate is gone")
	}
}

// issuingStays are Certificates that cert-manager works on, and that have no
// Secret yet: one of ours, and one that claims its listener itself.
func issuingStays(t *testing.T) {
	g := simple(t, "a.example.com")
	g.apply("me", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: own, annotations: {gatewright.dev/gateway: edge}}, spec: {dnsNames: [own.example.com], secretName: own, issuerRef: {name: ca}}}")
	g.sweeps()
	for _, name := range []string{"own", certificateOf("edge", "a.example.com")} {
		g.Kubectl(t, "", "patch", "certificate", name, "-n", g.namespace, "--subresource=status", "--type=merge", "-p", `{"status": {"nextPrivateKeySecretName": "`+name+`-next", "conditions": [
			{"type": "Issuing", "status": "True", "reason": "DoesNotExist", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"},
			{"type": "Ready", "status": "False", "reason": "DoesNotExist", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}}`)
	}
	if g.things()[listenerOf("own.example.com")] == nil {
		t.Error("own.example.com has no listener")
	}
	for range 3 {
		g.wantQuiet("edge")
		g.later(1000 * time.Hour)
	}
}
