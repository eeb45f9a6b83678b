package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// TestForeignState: a state that somebody else wrote costs removals, and not the
// hostnames that are to be added; without it the sweep begins anew.
func TestForeignState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ state, says string }{
		"no JSON":         {"nonsense", "cannot be read"},
		"a newer version": {`{"version":"v9"}`, `is of version "v9"`},
		"a valid one":     {`{"version":"v1alpha1","stale":{"https-a":"2020-01-01T00:00:00Z"}}`, `conflict with "kubectl-annotate"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply("me", gatewayWithPolicy)
			w.apply("me", route("shop", "a.example.com", "b.example.com"))
			w.sweep()
			w.apply("me", route("shop", "b.example.com", "c.example.com"))
			w.Kubectl(t, "", "annotate", "gateway", "edge", "-n", w.namespace, "--overwrite", engine.AnnotationState+"="+test.state)
			for range 2 {
				got, err := w.trySweep()
				if err != nil || got.Result != report.Partial || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, test.says) {
					t.Fatalf("%v %s: %s", err, got.Result, lines(got))
				}
				w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443", "c.example.com:443")
				w.later(48 * time.Hour)
			}
			w.Kubectl(t, "", "annotate", "gateway", "edge", "-n", w.namespace, engine.AnnotationState+"-")
			w.sweep()
			w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443", "c.example.com:443")
			w.later(24 * time.Hour)
			w.sweep()
			w.wantListeners("edge", "http", "b.example.com:443", "c.example.com:443")
		})
	}
}
