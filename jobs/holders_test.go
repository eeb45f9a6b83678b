package jobs

import (
	"testing"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestYieldKeepsTheHolder: a hostname that is yielded for longer than the grace
// period still belongs to the namespace that claims it all the time.
func TestYieldKeepsTheHolder(t *testing.T) {
	const hostname = "a.example.com"
	s := &sweep{now: time.Now(), options: Options{Grace: time.Hour}, plan: &engine.Plan{Verdicts: []engine.Verdict{{
		Kind: engine.KindHTTPRoute, Namespace: "team", Name: "shop", Hostname: hostname, Reason: engine.ReasonPending,
		Parent: engine.Parent{Kind: engine.KindGateway, Namespace: "infra", Name: "edge"},
	}}}}
	p := &parent{source: &engine.Gateway{Meta: engine.Meta{Kind: engine.KindGateway, Namespace: "infra", Name: "edge"}, Yielded: map[string]string{hostname: "later"}}}
	gone := s.now.Add(-2 * time.Hour)
	before := engine.State{Holders: map[string]engine.Holder{hostname: {Namespace: "team", Gone: &gone}}}
	after := map[string]engine.Holder{}
	s.nextHolders(p, before, nil, after)
	if holder := after[hostname]; holder.Namespace != "team" || holder.Gone != nil {
		t.Errorf("%s is held by %+v, want team, not gone", hostname, holder)
	}
}
