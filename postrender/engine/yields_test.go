package engine

import (
	"testing"
	"time"
)

// A yield is of a hostname, however that is spelled.
func TestYieldEnds(t *testing.T) {
	edge := &Gateway{Meta: Meta{Kind: KindGateway, Namespace: "infra", Name: "edge"}}
	s := Snapshot{Gateways: []*Gateway{edge}}
	name := ObjectName{Namespace: "infra", Name: "edge"}
	s.Yield(name, "A.example.com.", time.Unix(0, 0))
	if edge.Yielded["a.example.com"] == "" {
		t.Errorf("yielded: %v", edge.Yielded)
	}
	s.EndYield(name, "a.EXAMPLE.com")
	if len(edge.Yielded) != 0 {
		t.Errorf("still yielded: %v", edge.Yielded)
	}
}
