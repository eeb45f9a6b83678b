package jobs_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// holder is a process that sweeps under a short Lease.
type holder struct {
	*world
	name    string
	cluster *jobs.Cluster
	under   context.Context
}

func (w *world) holder(name string, wrappers ...func(http.RoundTripper) http.RoundTripper) *holder {
	w.t.Helper()
	cluster, err := jobs.Connect(clustertest.Wrapped(w.as(w.config, w.options), wrappers...))
	if err != nil {
		w.t.Fatal(err)
	}
	jobs.ShortLease(cluster)
	return &holder{world: w, name: name, cluster: cluster}
}

// sweepUnderLease takes the Lease and sweeps.
func (h *holder) sweepUnderLease() (*report.Report, error) {
	h.t.Helper()
	under, unlock, err := h.cluster.Lock(h.t.Context(), h.lease(), h.name, time.Minute)
	if err != nil {
		h.t.Error(err)
		return &report.Report{}, err
	}
	defer unlock()
	h.under = under
	o := h.options
	o.Now = time.Now
	return h.cluster.Sweep(under, o)
}

// onLease does something to the Lease by kubectl.
func onLease(args string) func(h *holder) {
	return func(h *holder) {
		h.kubectlLease(args)
		select {
		case <-h.under.Done():
		case <-time.After(2 * time.Second):
		}
	}
}

func (w *world) kubectlLease(args string) {
	w.t.Helper()
	lease := w.lease()
	w.Kubectl(w.t, "", append([]string{"-n", lease.Namespace}, strings.Fields(strings.Replace(args, "LEASE", lease.Name, 1))...)...)
}

func isLease(c clustertest.Call) bool    { return c.Resource == "leases" }
func writesMore(c clustertest.Call) bool { return c.Writes() && !isLease(c) }

// leaseLosses are what happens to the Lease of a sweep before its first write. All
// of its requests may stand still at the time.
var leaseLosses = map[string]struct {
	still     bool
	meanwhile func(*holder)
	lost      string // what the report says, "" where it is not lost
}{
	"it stands still, and another sweeps": {true, func(h *holder) {
		if r, err := h.holder("second").sweepUnderLease(); err != nil || r.Result != report.Done {
			h.t.Errorf("the second: %s", told(r, err))
		}
	}, "it could not be renewed in time"},
	"another holds it":  {false, onLease(`patch lease LEASE --type=merge -p {"spec":{"holderIdentity":"other"}}`), "other holds it now"},
	"nobody holds it":   {false, onLease(`patch lease LEASE --type=merge -p {"spec":{"holderIdentity":""}}`), "nobody holds it now"},
	"it is deleted":     {false, onLease("delete lease LEASE"), "it was deleted"},
	"it has a label":    {false, onLease("label lease LEASE a=b --overwrite"), ""},
	"nothing happens":   {false, onLease("get lease LEASE"), ""},
	"it cannot be read": {false, func(h *holder) { <-h.under.Done() }, "it could not be renewed in time"},
}

// TestLeaseLost: a sweep that loses its Lease writes no more, says so, and the
// next one goes on.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	for name, test := range leaseLosses {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply("me", gatewayWithPolicy)
			w.apply("app", route("shop", "a.example.com", "b.example.com"))
			var first *holder
			var after atomic.Bool
			var late atomic.Int32
			var once sync.Once
			stand := func(next http.RoundTripper) http.RoundTripper {
				return transport(func(r *http.Request) (*http.Response, error) {
					if writesMore(clustertest.ParseCall(r)) {
						once.Do(func() { test.meanwhile(first); after.Store(true) })
					}
					response, err := next.RoundTrip(r)
					if err == nil && after.Load() && writesMore(clustertest.ParseCall(r)) {
						late.Add(1)
					}
					return response, err
				})
			}
			wrappers := []func(http.RoundTripper) http.RoundTripper{stand}
			if test.still {
				wrappers = []func(http.RoundTripper) http.RoundTripper{pausing(1, writesMore, func() { test.meanwhile(first); after.Store(true) }), stand}
				once.Do(func() {})
			}
			if name == "it cannot be read" {
				fault := &clustertest.Fault{Kind: clustertest.Status503, Match: isLease, Nth: 3, Times: -1}
				wrappers = append(wrappers, fault.Wrap)
			}
			first = w.holder("first", wrappers...)
			got, err := first.sweepUnderLease()
			if test.lost == "" {
				if err != nil || got.Result != report.Done || late.Load() == 0 {
					t.Errorf("%d writes, %s", late.Load(), told(got, err))
				}
				return
			}
			if err != nil || got.Result != report.Partial || late.Load() > 0 || !strings.Contains(lines(got), "was lost: "+test.lost) {
				t.Errorf("%d writes without the Lease, %s", late.Load(), told(got, err))
			}
			w.kubectlLease("delete lease LEASE --ignore-not-found")
			if got, err := w.holder("next").sweepUnderLease(); err != nil || got.Result != report.Done {
				t.Errorf("the next: %s", told(got, err))
			}
			w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
		})
	}
}
