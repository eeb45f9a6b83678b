package jobs_test

import (
	"testing"
)

// ownershipCase is something that happens between a release and the sweep.
type ownershipCase struct {
	name string
	// shows is what the case shows.
	shows string
	// ways limits the case to some ways of a release.
	ways func(helm) bool
	run  func(*release)
}

// distinct are the ways of a case without a conflict: Flux stands for all who
// force.
func distinct(how helm) bool { return how.name != "helm4-forced" }

// TestOwnership: a release and the sweep share a Gateway, in every way that a
// release gets into a cluster.
func TestOwnership(t *testing.T) {
	var cases []ownershipCase
	for _, some := range [][]ownershipCase{takeoverCases, upgradeCases, brokenCases, otherCases, wordsCases} {
		cases = append(cases, some...)
	}
	eachHelm(t, helms, func(t *testing.T, lands *lands) {
		for _, c := range cases {
			if c.ways != nil && !c.ways(lands.how) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(lands.release(t, c.name))
				if t.Failed() {
					t.Log("it should be that " + c.shows)
				}
			})
		}
	})
}
