package jobs_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs"
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
	t.Parallel()
	g := ripe(t)
	withHelmReleases(t, g.Env)
	g.reconciled()
	before := g.things()
	g.dry(before)
	g.invariant(before, 16)
	g.refreshed(before)
	g.unknown(before)
}

// TestInvariantOfNamespaces is the same where the sweep may read some namespaces
// only: what admits others stays.
func TestInvariantOfNamespaces(t *testing.T) {
	t.Parallel()
	g := ripe(t)
	withHelmReleases(t, g.Env)
	g.reconciled()
	g.options.Namespaces = []string{g.namespace, g.other}
	g.due = []string{"Certificate for orphan.example.com", "listener gone-one.example.com of one", "listener old.example.com of raw", "redirect of redir"}
	g.invariant(g.things(), 32)
}

// invariant lets the reads of a sweep go wrong: in all ways, or in one of so many.
func (g *ground) invariant(before things, oneOf int) {
	g.t.Helper()
	reads := readsOf(g.undisturbed(before))
	all := disturbances(reads)
	some := all
	if os.Getenv(everyFault) == "" {
		some = sample(all, oneOf)
	}
	g.t.Logf("%d of %d faults at %d reads; %s=1 runs all", len(some), len(all), len(reads), everyFault)
	for _, d := range some {
		g.disturbed(d, before)
	}
	g.undisturbed(before)
}

// dry runs sweeps that are to change nothing.
func (g *ground) dry(before things) {
	g.t.Helper()
	for _, how := range []report.DryRun{report.DryRunClient, report.DryRunServer} {
		recorder := &clustertest.Recorder{}
		got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, recorder.Wrap), func(o *jobs.Options) { o.DryRun = how })
		// The body of a deletion says that it is a dry run.
		writes := slices.DeleteFunc(recorder.Calls(), func(c clustertest.Call) bool { return c.Reads() || c.Verb == "delete" && how == report.DryRunServer })
		if went := gone(before, g.things()); err != nil || len(went) > 0 || len(writes) > 0 || got.Result != report.Done {
			g.t.Errorf("dry run %s: removed %q by %v\n%s", how, went, writes, told(got, err))
		}
	}
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
	if diff := cmp.Diff(g.due, gone(before, g.things())); diff != "" {
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
	recovered := !d.lasts && clean && slices.Equal(went, g.due)
	unproven := !isSubset(went, d.spares(g.due))
	switch {
	case hits() == 0:
		g.t.Errorf("%s: the fault struck nothing", d)
	case recovered:
	case unproven:
		g.t.Errorf("%s: removed %q\n%s", d, went, told(got, err))
	case clean && len(d.spares(g.due)) < len(g.due):
		g.t.Errorf("%s: the report is clean\n%s", d, told(got, err))
	}
	g.restore(before)
}
