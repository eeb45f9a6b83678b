package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// off is a clock of the machine that differs from the server's.
func (w *world) off(by time.Duration) func(*jobs.Options) {
	now := w.now.Add(by)
	return func(o *jobs.Options) { o.Now = func() time.Time { return now } }
}

// skews are what a report says of clocks.
func skews(r *report.Report) string {
	var out []string
	for _, f := range r.Findings {
		if f.Code == jobs.CodeClockSkew {
			out = append(out, f.Message)
		}
	}
	return strings.Join(out, "\n")
}

// TestSkewedClock: the machine that a sweep runs on may have any clock. How long
// something is stale goes by the server's, which all sweeps share.
func TestSkewedClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = w.now.Truncate(time.Second)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	w.apply("app", route("shop", "b.example.com"))
	if said := skews(w.sweep(w.off(59 * time.Second))); said != "" { // marks
		t.Errorf("clocks that differ by less than a minute: %q", said)
	}
	w.later(time.Hour)
	if said := skews(w.sweep(w.off(48 * time.Hour))); !strings.HasPrefix(said, "the clock here is 48h0m0s ahead of the API server's") {
		t.Errorf("the report says of the clocks: %q", said)
	}
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
	w.later(23 * time.Hour)
	if said := skews(w.sweep(w.off(-48 * time.Hour))); !strings.HasPrefix(said, "the clock here is 48h0m0s behind the API server's") {
		t.Errorf("the report says of the clocks: %q", said)
	}
	w.wantListeners("edge", "http", "b.example.com:443")

	w.sweep(w.off(-48 * time.Hour)) // marks the Certificate, not as of two days ago
	w.later(23 * time.Hour)
	w.sweep(w.off(48 * time.Hour))
	if w.get("certificate", certificateOf("edge", "a.example.com")) == nil {
		t.Error("the Certificate went before its time")
	}
}

// TestNoDates: where no answer says what time it is, all is added, and nothing is
// marked or removed.
func TestNoDates(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply("app", route("shop", "a.example.com", "b.example.com"))
	w.apply(issuing, issued("old.example.com"))
	w.apply(issuing, issued("older.example.com"))
	w.sweep(func(o *jobs.Options) { o.Gateways = []engine.ObjectName{} })
	w.sweep() // marks the Secrets
	w.apply("app", route("shop", "b.example.com"))
	w.sweep() // marks the listener
	w.later(25 * time.Hour)
	w.apply("app", route("more", "c.example.com"))
	w.Kubectl(t, "", "annotate", "secret", certificateOf("edge", "older.example.com"), "-n", w.namespace, "gatewright.dev/stale-since-")
	w.config = clustertest.Wrapped(w.config, func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil {
				response.Header.Del("Date")
			}
			return response, err
		})
	})
	got, err := w.trySweep()
	says := func(p report.Problem) bool { return strings.Contains(p.Message, "carry no date") }
	if err != nil || got.Result != report.Partial || !slices.ContainsFunc(got.Problems, says) {
		t.Errorf("%v %s: %s", err, got.Result, lines(got))
	}
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443", "c.example.com:443")
	if !w.secret("old.example.com") || w.marked("older.example.com") {
		t.Error("a Secret is gone, or marked")
	}
}
