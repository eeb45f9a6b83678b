package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
)

// TestLifeOfAHostname follows one hostname from its route to the removal of its
// listener and, in a later run, of its Certificate.
func TestLifeOfAHostname(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.wantQuiet("edge")

	w.apply("me", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
	if w.get("certificate", certificateOf("edge", "a.example.com")) == nil {
		t.Fatal("no Certificate for a.example.com")
	}
	w.wantQuiet("edge")

	// The route drops a name: the listener is marked, and stays.
	w.apply("me", route("shop", "b.example.com"))
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
	w.wantQuiet("edge")

	// It comes back within the grace period: the mark goes.
	w.later(23 * time.Hour)
	w.apply("me", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	w.apply("me", route("shop", "b.example.com"))
	w.sweep()
	w.later(23 * time.Hour)
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")

	// A whole grace period without a claim: the listener goes, its Certificate is
	// marked in the next run, and goes after another.
	w.later(time.Hour)
	w.sweep()
	w.wantListeners("edge", "http", "b.example.com:443")
	if w.get("certificate", certificateOf("edge", "a.example.com")) == nil {
		t.Fatal("the Certificate went in the run of its listener")
	}
	w.sweep()
	w.wantQuiet("edge")
	w.later(24*time.Hour - time.Minute)
	w.wantQuiet("edge")
	w.later(time.Minute)
	w.sweep()
	if w.get("certificate", certificateOf("edge", "a.example.com")) != nil {
		t.Fatal("the Certificate is still there")
	}
	if w.get("certificate", certificateOf("edge", "b.example.com")) == nil {
		t.Fatal("the Certificate of a live hostname is gone")
	}
	w.wantQuiet("edge")
}

// TestBreaker: what would take many listeners at once waits for somebody to look.
func TestBreaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com", "b.example.com", "c.example.com", "d.example.com"))
	w.sweep()
	w.Kubectl(t, "", "delete", "httproute", "shop", "-n", w.namespace)
	w.sweep()
	w.later(48 * time.Hour)
	got, err := w.trySweep()
	if err != nil {
		t.Fatal(err)
	}
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443", "c.example.com:443", "d.example.com:443")
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, "--max-removals 4") || got.Result != report.Partial {
		t.Errorf("%s: %s", got.Result, lines(got))
	}
	w.sweep(func(o *jobs.Options) { o.MaxRemovals = 4 })
	w.wantListeners("edge", "http")
	w.sweep() // marks the Certificates
	w.wantQuiet("edge")
}
