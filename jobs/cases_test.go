package jobs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs/report"
)

// reported are bugs that users reported of other tools, with what is right. Each
// is shown here, or by tests of a name elsewhere.
var reported = []struct {
	id, right string
	test      func(*testing.T)
	shownBy   []string
}{
	{"B41", "two writers of one list: others' listeners keep their content and order, and a second run writes nothing", othersKeepTheirOrder, nil},
	{"B42", "a listener is ours by its field manager, not by its name", nameIsNoProof, nil},
	{"B43", "an upgrade by server-side apply meets no conflict after the sweep wrote", nil, []string{"TestSweepAmidHelm", "TestOwnership"}},
	{"B45", "no update of the shared Gateway is lost", nil, []string{"TestChangeBetweenReadAndWrite", "TestInvariant"}},
	{"B46", "of a suspended release nothing is removed, and routes are claims with or without their release", suspendedRelease, nil},
	{"B47", "nothing is removed while a release is being installed, and one that never ends holds up no other", pendingRelease, []string{"TestSweepAmidHelm"}},
	{"B80", "a list that fails is not an empty list", nil, []string{"TestInvariant"}},
	{"B82", "a kind that is missing or being deleted proves nothing, unless nothing came of it", missingKinds, nil},
	{"B82", "a kind that was missing proves nothing at once when it is back", missingForDays, nil},
	{"B82", "who holds a hostname holds it while its kind is missing", missingForHolders, nil},
	{"B83", "a broken aggregated API matters only if it is needed", brokenAggregatedAPI, []string{"TestInvariant"}},
	{"B84", "a forbidden list proves nothing, and a forbidden removal costs only itself", forbiddenRemoval, []string{"TestInvariant"}},
	{"B85", "lists are read to their last page", lastPage, nil},
	{"B87", "what was claimed since the first look stays", claimedBetweenLooks, []string{"TestTwoSweepsAtOnce"}},
	{"B88", "odd hostnames have the same names in every run", oddHostnames, nil},
	{"B88", "odd hostnames that a release rendered have the names that the sweep would give them", renderedOddHostnames, nil},
	{"B88", "what has a name by other rules than those of today stays while it is claimed", otherNames, nil},
	{"B89", "not ready is not gone", notReady, nil},
	{"B90", "too many removals at once wait for somebody", tooManyAtOnce, []string{"TestBreaker"}},
	{"B91", "a Secret that somebody made stays", nil, []string{"TestForeignSecretsStay"}},
	{"B93", "what is being issued stays", issuingStays, []string{"TestSecretOfIssuingCertificateStays"}},
	{"B94", "a Secret that outlives its Certificate goes, where the policy says so", nil, []string{"TestSecretGoesLast", "TestRetentionWithCertManager"}},
	{"B95", "an orphaned Secret waits for its time", nil, []string{"TestSecretRetentionTime"}},
	{"B96", "first the listener, then its Certificate, then its Secret", nil, []string{"TestLifeOfAHostname", "TestSecretGoesLast"}},
	{"B97", "a hostname that changes: the new one comes first, the old one goes when nobody claims it", changedHostname, nil},
	{"B101", "no ownerReference leads to another namespace", noForeignOwners, nil},
	{"B102", "a removal that fails stops no other, and one that was done already counts as none", failedRemoval, nil},
	{"B103", "two sweeps at once, or none for days, come to the same end", longSilence, []string{"TestTwoSweepsAtOnce", "TestTwoSweepsWithALease"}},
	{"B104", "what something else uses stays", nil, []string{"TestInvariant", "TestSecretsInUseStay", "TestSecretsOfPodsStay"}},
}

func TestReportedBugs(t *testing.T) {
	t.Parallel()
	tests := testsHere(t)
	for _, bug := range reported {
		t.Run(bug.id+" "+bug.right, func(t *testing.T) {
			for _, name := range bug.shownBy {
				if !strings.Contains(tests, "\nfunc "+name+"(t *testing.T)") {
					t.Errorf("there is no %s", name)
				}
			}
			if bug.test != nil {
				bug.test(t)
			}
		})
	}
}

// testsHere is the text of all tests of this package.
func testsHere(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	return text.String()
}

// simple is a ground with one Gateway and a route for each hostname, named after
// its first label, all served.
func simple(t *testing.T, hostnames ...string) *ground {
	t.Helper()
	g := newGround(t)
	g.apply("me", gatewayOf("edge", "", ""))
	g.claim(hostnames...)
	g.sweeps()
	return g
}

func (g *ground) claim(hostnames ...string) {
	g.t.Helper()
	for _, hostname := range hostnames {
		name, _, _ := strings.Cut(hostname, ".")
		g.apply("me", routeTo("HTTPRoute", name, toEdge, hostname, ""))
	}
}

// unclaim deletes the routes of hostnames, lets the sweep mark the listeners,
// and lets a day go by.
func (g *ground) unclaim(hostnames ...string) {
	g.t.Helper()
	for _, hostname := range hostnames {
		name, _, _ := strings.Cut(hostname, ".")
		g.remove(httpRoutes, name)
	}
	g.sweeps()
	g.later(25 * time.Hour)
}

// wantGone runs one sweep and says what is gone after it. The report is clean if
// nothing keeps the sweep from its work.
func (g *ground) wantGone(clean bool, want ...string) *report.Report {
	g.t.Helper()
	before := g.things()
	got, err := g.sweepBy(g.t.Context(), g.config)
	g.checkGone(before, got, err, clean, want...)
	return got
}

func (g *ground) checkGone(before things, got *report.Report, err error, clean bool, want ...string) {
	g.t.Helper()
	slices.Sort(want)
	went := gone(before, g.things())
	if diff := cmp.Diff(want, went); diff != "" && len(want)+len(went) > 0 {
		g.t.Errorf("removed (-want +got):\n%s\n%s", diff, told(got, err))
	}
	if isClean := err == nil && got.Result == report.Done; isClean != clean {
		g.t.Errorf("the report is clean: %v, want %v\n%s", isClean, clean, told(got, err))
	}
}

// listenerOf is the name of a listener of Gateway edge among the things.
func listenerOf(hostname string) string { return "listener " + hostname + " of edge" }
