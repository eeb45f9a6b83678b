package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
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
	g := orphaned(t, "a.example.com", "b.example.com", "c.example.com")
	before := g.things()
	gone404 := &clustertest.Fault{Kind: clustertest.Status404, Match: removalOf(certificateOf("edge", "a.example.com"))}
	broken := &clustertest.Fault{Kind: clustertest.Status500, Match: removalOf(certificateOf("edge", "b.example.com"))}
	got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, gone404.Wrap, broken.Wrap))
	g.checkGone(before, got, err, false, "Certificate for c.example.com")
	outcomes := map[string]report.Outcome{}
	for _, c := range got.Changes {
		outcomes[c.Name] = c.Outcome
	}
	for hostname, want := range map[string]report.Outcome{"a.example.com": report.Made, "b.example.com": report.Broken, "c.example.com": report.Made} {
		if outcomes[certificateOf("edge", hostname)] != want {
			t.Errorf("%s: %s, want %s", hostname, outcomes[certificateOf("edge", hostname)], want)
		}
	}
	if got.Writes != 1 || len(got.Problems) != 1 {
		t.Errorf("%d writes and %d problems\n%s", got.Writes, len(got.Problems), lines(got))
	}
}

func oddHostnames(t *testing.T) {
	long := strings.Repeat("a", 50) + "." + strings.Repeat("b", 50) + ".example.com"
	g := simple(t, "xn--bcher-kva.example.com")
	g.apply("me", routeTo("HTTPRoute", "long", toEdge, long, "")+`
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: mixed, annotations: {gatewright.dev/gateway: edge}}
spec: {dnsNames: [MiXed.Example.com, "*.wild.example.com", "münchen.example.com"], secretName: mixed, issuerRef: {name: ca}}
`)
	if _, err := g.sweepBy(t.Context(), g.config); err != nil {
		t.Fatal(err)
	}
	before := g.things()
	for _, hostname := range []string{long, "xn--bcher-kva.example.com", "xn--mnchen-3ya.example.com", "mixed.example.com", "*.wild.example.com"} {
		if before[listenerOf(hostname)] == nil {
			t.Errorf("%s has no listener", hostname)
		}
	}
	g.later(1000 * time.Hour)
	for range 2 {
		got, err := g.sweepBy(t.Context(), g.config)
		if went := gone(before, g.things()); err != nil || got.Writes > 0 || len(went) > 0 {
			t.Errorf("removed %q\n%s", went, told(got, err))
		}
	}
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
	g.claim(hostnames[3:]...) // three are few
	g.wantGone(true, listeners[:3]...)
	g.claim(hostnames[:1]...)
	g.sweeps()
	g.unclaim(hostnames[:1]...)
	g.wantGone(true, listeners[0], "Certificate for h01.example.com", "Certificate for h02.example.com")
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
