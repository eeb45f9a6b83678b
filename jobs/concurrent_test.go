package jobs_test

import (
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
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
	for _, n := range steps(writes, 4) {
		for _, m := range steps(writes, 4) {
			g.reset(start)
			first, second := g.crossed(n, m)
			g.wantCalm("the second from write "+strconv.Itoa(n)+" of the first, which ends before write "+strconv.Itoa(m)+" of the second", alive, want, first, second)
		}
	}
	for range 3 {
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
