package jobs_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// everyFault lets the test of the invariant run with every fault of every read,
// not a sample.
const everyFault = "GATEWRIGHT_EVERY_FAULT"

// TestInvariant: whatever goes wrong at whatever read, nothing is removed whose
// absence is not proven. What the fixture calls stale goes when nothing goes
// wrong, and nothing else ever does.
func TestInvariant(t *testing.T) {
	g := ripe(t)
	withHelmReleases(t, g.Env)
	g.reconciled()
	before := g.things()
	reads := readsOf(g.undisturbed(before))
	all := disturbances(reads)
	some := all
	if os.Getenv(everyFault) == "" {
		some = sample(all, 12)
	}
	t.Logf("%d of %d faults at %d reads; %s=1 runs all", len(some), len(all), len(reads), everyFault)
	for _, d := range some {
		g.disturbed(d, before)
	}
	g.undisturbed(before)
	g.refreshed(before)
	g.unknown(before)
}

// sample takes one of so many, others of each read.
func sample(all []disturbance, oneOf int) []disturbance {
	var out []disturbance
	for i := 0; i < len(all); i += oneOf + 1 {
		out = append(out, all[i])
	}
	return out
}

// undisturbed says that all that is stale goes, restores it, and returns the
// requests.
func (g *ground) undisturbed(before things) []clustertest.Call {
	g.t.Helper()
	recorder := &clustertest.Recorder{}
	got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, smallPages, recorder.Wrap))
	if err != nil || got.Result != report.Done {
		g.t.Fatal(told(got, err))
	}
	if diff := cmp.Diff(stale, gone(before, g.things())); diff != "" {
		g.t.Fatalf("removed (-want +got):\n%s\n%s", diff, told(got, err))
	}
	g.restore(before)
	return recorder.Calls()
}

// disturbed runs one sweep with a fault. Either the sweep got over it, by asking
// again; or it says that something is wrong, and removes at most what the read
// has nothing to do with.
func (g *ground) disturbed(d disturbance, before things) {
	g.t.Helper()
	wrap, hits := d.wrap()
	got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, smallPages, wrap))
	went := gone(before, g.things())
	clean := err == nil && got.Result == report.Done
	recovered := !d.lasts && clean && slices.Equal(went, stale)
	unproven := !isSubset(went, d.spares())
	switch {
	case hits() == 0:
		g.t.Errorf("%s: the fault struck nothing", d)
	case recovered:
	case unproven:
		g.t.Errorf("%s: removed %q\n%s", d, went, told(got, err))
	case clean && !d.isIdle():
		g.t.Errorf("%s: the report is clean\n%s", d, told(got, err))
	}
	if len(went) > 0 {
		g.restore(before)
	}
}
