package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

// handListeners are the listeners of Gateway edge that its owner wrote, in
// their order.
func (g *ground) handListeners(names ...string) []map[string]any {
	g.t.Helper()
	gateway, err := g.Dynamic.Resource(gateways).Namespace(g.namespace).Get(g.t.Context(), "edge", metav1.GetOptions{})
	if err != nil {
		g.t.Fatal(err)
	}
	var out []map[string]any
	for _, l := range listenerObjects(gateway) {
		for _, name := range names {
			if l["name"] == name {
				out = append(out, l)
			}
		}
	}
	return out
}

func othersKeepTheirOrder(t *testing.T) {
	g := newGround(t)
	g.apply("me", gatewayOf("edge", "", ""))
	before := g.handListeners("plain", "hand")
	g.claim("z.example.com", "a.example.com")
	g.sweeps()
	if diff := cmp.Diff(before, g.handListeners("plain", "hand")); diff != "" || len(before) != 2 {
		t.Errorf("listeners of others (-before +after):\n%s", diff)
	}
	g.wantQuiet("edge")
}

func nameIsNoProof(t *testing.T) {
	g := simple(t, "a.example.com")
	looksLikeOurs := engine.ListenerName("stranger.example.com", 443)
	g.Kubectl(t, "", "patch", "gateway", "edge", "-n", g.namespace, "--type=json", "-p", `[
		{"op": "add", "path": "/spec/listeners/-", "value": {"name": "https", "port": 443, "protocol": "HTTPS", "hostname": "b.example.com", "tls": {"certificateRefs": [{"name": "b"}]}}},
		{"op": "add", "path": "/spec/listeners/-", "value": {"name": "https-foo", "port": 443, "protocol": "HTTPS", "hostname": "c.example.com", "tls": {"certificateRefs": [{"name": "c"}]}}},
		{"op": "add", "path": "/spec/listeners/-", "value": {"name": "`+looksLikeOurs+`", "port": 443, "protocol": "HTTPS", "hostname": "stranger.example.com", "tls": {"certificateRefs": [{"name": "d"}]}}}]`)
	before := g.handListeners("https", "https-foo", looksLikeOurs)
	g.unclaim("a.example.com")
	g.wantGone(true, listenerOf("a.example.com"))
	g.later(1000 * time.Hour)
	g.sweeps()
	if diff := cmp.Diff(before, g.handListeners("https", "https-foo", looksLikeOurs)); diff != "" || len(before) != 3 {
		t.Errorf("listeners of others (-before +after):\n%s", diff)
	}
}

// setRelease makes the HelmRelease suspended, or not, and says whether the
// controller is done with it.
func (g *ground) setRelease(suspended, done bool) {
	g.t.Helper()
	client := g.Dynamic.Resource(helmReleases).Namespace(g.namespace)
	patch := func(patch string, at ...string) int64 {
		object, err := client.Patch(g.t.Context(), "platform", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, at...)
		if err != nil {
			g.t.Fatal(err)
		}
		return object.GetGeneration()
	}
	seen := patch(fmt.Sprintf(`{"spec": {"suspend": %v}}`, suspended))
	if !done {
		seen--
	}
	patch(fmt.Sprintf(`{"status": {"observedGeneration": %d}}`, seen), "status")
}

func suspendedRelease(t *testing.T) {
	g := newGround(t)
	withHelmReleases(t, g.Env)
	g.apply("me", helmRelease+gatewayOf("edge", "", "labels: {helm.toolkit.fluxcd.io/name: platform, helm.toolkit.fluxcd.io/namespace: NS}"))
	g.setRelease(false, true)
	g.claim("live.example.com", "gone.example.com")
	g.sweeps()
	g.unclaim("gone.example.com")
	g.setRelease(true, true)
	g.wantGone(true)
	g.setRelease(false, false)
	g.wantGone(true)
	g.remove(helmReleases, "platform")
	g.wantGone(true, listenerOf("gone.example.com"))
	g.later(1000 * time.Hour)
	g.sweeps()
	if g.things()[listenerOf("live.example.com")] == nil {
		t.Error("the listener of a route is gone with the HelmRelease")
	}
}

// pendingRelease has what Helm made so far: the Gateway with the listeners that
// it renders, and their Certificate, but no route; and another Gateway beside.
func pendingRelease(t *testing.T) {
	g := simple(t, "gone.example.com")
	name := engine.ListenerName("late.example.com", 443)
	g.apply("helm", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: pending
  annotations:
    gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: ca}}'
    gatewright.dev/rendered: '{"version": "v1alpha1", "listeners": ["`+name+`"]}'
spec:
  gatewayClassName: test
  listeners:
  - {name: plain, port: 80, protocol: HTTP}
  - {name: `+name+`, port: 443, protocol: HTTPS, hostname: late.example.com, tls: {certificateRefs: [{group: "", kind: Secret, name: `+engine.CertificateName(engine.KindGateway, "pending", "late.example.com")+`}]}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: `+engine.CertificateName(engine.KindGateway, "pending", "late.example.com")+`, labels: {gatewright.dev/for: pending}}
spec: {dnsNames: [late.example.com], secretName: `+engine.CertificateName(engine.KindGateway, "pending", "late.example.com")+`, issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: ca}}
---
{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.pending.v1, labels: {owner: helm, status: pending-install}}, type: helm.sh/release.v1}
`)
	g.wantGone(true)
	g.unclaim("gone.example.com")
	g.later(240 * time.Hour) // it stays pending, and holds up nobody
	g.wantGone(true, listenerOf("gone.example.com"))
	g.sweeps()
	if now := g.things(); now["listener late.example.com of pending"] == nil || now["Certificate for late.example.com"] == nil {
		t.Error("what the pending release made is gone")
	}
}
