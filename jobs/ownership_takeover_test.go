package jobs_test

import (
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

func applies(how helm) bool  { return !how.patches }
func patches(how helm) bool  { return how.patches }
func unforced(how helm) bool { return !how.forced }

const (
	withoutRoutes = `{routes: {}}`
	withA         = `{routes: {shop: [a.example.com]}}`
	withB         = `{routes: {shop: [b.example.com]}}`
	withAAndB     = `{routes: {shop: [a.example.com, b.example.com]}}`
)

// takeoverCases are about a hostname that the sweep serves first, and the chart
// later, and the other way round.
var takeoverCases = []ownershipCase{
	{
		name:  "sweep-first-chart-later",
		shows: "the chart takes over a listener and a Certificate that the sweep made: that carries the marks of its release, and both faces write every field alike",
		run:   sweepFirstChartLater,
	},
	{
		name:  "chart-first-sweep-later",
		shows: "a hostname that moves from the chart to another release is made again by the next sweep, with the Secret that is there",
		ways:  distinct,
		run:   chartFirstSweepLater,
	},
	{
		name:  "not-handed-over-too-early",
		shows: "a listener that the chart renders by now, but that Helm does not own since it sends differences alone, stays in the sweep's apply",
		ways:  patches,
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			r.upgrade(withA)
			r.ownedBy("a.example.com", "gatewright Apply")
			r.quiet()
			r.other("a.example.com", "b.example.com") // so that there is something to apply
			r.sweep()
			r.has("http", "a.example.com", "b.example.com")
			r.ownedBy("a.example.com", "gatewright Apply")
		},
	},
	{
		name:  "handed-over",
		shows: "a listener that an applying release took over leaves the sweep's apply, stays, and is the chart's to change and to drop",
		ways:  applies,
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			r.other()
			r.upgrade(withA)
			r.ownedBy("a.example.com", "gatewright Apply", r.owner())
			r.sweep()
			r.ownedBy("a.example.com", r.owner())
			r.upgrade(`{routes: {shop: [a.example.com]}, policy: {attach: {from: Same}}}`)
			if from := r.listener("a.example.com")["allowedRoutes"].(map[string]any)["namespaces"].(map[string]any)["from"]; from != "Same" {
				r.t.Errorf("the chart changed its attach to Same, and the listener admits %s", from)
			}
			r.upgrade(withoutRoutes)
			r.has("http")
		},
	},
	{
		name:  "only-one-field-differs",
		shows: "where the chart's version of a listener of the sweep differs in one field, which Helm 3 then owns alone, the sweep applies on without a conflict and without losing it",
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			r.other()
			err := r.tryUpgrade(`{routes: {shop: [a.example.com]}, policy: {attach: {from: Same}}}`)
			if r.refuses(err, "allowedRoutes.namespaces.from") {
				return
			}
			r.sweep()
			r.has("http", "a.example.com")
			r.upgrade(`{routes: {shop: [a.example.com]}, note: next, policy: {attach: {from: Same}}}`)
			r.settle()
			r.has("http", "a.example.com")
			r.quiet()
		},
	},
	{
		name:  "another-issuer-in-the-same-upgrade",
		shows: "an upgrade that both takes over a Certificate of the sweep and gives it another issuer is refused by Helm 4, goes unheard by Helm 3 until the next sweep, and passes where the issuer changes one sweep earlier",
		run:   anotherIssuer,
	},
	{
		name:  "taken-over-then-changed",
		shows: "a Certificate that the chart took over is the chart's to change",
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			r.upgrade(withA)
			r.settle()
			r.quiet()
			r.upgrade(`{routes: {shop: [a.example.com]}, policy: {issuerRef: {kind: ClusterIssuer, name: next}}}`)
			r.sweep()
			if issuer := r.issuer("a.example.com"); issuer != "next" {
				r.t.Errorf("the issuer is %s", issuer)
			}
			r.quiet()
			if !r.how.patches && r.isOurs(r.certificate("a.example.com")) {
				r.t.Error("the Certificate is still ours, too")
			}
		},
	},
	{
		name:  "taken-over-and-dropped-before-a-sweep",
		shows: "a listener that both own goes after the chart drops it: with the upgrade under Helm 3, else when it has been stale for the grace period; the Certificate that Helm took over goes with the upgrade",
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			r.other()
			r.upgrade(withA)
			r.upgrade(withoutRoutes) // before a sweep could hand it over
			if r.certificate("a.example.com") != nil {
				r.t.Error("Helm took the Certificate over, and leaves it when the chart drops it")
			}
			if r.how.patches {
				r.has("http")
			} else {
				r.has("http", "a.example.com")
				r.ownedBy("a.example.com", "gatewright Apply")
			}
			r.sweep()
			r.later(25 * time.Hour)
			r.settle()
			r.has("http")
			if r.certificate("a.example.com") != nil {
				r.t.Error("the sweep made the Certificate again, for nobody")
			}
			r.quiet()
		},
	},
	{
		name:  "redirect-of-both",
		shows: "the redirect route and the plain listener that both faces write are taken over without a conflict, since every default is spelled out",
		ways:  distinct,
		run:   func(r *release) { redirectOfBoth(r, "") },
	},
	{
		name:  "redirect-of-both-and-of-solvers",
		shows: "that is so, too, where the policy names the Gateway's own namespace among those of solvers: both faces write Same for it",
		ways:  applies,
		run:   func(r *release) { redirectOfBoth(r, ", acmeNamespaces: [NS]") },
	},
	{
		name:  "listenerset-of-both",
		shows: "a listener that the sweep put into a ListenerSet of a release is taken over by the chart without a conflict on its certificateRefs",
		ways:  distinct,
		run:   listenerSetOfBoth,
	},
}

