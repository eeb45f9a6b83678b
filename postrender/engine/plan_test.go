package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRefused: what is served, not decided here or not wanted is no refusal.
func TestRefused(t *testing.T) {
	var plan Plan
	for _, reason := range []string{ReasonPending, ReasonOptedOut, ReasonNotAllowed, ReasonTooMany, ReasonHostnameConflict} {
		plan.Verdicts = append(plan.Verdicts, Verdict{Reason: reason})
	}
	plan.Verdicts = append(plan.Verdicts, Verdict{Accepted: true, Reason: ReasonAccepted})
	var got []string
	for _, v := range plan.Refused() {
		got = append(got, v.Reason)
	}
	if diff := cmp.Diff([]string{ReasonNotAllowed, ReasonTooMany, ReasonHostnameConflict}, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}
