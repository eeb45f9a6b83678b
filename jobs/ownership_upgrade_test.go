package jobs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/postrender/engine"
)

// upgradeCases are about what an upgrade does to what the sweep added.
var upgradeCases = []ownershipCase{
	{
		name:  "list-unchanged",
		shows: "an upgrade that leaves the chart's listeners alone leaves those of the sweep alone, too",
		ways:  distinct,
		run: func(r *release) {
			r.upgrade(withA)
			r.other("x.example.com")
			r.sweep()
			r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`)
			r.has("http", "a.example.com", "x.example.com")
			r.quiet()
		},
	},
	{
		name:  "list-changed",
		shows: "an upgrade that changes the chart's listeners keeps those of the sweep, or loses them under Helm 3 until the next sweep; marks of stale listeners live in an annotation of their own and conflict with nothing",
		run:   listChanged,
	},
	{
		name:  "replaced-by-force",
		shows: "an upgrade that replaces the whole Gateway loses what the sweep added, even where nothing changes, until the next sweep",
		ways:  patches,
		run: func(r *release) {
			r.upgrade(withA)
			r.other("x.example.com")
			r.sweep()
			flag := "--force"
			if r.how.major == 4 {
				flag = "--force-replace"
			}
			r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`, flag)
			r.has("http", "a.example.com")
			r.sweep()
			r.has("http", "a.example.com", "x.example.com")
			r.quiet()
		},
	},
	{
		name:  "taken-out-by-hand",
		shows: "a rendered listener that somebody takes out while its route stays is put back by the sweep, and an upgrade with another list does not mind",
		ways:  distinct,
		run: func(r *release) {
			r.upgrade(withA)
			r.Kubectl(r.t, "", "patch", "gateway", r.name, "-n", r.namespace, "--type=json", "-p", `[{"op": "remove", "path": "/spec/listeners/1"}]`)
			r.has("http")
			r.sweep()
			r.has("http", "a.example.com")
			r.upgrade(withAAndB)
			r.sweep()
			r.has("http", "a.example.com", "b.example.com")
			r.quiet()
		},
	},
	{
		name:  "taken-out-by-hand-before-an-upgrade",
		shows: "a rendered listener that somebody takes out comes back by an upgrade that applies, and by the next sweep where an upgrade that changes nothing sends nothing",
		ways:  distinct,
		run: func(r *release) {
			r.upgrade(withA)
			r.Kubectl(r.t, "", "patch", "gateway", r.name, "-n", r.namespace, "--type=json", "-p", `[{"op": "remove", "path": "/spec/listeners/1"}]`)
			r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`)
			if r.how.patches {
				r.has("http")
			} else {
				r.has("http", "a.example.com")
			}
			r.sweep()
			r.has("http", "a.example.com")
			r.quiet()
		},
	},
	{
		name:  "field-added-to-a-listener-of-the-chart",
		shows: "a field that somebody adds to a listener of the chart is nothing to the sweep; upgrades keep it, but for those that replace a changed list",
		ways:  distinct,
		run:   fieldAddedToListenerOfChart,
	},
	{
		name:  "listeners-of-the-release-are-not-touched",
		shows: "the sweep writes nothing into a listener that the release rendered or its author wrote, even where the policy would have it otherwise for others",
		ways:  distinct,
		run: func(r *release) {
			const one = `policy: {hostnameOwnership: OneNamespace}`
			r.upgrade(`{routes: {shop: [a.example.com]}, ` + one + `}`)
			before := r.live("Gateway", r.name).GetGeneration()
			r.other("a.example.com")
			got := r.sweep()
			if len(got.Refused) != 1 || got.Refused[0].Reason != engine.ReasonHostnameConflict {
				r.t.Errorf("refused: %+v", got.Refused)
			}
			if r.live("Gateway", r.name).GetGeneration() != before {
				r.t.Error("the sweep wrote into the spec")
			}
			r.ownedBy("a.example.com", r.owner())
			r.quiet()
			r.upgrade(`{routes: {shop: [a.example.com]}, note: next, ` + one + `}`)
		},
	},
	{
		name:  "helm-3-after-helm-4",
		shows: "an upgrade by Helm 3 of a release that Helm 4 applied loses what the sweep added when it changes the list, and the next sweep and the next upgrade by Helm 4 get along with that",
		ways:  func(how helm) bool { return how.name == "helm4" },
		run: func(r *release) {
			r.upgrade(withA)
			r.other("x.example.com")
			r.sweep()
			r.how = helms[0]
			r.upgrade(withAAndB)
			r.has("http", "a.example.com", "b.example.com")
			r.sweep()
			r.has("http", "a.example.com", "b.example.com", "x.example.com")
			r.how = helms[2]
			r.upgrade(withA)
			r.sweep()
			r.has("http", "a.example.com", "x.example.com")
			r.quiet()
		},
	},
	{
		name:  "the-cure-for-helm-3",
		shows: "one upgrade by Helm 4 with --server-side=true makes all later ones keep what the sweep added, and lets the sweep hand over what the chart took over before",
		ways:  func(how helm) bool { return how.patches },
		run: func(r *release) {
			r.upgrade(withoutRoutes)
			r.other("a.example.com", "x.example.com")
			r.sweep()
			r.upgrade(withA)
			r.sweep()
			r.atRisk(true)
			r.how = helms[2]
			r.upgrade(withAAndB, "--server-side=true")
			r.has("http", "a.example.com", "b.example.com", "x.example.com")
			r.settle()
			r.ownedBy("a.example.com", "helm Apply")
			r.upgrade(withB)
			r.settle()
			r.has("http", "a.example.com", "b.example.com", "x.example.com") // a for the other route
			r.ownedBy("a.example.com", "gatewright Apply")
			r.quiet()
			r.atRisk(false)
		},
	},
	{
		name:  "copied-into-the-chart",
		shows: "a computed listener that the chart's author copies into the chart is the chart's from then on; under Helm 3, which sends no field that does not differ, nothing in the cluster tells, and it goes when nobody claims it",
		ways:  distinct,
		run:   copiedIntoTheChart,
	},
	{
		name:  "places-left-free",
		shows: "the sweep leaves eight places free on a Gateway that a release renders, so that its next hostnames fit",
		ways:  distinct,
		run:   placesLeftFree,
	},
	{
		name:  "the-chart-brings-its-own-listener",
		shows: "a listener that the chart's author writes for a hostname that the sweep serves is refused where upgrades apply; a yielded hostname makes room, and stays the chart's",
		run:   chartBringsItsOwn,
	},
}

func listChanged(r *release) {
	r.upgrade(withoutRoutes)
	r.other("x.example.com", "y.example.com")
	r.sweep()
	r.other("x.example.com")
	r.sweep() // y is stale from now on
	r.atRisk(r.how.patches)
	mark := r.annotation(engine.AnnotationState)
	if !strings.Contains(mark, engine.ListenerName("y.example.com", 443)) {
		r.t.Fatalf("no mark for y: %s", mark)
	}
	r.upgrade(withA)
	if r.annotation(engine.AnnotationState) != mark {
		r.t.Error("the upgrade changed the mark")
	}
	if r.how.patches {
		r.has("http", "a.example.com")
	} else {
		r.has("http", "a.example.com", "x.example.com", "y.example.com")
	}
	r.sweep()
	if r.how.patches {
		r.has("http", "a.example.com", "x.example.com")
		if got := r.annotation(engine.AnnotationState); got != "" {
			r.t.Errorf("a mark for nothing is left: %s", got)
		}
	} else {
		r.has("http", "a.example.com", "x.example.com", "y.example.com")
	}
	r.quiet()
}

// atRisk says whether the sweep warns of what the next upgrade takes along.
func (r *release) atRisk(want bool) {
	r.t.Helper()
	got := slices.ContainsFunc(r.sweep().Findings, func(f engine.Finding) bool { return f.Code == jobs.CodeListenersAtRisk })
	if got != want {
		r.t.Errorf("the sweep warns: %v, want %v", got, want)
	}
}

// manyHostnames are values of so many hostnames, which need no Certificates.
func manyHostnames(n int) string {
	var hostnames []string
	for i := range n {
		hostnames = append(hostnames, "h"+string(rune('a'+i/26))+string(rune('a'+i%26))+".example.com")
	}
	return `{routes: {shop: [` + strings.Join(hostnames[:min(n, 16)], ", ") + `], two: [` + strings.Join(hostnames[min(n, 16):min(n, 32)], ", ") +
		`], three: [` + strings.Join(hostnames[min(n, 32):min(n, 48)], ", ") + `], four: [` + strings.Join(hostnames[min(n, 48):], ", ") +
		`]}, policy: {certificates: ListenersOnly}}`
}

func placesLeftFree(r *release) {
	r.upgrade(manyHostnames(53)) // and http: 54
	r.other("w.example.com", "x.example.com", "y.example.com", "z.example.com")
	got := r.sweep()
	if n := len(listenersOf(r.live("Gateway", r.name))); n != 56 || len(got.Refused) != 2 || !strings.Contains(got.Refused[1].Message, "has 56 listeners") {
		r.t.Fatalf("%d listeners, want 56; refused: %+v", n, got.Refused)
	}
	r.upgrade(manyHostnames(61))
	r.sweep()
	want := 64
	if r.how.patches {
		want = 62 // those of the sweep are lost, and the places for them are kept free now
	}
	if n := len(listenersOf(r.live("Gateway", r.name))); n != want {
		r.t.Errorf("%d listeners, want %d", n, want)
	}
	r.quiet()
}

func chartBringsItsOwn(r *release) {
	const own = `{routes: {shop: [a.example.com]}, listeners: [{name: http, port: 80, protocol: HTTP}, {name: shop, port: 443, protocol: HTTPS, hostname: a.example.com, allowedRoutes: {namespaces: {from: All}}, tls: {certificateRefs: [{name: shop}]}}]}`
	r.upgrade(withoutRoutes)
	r.other("a.example.com", "b.example.com")
	r.sweep()
	if err := r.tryUpgrade(own); r.how.patches != (err == nil) {
		r.t.Fatalf("the upgrade: %v", err)
	} else if err != nil && !strings.Contains(err.Error(), "must be unique") {
		r.t.Fatal(err)
	}
	if !r.how.patches {
		gateway := r.options.Gateways[0]
		r.sweep(func(o *jobs.Options) {
			o.Yields = []jobs.Yield{{Gateway: gateway, Hostname: "a.example.com", For: time.Hour}}
		})
		r.has("http", "b.example.com")
		r.upgrade(own)
		r.later(2 * time.Hour)
	}
	r.sweep()
	r.has("http", "a.example.com", "b.example.com")
	if r.listener("a.example.com")["name"] != "shop" {
		r.t.Error("the listener of the chart is not there")
	}
	r.sweep() // marks the Certificate of the listener that is gone
	r.quiet()
}

func copiedIntoTheChart(r *release) {
	r.upgrade(withoutRoutes)
	r.other("a.example.com")
	r.sweep()
	text, err := json.Marshal(r.listener("a.example.com"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.upgrade(`{listeners: [{name: http, port: 80, protocol: HTTP}, ` + string(text) + `]}`)
	r.settle()
	r.other()
	for range 4 {
		r.sweep()
		r.later(25 * time.Hour)
	}
	if r.how.patches {
		r.has("http")
	} else {
		r.has("http", "a.example.com")
	}
	r.quiet()
}

func fieldAddedToListenerOfChart(r *release) {
	r.upgrade(withA)
	name := engine.ListenerName("a.example.com", 443)
	r.Kubectl(r.t, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: EDGE}, spec: {gatewayClassName: test, listeners: [{name: `+name+`, port: 443, protocol: HTTPS, tls: {options: {example.com/min: "1.3"}}}]}}`),
		"apply", "--server-side", "--field-manager=somebody", "-n", r.namespace, "-f", "-")
	has := func(want bool) {
		r.t.Helper()
		tls, _ := r.listener("a.example.com")["tls"].(map[string]any)
		if got := tls["options"] != nil; got != want {
			r.t.Errorf("the listener has the option: %t, want %t", got, want)
		}
	}
	r.settle()
	r.quiet()
	has(true)
	r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`)
	has(true)
	r.upgrade(withAAndB)
	has(!r.how.patches)
	r.settle()
	r.quiet()
	r.has("http", "a.example.com", "b.example.com")
}
