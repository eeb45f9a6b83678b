package jobs_test

import (
	"strings"
	"time"
)

// brokenCases are about releases that go wrong.
var brokenCases = []ownershipCase{
	{
		name:  "once-without-the-post-renderer",
		shows: "an upgrade without the post-renderer takes listener and Certificate away; the sweep puts both back from the chart's routes, and the next upgrade takes them over",
		ways:  distinct,
		run: func(r *release) {
			r.upgrade(withA)
			r.bare(`{routes: {shop: [a.example.com]}, note: bare}`)
			r.has("http")
			if r.certificate("a.example.com") != nil {
				r.t.Error("the Certificate is still there")
			}
			r.sweep()
			r.has("http", "a.example.com")
			r.upgrade(withA)
			r.has("http", "a.example.com")
			r.settle()
			r.quiet()
		},
	},
	{
		name:  "once-without-the-post-renderer-kept",
		shows: "a Certificate with Helm's annotation to keep it survives that, and is taken over again",
		ways:  distinct,
		run: func(r *release) {
			const values = `routes: {shop: [a.example.com]}, policy: {certificateTemplate: {annotations: {helm.sh/resource-policy: keep}}}`
			r.upgrade(`{` + values + `}`)
			was := r.certificate("a.example.com").GetUID()
			r.bare(`{note: bare, ` + values + `}`)
			r.sweep()
			r.has("http", "a.example.com")
			r.upgrade(`{` + values + `}`)
			r.settle()
			if r.certificate("a.example.com").GetUID() != was {
				r.t.Error("the Certificate was made anew")
			}
			r.quiet()
		},
	},
	{
		name:  "once-without-the-post-renderer-and-its-policy",
		shows: "where the policy comes by a flag of the post-renderer, an upgrade without it takes the policy along: the sweep neither repairs nor removes anything until the next upgrade, which passes",
		ways:  distinct,
		run:   withoutPolicy,
	},
	{
		name:  "rollback",
		shows: "a rollback to a revision that rendered a Certificate which the sweep has made since fails under Helm 3, whoever made it; an upgrade with the values of that revision does not",
		ways:  distinct,
		run: func(r *release) {
			r.upgrade(withA)
			r.upgrade(withoutRoutes)
			r.other("a.example.com")
			r.sweep()
			err := r.rollback("1")
			if r.how.patches {
				if err == nil || !strings.Contains(err.Error(), "metadata.resourceVersion: Invalid value") {
					r.t.Errorf("the rollback: %v", err)
				}
				r.sweep()
				r.upgrade(withA)
			} else if err != nil {
				r.t.Fatal(err)
			}
			r.sweep()
			r.has("http", "a.example.com")
			if r.certificate("a.example.com") == nil {
				r.t.Error("there is no Certificate")
			}
			r.quiet()
		},
	},
}

func withoutPolicy(r *release) {
	flag := r.rendering("--issuer=ClusterIssuer/tests")
	put := func(note string, args ...string) {
		r.t.Helper()
		if err := r.put(chart, `{policy: null, routes: {shop: [a.example.com]}, note: `+note+`}`, args...); err != nil {
			r.t.Fatal(err)
		}
	}
	put("first", flag...)
	r.Apply(r.t, "me", r.namespace, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: EDGE-hand}, spec: {parentRefs: [{name: EDGE}], hostnames: [x.example.com]}}`))
	r.sweep()
	r.has("http", "a.example.com", "x.example.com")
	put("bare")
	left := []string{"http", "x.example.com"}
	if r.how.patches {
		left = []string{"http"}
	}
	r.has(left...)
	r.quiet()
	r.later(48 * time.Hour)
	r.quiet()
	put("again", flag...)
	r.settle()
	r.has("http", "a.example.com", "x.example.com")
	r.quiet()
}
