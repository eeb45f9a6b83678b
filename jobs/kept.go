package jobs

import (
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// kept is a parent of which nothing is changed because its policy cannot be
// obeyed, and what to correct.
type kept struct {
	parent  *engine.Gateway
	message string
}

// kept are the parents that this run would write and leaves as they are, until
// somebody corrects them.
func (s *sweep) kept() []kept {
	sources := map[string]*engine.Gateway{}
	for _, source := range slices.Concat(s.reading.Snapshot.Gateways, s.reading.Snapshot.ListenerSets) {
		sources[source.String()] = source
	}
	var out []kept
	for _, f := range s.plan.Findings {
		source := sources[f.Object]
		if f.Code == engine.CodeKeptAsIs && source != nil && s.chosen(source.GatewayName()) {
			out = append(out, kept{source, f.Message})
		}
	}
	return out
}
