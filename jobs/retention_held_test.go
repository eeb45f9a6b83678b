package jobs_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// What holds everything of a Gateway back holds its Secrets back, too.
func TestSecretsWaitWithTheirGateway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		apply    func(*world)
		says     string
		goesThen bool
	}{
		"nothing": {func(*world) {}, "", true},
		"opted out": {func(w *world) {
			w.Kubectl(w.t, "", "annotate", "gateway", "edge", "-n", w.namespace, "gatewright.dev/manage=false")
		}, "is not managed", false},
		"unknown key": {func(w *world) {
			w.apply("me", strings.Replace(gatewayWithPolicy, "attach:", "newer: 1, attach:", 1))
		}, "has a key that is not known here", false},
		"Helm at work": {func(w *world) {
			w.apply("helm", strings.Replace(gatewayWithPolicy, "name: edge\n", "name: edge\n  labels: {a: b}\n", 1))
		}, "helm wrote it", false},
		"no Gateway": {func(w *world) {
			w.Kubectl(w.t, "", "delete", "gateway", "edge", "-n", w.namespace)
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRetention(t, "{after: 1s}")
			w.apply(issuing, issued("a.example.com"))
			w.sweep()
			w.later(time.Minute)
			c.apply(w)
			r := w.sweep()
			if why := whyHeld(r, "a.example.com"); !strings.Contains(why, c.says) || w.secret("a.example.com") == c.goesThen {
				t.Errorf("held by %q, there: %v", why, w.secret("a.example.com"))
			}
		})
	}
}

// A dry run says what would go, and a run for other Gateways leaves it alone.
func TestSecretsOfOtherRuns(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply(issuing, issued("a.example.com"))
	for _, dry := range []report.DryRun{report.DryRunClient, report.DryRunServer} {
		w.sweep(func(o *jobs.Options) { o.DryRun = dry })
		if w.marked("a.example.com") {
			t.Fatalf("the dry run %s marks the Secret", dry)
		}
	}
	other := func(o *jobs.Options) {
		o.Gateways = []engine.ObjectName{{Namespace: w.namespace, Name: "other"}}
	}
	w.sweep(other)
	if w.marked("a.example.com") {
		t.Fatal("a run for another Gateway marks the Secret")
	}
	w.sweep()
	w.later(24 * time.Hour)
	for _, dry := range []report.DryRun{report.DryRunClient, report.DryRunServer} {
		r := w.sweep(func(o *jobs.Options) { o.DryRun = dry })
		if !strings.Contains(lines(r), "would remove "+certificateOf("edge", "a.example.com")) || !w.secret("a.example.com") {
			t.Errorf("dry run %s: %s", dry, lines(r))
		}
	}
	w.sweep(other)
	if !w.secret("a.example.com") {
		t.Fatal("a run for another Gateway removes the Secret")
	}
	w.sweep()
	if w.secret("a.example.com") {
		t.Error("the Secret is still there")
	}
}

// One that the garbage collector takes at the time is gone, which is no error.
func TestSecretThatGoesOnItsOwn(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply(issuing, issued("a.example.com"))
	w.sweep()
	w.later(24 * time.Hour)
	collected := false
	fault := &clustertest.Fault{Nth: 1 << 30, Match: func(c clustertest.Call) bool {
		if c.Verb == "delete" && c.Resource == "secrets" && !collected {
			collected = true
			w.Kubectl(t, "", "delete", "secret", certificateOf("edge", "a.example.com"), "-n", w.namespace)
		}
		return false
	}}
	w.config = rest.CopyConfig(w.config)
	w.config.Wrap(fault.Wrap)
	if r := w.sweep(); !collected || r.Result != report.Done {
		t.Errorf("%s: %s", r.Result, lines(r))
	}
}
