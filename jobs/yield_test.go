package jobs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// yields gives a hostname of a Gateway or ListenerSet up for an hour.
func (w *world) yields(parent, hostname string) func(*jobs.Options) {
	return func(o *jobs.Options) {
		o.Yields = []jobs.Yield{{Gateway: engine.ObjectName{Namespace: w.namespace, Name: parent}, Hostname: hostname, For: time.Hour}}
	}
}

// notYielded is what a report says of yields that do nothing.
func notYielded(r *report.Report) string {
	for _, f := range r.Findings {
		if f.Code == engine.CodeNotYielded {
			return string(f.Severity) + " " + f.Object + ": " + f.Message
		}
	}
	return ""
}

func chartListenerSet(listeners ...string) string {
	return `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: more}, spec: {parentRef: {name: edge}, listeners: [` +
		strings.Join(append([]string{"{name: hand, port: 443, protocol: HTTPS, hostname: hand.example.com, tls: {certificateRefs: [{name: h}]}}"}, listeners...), ", ") + `]}}`
}

// TestYieldOfAListenerSet: what the preflight says to do for a ListenerSet works,
// and leaves a Gateway of the same name alone.
func TestYieldOfAListenerSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Settle = 0
	w.apply("me", gatewayOf("edge", "", "")+gatewayOf("more", "", ""))
	w.apply("helm", chartListenerSet())
	w.apply("app", routeTo("HTTPRoute", "shop", toMore, "a.example.com, b.example.com", "")+routeTo("HTTPRoute", "twin", "{name: more}", "c.example.com", ""))
	w.sweep()
	only(t, w.preflight(chartListenerSet(shopListener)), jobs.CodeWouldBeRefused, "gatewright sweep --yield "+w.namespace+"/more:a.example.com")

	if said := notYielded(w.sweep(w.yields("more", "a.example.com"))); said != "" {
		t.Errorf("the report says %q", said)
	}
	w.sweep() // marks the Certificate
	w.wantQuiet("edge", "more")
	if findings := w.preflight(chartListenerSet(shopListener)); len(findings) != 0 {
		t.Fatal(findings)
	}
	w.apply("helm", chartListenerSet(shopListener))
	if r := w.sweep(w.yields("more", "a.example.com")); r.Result != report.Done {
		t.Errorf("the chart has its listener, and the yield is asked for again: %s %v", r.Result, r.Problems)
	}
	w.later(2 * time.Hour)
	w.sweep()
	if got := len(listenerObjects(w.get("listenerset", "more"))); got != 3 {
		t.Errorf("the ListenerSet has %d listeners, want its two and that of b.example.com", got)
	}
	w.wantListeners("more", "plain", "more.hand.example.com:443", "c.example.com:443")
}

// TestYieldOfAStandingListener: one that the policy asks for is given up, too.
func TestYieldOfAStandingListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayOf("edge", `passthrough: [{name: pg, port: 5432, hostname: "*.pg.example.com"}]`, ""))
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "*.pg.example.com:5432")
	w.sweep(w.yields("edge", "*.pg.example.com"))
	w.wantListeners("edge", "plain", "edge.hand.example.com:443")
	w.wantQuiet("edge")
	w.later(time.Hour)
	w.sweep()
	w.wantListeners("edge", "plain", "edge.hand.example.com:443", "*.pg.example.com:5432")
}

// TestYieldOfNothing: a yield that gives nothing up is a problem, so that an
// upgrade does not go on. One that is in force is none, nor is its end.
func TestYieldOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	for what, says := range map[[2]string]string{
		{"edge", "typo.example.com"}: "warning Gateway NS/edge: yielding typo.example.com does nothing: ",
		{"gone", "a.example.com"}:    "yielding a.example.com does nothing: ",
	} {
		r, _ := w.trySweep(w.yields(what[0], what[1]))
		if said := notYielded(r); r.Result != report.Partial || !slices.ContainsFunc(r.Problems, func(p report.Problem) bool { return strings.Contains(p.Message, "correct --yield") }) || !strings.Contains(said, strings.ReplaceAll(says, "NS", w.namespace)) {
			t.Errorf("%s: %q", what, said)
		}
	}
	w.wantListeners("edge", "http", "a.example.com:443")
	for range 2 { // the second time it is given up already
		r := w.sweep(w.yields("edge", "a.example.com"))
		if said := notYielded(r); said != "" || r.Result != report.Done {
			t.Errorf("the report says %q, the result is %s: %v", said, r.Result, r.Problems)
		}
	}
	w.wantListeners("edge", "http")
	r, _ := w.trySweep(w.yields("edge", "a.example.com"), func(o *jobs.Options) {
		o.Gateways = []engine.ObjectName{{Namespace: w.namespace, Name: "other"}}
	})
	if r.Result != report.Partial || !strings.Contains(r.Problems[0].Message, "--gateway leaves it out") {
		t.Errorf("the Gateway is not chosen: %s %v", r.Result, r.Problems)
	}
	if r := w.sweep(w.yields("edge", "http.example.com"), func(o *jobs.Options) { o.Yields[0].For = 0 }); r.Result != report.Done {
		t.Errorf("the end of no yield: %s %v", r.Result, r.Problems)
	}
}

// TestYieldOfNothingIsForgotten: a route that comes after a yield in vain gets
// its listener at once.
func TestYieldOfNothingIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	if _, err := w.trySweep(w.yields("edge", "a.example.com")); err != nil {
		t.Fatal(err)
	}
	w.wantQuiet("edge")
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443")
}

// TestYieldIsEnded: what waits for the end of a yield is said in each run, and a
// yield for no time ends it.
func TestYieldIsEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.sweep(w.yields("edge", "a.example.com"))
	r := w.sweep()
	if !slices.ContainsFunc(r.Findings, func(f engine.Finding) bool { return f.Code == engine.CodeYielded }) {
		t.Errorf("findings %v, want one that a.example.com is yielded", r.Findings)
	}
	w.wantListeners("edge", "http")
	w.sweep(func(o *jobs.Options) {
		o.Yields = []jobs.Yield{{Gateway: engine.ObjectName{Namespace: w.namespace, Name: "edge"}, Hostname: "a.example.com"}}
	})
	w.wantListeners("edge", "http", "a.example.com:443")
	w.wantQuiet("edge")
}
