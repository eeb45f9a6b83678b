package report

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The termination message counts a change by what became of it, as the table does:
// what waits is no change.
func TestTerminationCounts(t *testing.T) {
	tests := []struct {
		name     string
		outcomes []Outcome
		want     map[string]float64
	}{
		{"nothing", nil, map[string]float64{"changes": 0, "held": 0, "failed": 0}},
		{"a dry run in which all waits", []Outcome{Held, Held}, map[string]float64{"changes": 0, "held": 2, "failed": 0}},
		{"a dry run", []Outcome{Would, Held}, map[string]float64{"changes": 1, "held": 1, "failed": 0}},
		{"a run", []Outcome{Made, Made, Made, Held, Refused, Broken}, map[string]float64{"changes": 3, "held": 1, "failed": 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := New(time.Time{}, Write)
			for _, o := range tt.outcomes {
				r.Changes = append(r.Changes, Change{Outcome: o})
			}
			var short map[string]any
			if err := json.Unmarshal(r.Termination(), &short); err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for key := range tt.want {
				got[key], _ = short[key].(float64)
				if _, there := short[key]; !there {
					t.Errorf("%s is not told", key)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if want := tt.want["changes"] > 0; r.Changed() != want {
				t.Errorf("Changed() is %v, want %v", r.Changed(), want)
			}
		})
	}
}
