package jobs_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// amid lets something happen before each write that passes, one after the
// other.
func amid(happens func(clustertest.Call)) func(http.RoundTripper) http.RoundTripper {
	var mutex sync.Mutex
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			mutex.Lock()
			defer mutex.Unlock()
			if c := clustertest.ParseCall(r); c.Writes() {
				happens(c)
			}
			return next.RoundTrip(r)
		})
	}
}

// TestSweepAmidHelm lets a sweep run before each write of an install and of
// upgrades: what is claimed all the time is served after each sweep, neither
// Helm nor the sweep fails, and in the end there is nothing left to do.
func TestSweepAmidHelm(t *testing.T) {
	t.Parallel()
	ways := slices.DeleteFunc(slices.Clone(helms), func(h helm) bool { return h.major == 0 })
	eachHelm(t, ways, func(t *testing.T, l *lands) {
		r := l.release(t, "amid")
		var served []string // what is claimed all the time
		sweeps := 0
		proxy := r.Proxy(t, amid(func(c clustertest.Call) {
			sweeps++
			got := r.sweepWithProblems()
			if got.Result == report.Failed || len(got.Problems) > 0 {
				t.Errorf("the sweep before Helm's %s: %s", c, lines(got))
			}
			for _, hostname := range served {
				if r.listener(hostname) == nil || r.certificate(hostname) == nil {
					t.Errorf("%s is not served after the sweep before Helm's %s", hostname, c)
				}
			}
		}))
		upgrade := func(routes string) {
			t.Helper()
			values := fmt.Sprintf("{routes: {shop: [%s]}, note: %d}", routes, sweeps)
			if err := r.tryUpgrade(values, "--kubeconfig", proxy.Kubeconfig); err != nil {
				t.Fatal(err)
			}
		}

		upgrade("a.example.com, b.example.com")
		r.has("http", "a.example.com", "b.example.com")
		r.quiet()

		r.other("other.example.com", "gone.example.com")
		r.sweep()
		r.other("other.example.com")
		r.sweep()
		served = []string{"a.example.com", "other.example.com"}

		upgrade("a.example.com, c.example.com")
		r.sweep()
		for _, hostname := range append(served, "c.example.com") {
			if r.listener(hostname) == nil || r.certificate(hostname) == nil {
				t.Errorf("%s is not served after the upgrade", hostname)
			}
		}

		// A day later what nobody claims is due, and goes in the middle of an upgrade.
		r.later(25 * time.Hour)
		upgrade("a.example.com, c.example.com")
		r.sweep()
		r.sweep()
		r.later(25 * time.Hour)
		r.sweep()
		r.sweep()
		r.has("http", "a.example.com", "c.example.com", "other.example.com")
		r.quiet()
		if sweeps < 12 {
			t.Errorf("only %d sweeps ran amid Helm's writes", sweeps)
		}
	})
}