func redirectOfBoth(r *release, more string) {
	redirect := `policy: {issuerRef: {kind: ClusterIssuer, name: tests}, http: {listener: true, redirect: true}` + more + `}, listeners: [{name: hand, port: 443, protocol: HTTPS, hostname: hand.example.com, tls: {certificateRefs: [{name: hand}]}}]`
	plain := func() map[string]any {
		return listenersOf(r.live("Gateway", r.name))[1]
	}
	r.bare(`{` + redirect + `}`)
	r.sweep()
	r.has("http", "hand.example.com")
	if len(r.redirects()) != 1 {
		r.t.Fatalf("redirects of the sweep: %q", r.redirects())
	}
	was := plain()
	r.upgrade(`{note: through the post-renderer, ` + redirect + `}`)
	if diff := gocmp.Diff(was, plain()); diff != "" {
		r.t.Errorf("the plain listener changed (-sweep's +chart's):\n%s", diff)
	}
	owners := []string{"gatewright Apply"}
	if !r.how.patches {
		owners = append(owners, r.owner())
	}
	if diff := gocmp.Diff(owners, r.ownersOf(engine.PlainListenerName)); diff != "" {
		r.t.Errorf("owners of the plain listener (-want +got):\n%s", diff)
	}
	r.settle()
	r.has("http", "hand.example.com")
	r.quiet()
	route := r.live("HTTPRoute", strings.TrimPrefix(r.redirects()[0], "httproute.gateway.networking.k8s.io/"))
	if !r.how.patches && r.isOurs(route) {
		r.t.Error("the redirect is still ours, too")
	}
}

func sweepFirstChartLater(r *release) {
	r.upgrade(withoutRoutes)
	r.other("a.example.com")
	r.sweep()
	r.has("http", "a.example.com")
	r.ownedBy("a.example.com", "gatewright Apply")
	was, listener := r.certificate("a.example.com"), r.listener("a.example.com")
	if was.GetAnnotations()["meta.helm.sh/release-name"] != r.name {
		r.t.Errorf("the Certificate lacks the marks of the release: %v", was.GetAnnotations())
	}

	r.upgrade(withA)
	r.has("http", "a.example.com")
	now := r.certificate("a.example.com")
	if now.GetUID() != was.GetUID() || now.GetGeneration() != was.GetGeneration() {
		r.t.Error("the Certificate was made anew, or changed")
	}
	if diff := gocmp.Diff(listener, r.listener("a.example.com")); diff != "" {
		r.t.Errorf("the listener changed (-sweep's +chart's):\n%s", diff)
	}
	r.settle()
	r.quiet()

	r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`) // and once more, after the sweep
	r.quiet()
	r.has("http", "a.example.com")
}

func chartFirstSweepLater(r *release) {
	r.upgrade(withA)
	r.other("a.example.com")
	r.quiet()
	r.upgrade(withoutRoutes)
	r.has("http")
	if r.certificate("a.example.com") != nil {
		r.t.Error("the Certificate of the chart is still there")
	}
	r.sweep()
	r.has("http", "a.example.com")
	if r.certificate("a.example.com") == nil {
		r.t.Error("the sweep made no Certificate")
	}
	r.quiet()
	r.upgrade(withA) // and back
	r.settle()
	r.has("http", "a.example.com")
	r.quiet()
}

func anotherIssuer(r *release) {
	const next = `policy: {issuerRef: {kind: ClusterIssuer, name: next}, attach: {from: All}}`
	r.upgrade(withoutRoutes)
	r.other("a.example.com")
	r.sweep()
	err := r.tryUpgrade(`{routes: {shop: [a.example.com]}, ` + next + `}`)
	if r.refuses(err, "spec.issuerRef.name") {
		r.upgrade(`{` + next + `}`) // one thing after the other
		r.sweep()
		r.upgrade(`{routes: {shop: [a.example.com]}, ` + next + `}`)
	}
	if r.how.patches && r.issuer("a.example.com") != "tests" {
		r.t.Error("Helm's patch of a Certificate that it takes over changes something by now")
	}
	r.sweep()
	if issuer := r.issuer("a.example.com"); issuer != "next" {
		r.t.Errorf("the issuer is %s", issuer)
	}
	r.settle()
	r.quiet()
}

func listenerSetOfBoth(r *release) {
	const set = `objects: [{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: EDGE-set}, spec: {parentRef: {name: EDGE},
 listeners: [{name: hand, port: 443, protocol: HTTPS, hostname: hand.example.com, tls: {certificateRefs: [{name: hand}]}}]}}`
	const asks = `, {apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: EDGE-set}, spec: {parentRefs: [{kind: ListenerSet, name: EDGE-set}], hostnames: [s.example.com]}}]`
	has := func() bool {
		return slices.ContainsFunc(listenersOf(r.live("ListenerSet", r.name+"-set")), func(l map[string]any) bool { return l["hostname"] == "s.example.com" })
	}
	r.bare(`{` + set + `]}`)
	r.Apply(r.t, "me", r.namespace, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: EDGE-hand}, spec: {parentRefs: [{kind: ListenerSet, name: EDGE-set}], hostnames: [s.example.com]}}`))
	r.sweep()
	if !has() {
		r.t.Fatal("the sweep adds nothing to the ListenerSet")
	}
	r.upgrade(`{` + set + asks + `}`)
	if !has() {
		r.t.Error("the upgrade lost the listener")
	}
	r.settle()
	r.quiet()
	if !has() {
		r.t.Error("the sweep lost the listener")
	}
}
