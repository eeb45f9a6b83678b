package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLeftAlone: a listener, a Certificate and a redirect are due, and stay as
// long as something says to leave their Gateway alone.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	const (
		ofFlux   = "labels: {helm.toolkit.fluxcd.io/name: platform, helm.toolkit.fluxcd.io/namespace: NS}"
		with     = "http: {listener: true, redirect: true, port: 8080}"
		less     = "http: {listener: true, redirect: false, port: 8080}"
		policyOf = "gatewright.dev/policy"
	)
	g := newGround(t)
	withHelmReleases(t, g.Env)
	g.apply("me", helmRelease+gatewayOf("edge", with, ofFlux))
	g.setRelease(false, true)
	g.claim("live.example.com", "orphan.example.com", "gone.example.com")
	g.sweeps()
	g.unclaim("orphan.example.com")
	g.sweeps()
	g.unclaim("gone.example.com")
	annotate := func(to ...string) {
		t.Helper()
		g.Kubectl(t, "", append([]string{"annotate", "--overwrite", "gateway", "edge", "-n", g.namespace}, to...)...)
	}
	usual := func() { g.apply("me", gatewayOf("edge", less, ofFlux)) }
	for _, tt := range []struct {
		name     string
		do, undo func()
	}{
		{"its policy has a key that is not known", func() { g.apply("me", gatewayOf("edge", less+", newerKey: 1", ofFlux)) }, func() {}},
		{"it is taken out", func() { annotate("gatewright.dev/manage=false") }, func() { annotate("gatewright.dev/manage-") }},
		{"its policy is gone", func() { annotate(policyOf + "-") }, func() {}},
		{"Helm wrote it lately", func() {
			g.apply("helm", "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge, labels: {by: helm}}, spec: {gatewayClassName: test}}")
			g.options.Settle = 10000 * time.Hour
		}, func() { g.options.Settle = 10 * time.Minute }},
		{"its HelmRelease is suspended", func() { g.setRelease(true, true) }, func() { g.setRelease(false, true) }},
		{"its HelmRelease is being reconciled", func() { g.setRelease(false, false) }, func() { g.setRelease(false, true) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			usual()
			tt.do()
			before := g.things()
			got, err := g.sweepBy(t.Context(), g.config)
			if went := gone(before, g.things()); err != nil || len(went) > 0 {
				t.Errorf("removed %q\n%s", went, told(got, err))
				g.restore(before)
			}
			tt.undo()
		})
	}
	usual()
	before := g.things()
	g.sweeps()
	g.later(25 * time.Hour) // marks begin anew where a Gateway was taken out
	g.sweeps()
	want := []string{"Certificate for orphan.example.com", listenerOf("gone.example.com"), "redirect of edge"}
	if diff := cmp.Diff(want, gone(before, g.things())); diff != "" {
		t.Errorf("removed in the end (-want +got):\n%s", diff)
	}
}
