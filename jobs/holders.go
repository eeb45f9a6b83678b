package jobs

import (
	"slices"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// nextHolders notes who holds a hostname, and since when its holder does not
// claim it. One that has been gone for the whole grace period is noted as long
// as a listener of ours or of the release is there, which would be taken for a
// holder's otherwise. Those whom a listener of the release admits are noted from
// the first run on: the release may drop the listener together with the claim.
func (s *sweep) nextHolders(p *parent, before engine.State, held map[string]string, after map[string]engine.Holder) {
	candidates := map[string]engine.Holder{}
	for hostname, namespace := range p.source.Holders {
		candidates[hostname] = engine.Holder{Namespace: namespace}
	}
	for hostname, holder := range before.Holders {
		candidates[hostname] = holder
	}
	for hostname, namespace := range held {
		candidates[hostname] = engine.Holder{Namespace: namespace}
	}
	for hostname, holder := range candidates {
		yielded := p.source.Yielded[hostname] != ""                                                           // its claim is refused for that time alone
		if held[hostname] != "" || yielded || s.claims(p, hostname, holder.Namespace) || s.unprovable != "" { // it may claim it, and nobody sees
			after[hostname] = engine.Holder{Namespace: holder.Namespace}
			continue
		}
		if holder.Gone == nil {
			now := s.now.UTC().Truncate(time.Second)
			holder.Gone = &now
		}
		live := slices.ContainsFunc(p.source.Listeners, func(l engine.SourceListener) bool {
			return l.Hostname == hostname && (l.Owned || p.rendered[l.Name])
		})
		if live || s.now.Sub(*holder.Gone) < s.options.Grace {
			after[hostname] = holder
		}
	}
}

// claim is a hostname that a namespace claims of a parent, by [engine.Meta.String].
type claim struct{ parent, hostname, namespace string }

// claims says whether a namespace claims a hostname, also where a listener of
// the release serves it, or serves it to somebody else.
func (s *sweep) claims(p *parent, hostname, namespace string) bool {
	if s.claimed == nil {
		s.claimed = map[claim]bool{}
		for _, v := range s.plan.Verdicts {
			if v.Accepted || v.Reason == engine.ReasonHostnameConflict {
				parent := engine.Meta{Kind: v.Parent.Kind, Namespace: v.Parent.Namespace, Name: v.Parent.Name}
				s.claimed[claim{parent.String(), v.Hostname, v.Namespace}] = true
			}
		}
	}
	return s.claimed[claim{p.source.String(), hostname, namespace}]
}
