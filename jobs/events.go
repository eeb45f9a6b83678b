package jobs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// The reasons of Events. Those of claims stand on the route or Certificate that
// claims, the others on the Gateway or ListenerSet.
const (
	eventAdded        = "ListenerAdded"
	eventUpdated      = "ListenerUpdated"
	eventStale        = "ListenerStale"
	eventRemoved      = "ListenerRemoved"
	eventRefused      = "ListenerRefused"
	eventConflict     = "FieldConflict"
	eventKept         = engine.CodeKeptAsIs // it stands for the finding of the same name
	eventHeld         = "RemovalsHeld"
	eventClaimRefused = "ClaimRefused"
	eventClaimServed  = "ClaimServed"
)

// event is what an Event says, and of which object.
type event struct {
	kind, namespace, name string
	reason, message       string
	warning               bool
}

// objectKey names an object of any kind.
type objectKey struct {
	kind string
	name engine.ObjectName
}

// events are those of this run: what was done first, then what stands in the way
// of claims, which the owners of routes are told as long as it does.
func (s *sweep) events(first *sweep) []event {
	marked := first.marksBefore()
	added := map[objectKey]map[string]bool{}
	parents := map[objectKey]*parent{}
	for _, p := range s.parents {
		parents[objectKey{p.source.Kind, engine.ObjectName{Namespace: p.source.Namespace, Name: p.source.Name}}] = p
	}
	var out []event
	for _, c := range s.report.Changes {
		parent := objectKey{c.Kind, engine.ObjectName{Namespace: c.Namespace, Name: c.Name}}
		if c.Listener == "" {
			continue
		}
		e := eventOf(c, marked[parent][c.Listener])
		if e.reason == eventStale {
			e.message = s.staleMessage(parents[parent], c)
		}
		if e.reason != "" && !slices.Contains(out, e) {
			out = append(out, e)
		}
		if c.Action == engine.Add && c.Outcome == report.Made {
			if added[parent] == nil {
				added[parent] = map[string]bool{}
			}
			added[parent][c.Listener] = true
		}
	}
	for _, k := range s.kept() {
		out = append(out, event{kind: k.parent.Kind, namespace: k.parent.Namespace, name: k.parent.Name, reason: eventKept, message: k.message, warning: true})
	}
	out = append(out, s.claimEvents(eventClaimServed, func(v *engine.Verdict) bool {
		return v.Accepted && added[parentKey(v)][v.Listener]
	})...)
	refused := map[engine.Verdict]bool{}
	for _, v := range s.plan.Refused() {
		refused[v] = true
	}
	told := s.claimEvents(eventClaimRefused, func(v *engine.Verdict) bool { return refused[*v] })
	return append(out, turned(told, maxEvents-len(out), s.now)...)
}

// staleMessage says of a listener of a parent why it goes, and when: that nothing
// asks for it, or who does, and is refused.
func (s *sweep) staleMessage(p *parent, c report.Change) string {
	why := "nothing asks for " + hostnameOrAny(c.Hostname) + " any more"
	if p != nil {
		if l := p.planned(c.Listener); l != nil && l.Refusal != "" {
			why = l.Refusal
		}
	}
	return fmt.Sprintf("%s: listener %s %s, unless that changes", why, c.Listener, goesAfter(s.now, s.options.Grace))
}

// eventOf is the Event of a change; its reason is "" where there is none, and that
// of a stale listener has its message from [sweep.staleMessage]. What a
// message says does not depend on the time of the run, so that the same thing
// has the same Event.
func eventOf(c report.Change, marked bool) event {
	e := event{kind: c.Kind, namespace: c.Namespace, name: c.Name, message: fmt.Sprintf("listener %s for %s: %s", c.Listener, hostnameOrAny(c.Hostname), c.Reason)}
	reasons := map[engine.Action]string{engine.Add: eventAdded, engine.Update: eventUpdated, engine.Remove: eventRemoved}
	switch {
	case c.Outcome == report.Made:
		e.reason = reasons[c.Action]
	case c.Outcome == report.Refused && strings.HasSuffix(c.Reason, fieldKept):
		e.reason, e.warning = eventConflict, true
	case c.Outcome == report.Refused:
		e.reason, e.warning = eventRefused, true
	case c.Outcome == report.Held && strings.HasPrefix(c.Reason, tripped):
		e.reason, e.warning, e.message = eventHeld, true, c.Reason
	case c.Outcome == report.Held && c.Action == engine.Remove && !marked:
		e.reason = eventStale
	}
	return e
}

func hostnameOrAny(hostname string) string {
	if hostname == "" {
		return "any hostname"
	}
	return hostname
}

// marksBefore are the listeners that were marked as stale before this run.
func (s *sweep) marksBefore() map[objectKey]map[string]bool {
	out := map[objectKey]map[string]bool{}
	for _, p := range s.parents {
		state, _ := engine.ParseState(p.source.Annotations[engine.AnnotationState])
		names := map[string]bool{}
		for listener := range state.Stale {
			names[listener] = true
		}
		out[objectKey{p.source.Kind, engine.ObjectName{Namespace: p.source.Namespace, Name: p.source.Name}}] = names
	}
	return out
}

func parentKey(v *engine.Verdict) objectKey {
	return objectKey{v.Parent.Kind, engine.ObjectName{Namespace: v.Parent.Namespace, Name: v.Parent.Name}}
}

// claimEvents are the Events of the verdicts that are chosen, one for all the
// hostnames of an object of which the same is to be said.
func (s *sweep) claimEvents(reason string, choose func(*engine.Verdict) bool) []event {
	written := map[objectKey]bool{}
	for _, p := range s.parents {
		written[objectKey{p.source.Kind, engine.ObjectName{Namespace: p.source.Namespace, Name: p.source.Name}}] = true
	}
	hostnames := map[event][]string{}
	var order []event
	for i := range s.plan.Verdicts {
		v := &s.plan.Verdicts[i]
		if !written[parentKey(v)] || !choose(v) {
			continue
		}
		e := event{kind: v.Kind, namespace: v.Namespace, name: v.Name, reason: reason, warning: !v.Accepted}
		e.message = fmt.Sprintf(" on %s %s/%s: %s", v.Parent.Kind, v.Parent.Namespace, v.Parent.Name, v.Reason)
		if v.Message != "" {
			e.message += ": " + v.Message
		}
		if v.Accepted {
			e.message = fmt.Sprintf(": served by %s %s/%s from now on", v.Parent.Kind, v.Parent.Namespace, v.Parent.Name)
		}
		if hostnames[e] == nil {
			order = append(order, e)
		}
		hostnames[e] = append(hostnames[e], hostnameOrAny(v.Hostname))
	}
	for i, e := range order {
		names := slices.Compact(slices.Sorted(slices.Values(hostnames[e])))
		order[i].message = strings.Join(names, ", ") + e.message
	}
	return order
}

// turned begins with others in each hour, if there are more than there is room
// for: an Event lives that long, and everybody is to be told some time.
func turned(events []event, room int, now time.Time) []event {
	if room <= 0 || len(events) <= room {
		return events
	}
	start := int(now.Unix()/int64(eventLife.Seconds())) * room % len(events)
	return slices.Concat(events[start:], events[:start])
}
