package jobs

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
)

// Of several API servers one may have another clock: where the second look meets
// it, nothing can be told to have been stale for long enough.
func TestClockThatJumps(t *testing.T) {
	for jump, want := range map[time.Duration]string{0: "", 30 * time.Second: "", 5 * time.Hour: unsteady, -5 * time.Hour: unsteady} {
		cluster := &Cluster{clock: new(serverClock)}
		began, now := time.Now().Add(-time.Second), time.Now()
		look := func(first *sweep, date time.Time) *sweep {
			s := &sweep{cluster: cluster, options: Options{Now: time.Now}, began: began, report: newRecorder(report.New(now, report.Write))}
			if first != nil {
				s.now, s.timedAt = first.now, first.timedAt
			}
			cluster.clock.see(date.UTC().Format(http.TimeFormat))
			s.keepTime()
			return s
		}
		first := look(nil, now)
		second := look(first, now.Add(jump))
		if first.unprovable != "" || second.unprovable != want || !second.now.Equal(first.now) {
			t.Errorf("a jump of %s: %q then %q, want %q; times %s and %s", jump, first.unprovable, second.unprovable, want, first.now, second.now)
		}
	}
}
