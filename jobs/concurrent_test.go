package jobs_test

import (
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// pausing lets a process stand still before its nth request that matches, while
// something else happens.
func pausing(n int, match func(clustertest.Call) bool, meanwhile func()) func(http.RoundTripper) http.RoundTripper {
	var mutex sync.Mutex
	matched := 0
	stand := func(c clustertest.Call) {
		mutex.Lock() // all requests of the process stand still
		defer mutex.Unlock()
		if !match(c) {
			return
		}
		if matched++; matched == n {
			meanwhile()
		}
	}
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			stand(clustertest.ParseCall(r))
			return next.RoundTrip(r)
		})
	}
}

func every(clustertest.Call) bool { return true }

// steps is every, or every so many, of the numbers from 1 to last.
func steps(last, oneOf int) []int {
	if os.Getenv(everyFault) != "" {
		oneOf = 1
	}
	var out []int
	for n := 1; n <= last; n += oneOf {
		out = append(out, n)
	}
	return out
}

// outcomeOf is a sweep that another goroutine ran.
type outcomeOf struct {
	report *report.Report
	err    error
}

func (g *ground) outcome(wrap func(http.RoundTripper) http.RoundTripper) outcomeOf {
	got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, wrap))
	return outcomeOf{got, err}
}

// wantCalm says that nothing that lives was lost, that no sweep complains, and
// that all ends as it would have with one sweep alone.
func (g *ground) wantCalm(what string, alive things, want calm, sweeps ...outcomeOf) {
	g.t.Helper()
	if went := gone(alive, g.things()); !isSubset(went, stale) {
		g.t.Errorf("%s: removed %q", what, went)
	}
	for i, s := range sweeps {
		if s.err != nil || s.report.Result != report.Done {
			g.t.Errorf("%s: sweep %d: %s", what, i+1, told(s.report, s.err))
		}
	}
	if diff := cmp.Diff(want.now, g.comesToRest(false).now); diff != "" {
		g.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestTwoSweepsAtOnce: two processes without a Lease lose nothing and need no
// third to tidy up, whichever requests of one the other falls between.
func TestTwoSweepsAtOnce(t *testing.T) {
	t.Parallel()
	g := busy(t)
	start, alive := g.objects(), g.things()
	recorder := &clustertest.Recorder{}
	first := g.outcome(recorder.Wrap)
	requests := len(recorder.Calls())
	want := g.comesToRest(false)
	g.wantCalm("alone", alive, want, first)
	writes := 0
	for _, c := range recorder.Calls() {
		if c.Writes() {
			writes++
		}
	}
	nothing := func(next http.RoundTripper) http.RoundTripper { return next }

	for _, n := range steps(requests, 9) {
		g.reset(start)
		var second outcomeOf
		first := g.outcome(pausing(n, every, func() { second = g.outcome(nothing) }))
		g.wantCalm("all of the second before request "+strconv.Itoa(n)+" of the first", alive, want, first, second)
	}
	for _, n := range steps(writes, 5) {
		for _, m := range steps(writes, 5) {
			g.reset(start)
			first, second := g.crossed(n, m)
			g.wantCalm("the second from write "+strconv.Itoa(n)+" of the first, which ends before write "+strconv.Itoa(m)+" of the second", alive, want, first, second)
		}
	}
	for range 2 {
		g.reset(start)
		var both sync.WaitGroup
		var first, second outcomeOf
		both.Go(func() { first = g.outcome(nothing) })
		both.Go(func() { second = g.outcome(nothing) })
		both.Wait()
		g.wantCalm("both at once", alive, want, first, second)
	}
}

// crossed begins a second sweep before write n of a first, and lets the first
// end before write m of the second, if there are as many.
func (g *ground) crossed(n, m int) (first, second outcomeOf) {
	turn, firstEnded, secondEnded := make(chan struct{}), make(chan struct{}), make(chan struct{})
	giveTurn := sync.OnceFunc(func() { close(turn) })
	started := false
	first = g.outcome(pausing(n, clustertest.Call.Writes, func() {
		started = true
		go func() {
			defer close(secondEnded)
			second = g.outcome(pausing(m, clustertest.Call.Writes, func() { giveTurn(); <-firstEnded }))
			giveTurn()
		}()
		<-turn
	}))
	close(firstEnded)
	if !started {
		return first, g.outcome(func(next http.RoundTripper) http.RoundTripper { return next })
	}
	<-secondEnded
	return first, second
}

// TestTwoSweepsWithALease: the second waits until the first is done, and finds
// nothing to do but what comes after it.
func TestTwoSweepsWithALease(t *testing.T) {
	t.Parallel()
	g := busy(t)
	alive := g.things()
	var both sync.WaitGroup
	var reports [2]*report.Report
	var spans [2]span
	for n := range reports {
		both.Go(func() { reports[n], spans[n] = g.lockedSweep("process " + strconv.Itoa(n)) })
	}
	both.Wait()
	if went := gone(alive, g.things()); !isSubset(went, stale) {
		t.Errorf("removed %q", went)
	}
	first, second := 0, 1
	if spans[1].begin.Before(spans[0].begin) {
		first, second = 1, 0
	}
	if spans[second].begin.Before(spans[first].end) {
		t.Errorf("both ran at the same time: %v", spans)
	}
	for _, n := range []int{first, second} {
		if reports[n].Result != report.Done {
			t.Error(told(reports[n], nil))
		}
	}
	for _, c := range reports[second].Changes {
		if c.Action == engine.Add && c.Outcome == report.Made {
			t.Errorf("the second sweep adds again: %+v", c)
		}
	}
}

// span is the time between the first request of a sweep and the last.
type span struct{ begin, end time.Time }

// lockedSweep sweeps once the Lease is to be had.
func (g *ground) lockedSweep(identity string) (*report.Report, span) {
	cluster, err := jobs.Connect(g.as(g.config, g.options))
	if err != nil {
		g.t.Error(err)
		return &report.Report{}, span{}
	}
	_, unlock, err := cluster.Lock(g.t.Context(), g.lease(), identity, time.Minute)
	if err != nil {
		g.t.Error(err)
		return &report.Report{}, span{}
	}
	defer unlock()
	begin := time.Now()
	got, err := g.sweepBy(g.t.Context(), g.config)
	if err != nil {
		g.t.Error(err)
	}
	return got, span{begin, time.Now()}
}
