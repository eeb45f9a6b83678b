package jobs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// yieldProblems are the yields of the command that were not done: whoever asked
// for one is about to bring a listener of his own, which would be refused.
func (s *sweep) yieldProblems() {
	for _, y := range s.options.Yields {
		if y.For == 0 {
			continue
		}
		name := fmt.Sprintf(" %s/%s", y.Gateway.Namespace, y.Gateway.Name)
		begins := engine.NotYielded(y.Hostname)
		i := slices.IndexFunc(s.plan.Findings, func(f engine.Finding) bool {
			return f.Code == engine.CodeNotYielded && strings.HasSuffix(f.Object, name) && strings.HasPrefix(f.Message, begins)
		})
		switch {
		case i >= 0 && s.standsAlready(y):
		case i >= 0:
			s.report.problem(s.plan.Findings[i].Object, s.plan.Findings[i].Message+"; correct --yield, or leave it out if no listener of the sweep is in the way")
		case !slices.ContainsFunc(s.parents, y.isOf):
			s.report.problem("Gateway"+name, begins+"--gateway leaves it out; name its Gateway there, too")
		}
	}
}

// isOf says whether a parent is the one that gives something up.
func (y Yield) isOf(p *parent) bool {
	return y.Gateway == engine.ObjectName{Namespace: p.source.Namespace, Name: p.source.Name}
}

// standsAlready says whether a listener that is not the sweep's is there for the
// hostname: what was to come after the yield has come, and a script runs again.
func (s *sweep) standsAlready(y Yield) bool {
	return slices.ContainsFunc(s.parents, func(p *parent) bool {
		return y.isOf(p) && slices.ContainsFunc(p.source.Listeners, func(l engine.SourceListener) bool {
			return l.Hostname == y.Hostname && !p.ours(&l)
		})
	})
}
