package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// recorder writes a report, from several goroutines.
type recorder struct {
	*report.Report
	mu sync.Mutex
	// changes and problems are the places of what was noted already.
	changes  map[changed]int
	problems map[report.Problem]bool
}

// changed is what a change is of.
type changed struct{ kind, namespace, name, listener string }

func newRecorder(r *report.Report) *recorder {
	return &recorder{Report: r, changes: map[changed]int{}, problems: map[report.Problem]bool{}}
}

// fail ends a report before anything was written.
func (r *recorder) fail(err error) error {
	r.Result, r.Message = report.Failed, err.Error()
	return err
}

func (r *recorder) problem(object, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := report.Problem{Object: object, Message: message}
	if !r.problems[p] {
		r.problems[p] = true
		r.Problems = append(r.Problems, p)
	}
}

// note notes what costs nothing and somebody may want to know.
func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Notes = append(r.Notes, text)
}

// change notes a change, in place of an earlier one of the same object and
// listener: the second look knows more.
func (r *recorder) change(c report.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := changed{c.Kind, c.Namespace, c.Name, c.Listener}
	if i, noted := r.changes[key]; noted {
		r.Changes[i] = c
		return
	}
	r.changes[key] = len(r.Changes)
	r.Changes = append(r.Changes, c)
}

func (r *recorder) outcome(err error, refused string) report.Outcome {
	switch {
	case err != nil:
		return report.Broken
	case refused != "":
		return report.Refused
	case r.DryRun != report.Write:
		return report.Would
	}
	return report.Made
}

// wrote counts what was stored.
func (r *recorder) wrote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Writes++
}

// object notes an object that was written.
func (r *recorder) object(kind string, name engine.ObjectName, action engine.Action, reason string, err error) {
	c := report.Change{Kind: kind, Namespace: name.Namespace, Name: name.Name, Action: action, Outcome: r.outcome(err, ""), Reason: reason}
	switch {
	case errors.Is(err, errChanged): // by another sweep, maybe, which has done it then
		c.Outcome, c.Reason = report.Held, err.Error()+"; the next run looks again"
	case errors.Is(err, errNamespaceGone):
		c.Outcome, c.Reason = report.Held, err.Error()
	case errors.Is(err, errGone):
		c.Outcome, c.Reason = report.Made, err.Error()
	case err != nil:
		c.Reason = helped(err)
		r.problem(fmt.Sprintf("%s %s/%s", kind, name.Namespace, name.Name), c.Reason)
	case r.DryRun == report.Write:
		r.wrote()
	}
	r.change(c)
}

func (r *recorder) removed(kind string, name engine.ObjectName, reason string, err error) {
	r.object(kind, name, engine.Remove, reason, err)
}

// parent notes what became of an application.
func (r *recorder) parent(a *application, out outcome, refused map[string]string, err error) {
	p := a.parent
	if err != nil {
		r.problem(p.source.String(), helped(err))
	}
	if out.wrote {
		r.wrote()
	}
	if out.stateTaken != "" {
		r.problem(p.source.String(), out.stateTaken)
	}
	for _, change := range a.changes {
		name, _ := change["name"].(string)
		if l := p.planned(name); l != nil && (refused[name] != "" || !out.same(p.listener(name))) {
			r.listener(p, l, cmp.Or(refused[name], l.Reason), r.outcome(err, refused[name]))
		}
	}
	for _, name := range a.gone {
		l := p.planned(name)
		switch {
		case l == nil:
		case slices.Contains(out.stays, name):
			r.listener(p, l, "it stays, since the server refused what is to take its place", report.Held)
		default:
			r.listener(p, l, l.Reason, r.outcome(err, ""))
		}
	}
}

// stale notes the removals that wait.
func (r *recorder) stale(p *parent, removals []removal) {
	for i := range removals {
		if held := removals[i].held; held != "" {
			reason := held
			if refusal := removals[i].refusal; refusal != "" {
				reason += "; " + refusal
			}
			r.listener(p, &removals[i].listener, reason, report.Held)
			if needsSomebody(held) {
				r.problem(p.source.String(), held)
			}
		}
	}
}

func (r *recorder) listener(p *parent, l *engine.Listener, reason string, outcome report.Outcome) {
	r.change(report.Change{Kind: p.source.Kind, Namespace: p.source.Namespace, Name: p.source.Name,
		Listener: l.Name, Hostname: l.Hostname, Action: l.Action, Outcome: outcome, Reason: reason})
}

// heldSecret notes a Secret that waits for its removal.
func (r *recorder) heldSecret(name engine.ObjectName, held string) {
	r.waits(engine.KindSecret, name, engine.Remove, held)
}

// finding notes a finding once.
func (r *recorder) finding(f engine.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.Findings, f) {
		r.Findings = append(r.Findings, f)
	}
}

// certificate notes what became of a Certificate of the plan.
func (r *recorder) certificate(c engine.CertificatePlan, held string, err error) {
	name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
	switch {
	case err != nil || c.Action == engine.Add || c.Action == engine.Update:
		r.object(engine.KindCertificate, name, c.Action, c.Reason, err)
	case c.Action == engine.Remove && held != "":
		r.held(engine.KindCertificate, name, held)
	}
}

// conclude fills in what the last look knows.
func (s *sweep) conclude() {
	r := s.report
	r.Kinds, r.Findings = s.reading.kinds(), append(r.Findings, slices.Concat(s.plan.Findings, s.noSuchGateways(), s.atRisk())...)
	r.Counts = report.Counts{Gateways: len(s.plan.Gateways), ListenerSets: len(s.plan.ListenerSets), Claims: len(s.plan.Verdicts)}
	for _, p := range slices.Concat(s.plan.Gateways, s.plan.ListenerSets) {
		for _, l := range p.Listeners {
			if l.Action != engine.Remove {
				r.Counts.Listeners++
			}
		}
	}
	for _, c := range s.plan.Certificates {
		if c.Action != engine.Remove {
			r.Counts.Certificates++
		}
	}
	for object, err := range s.unread {
		r.problem(object, unreadState(err))
	}
	for _, k := range s.kept() {
		r.problem(k.parent.String(), k.message)
	}
	s.yieldProblems()
	r.HelmReleases = s.helmReleases()
	s.turnVerdicts()
	r.Refused = append(r.Refused, s.plan.Refused()...)
	slices.SortFunc(r.Changes, compareChanges)
	slices.SortFunc(r.Problems, func(a, b report.Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	if len(r.Problems) > 0 && r.Result == report.Done {
		r.Result = report.Partial
	}
}

// turnVerdicts gives the claims of listeners that the server did not take its
// words as their verdicts.
func (s *sweep) turnVerdicts() {
	for i := range s.plan.Verdicts {
		v := &s.plan.Verdicts[i]
		parent := engine.Meta{Kind: v.Parent.Kind, Namespace: v.Parent.Namespace, Name: v.Parent.Name}
		if words := s.refused[parent.String()][v.Listener]; v.Listener != "" && words != "" {
			v.Accepted, v.Reason, v.Message, v.Listener = false, engine.ReasonUnsupported, words, ""
		}
	}
}

func compareChanges(a, b report.Change) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Listener, b.Listener))
}

// kinds tells how the reading went.
func (r *Reading) kinds() []report.Kind {
	out := []report.Kind{}
	for _, k := range r.Kinds {
		line := report.Kind{Group: k.Group, Version: k.Version, Kind: k.Kind, Served: k.Served, Complete: k.Complete, Objects: k.Objects}
		if k.Err != nil {
			line.Error = k.Err.Error()
		}
		out = append(out, line)
	}
	return out
}

// helmReleases are the HelmReleases of the parents.
func (s *sweep) helmReleases() map[string]string {
	out := map[string]string{}
	add := func(source *engine.Gateway) {
		if name := source.Labels[fluxName]; name != "" {
			out[source.String()] = source.Labels[fluxNamespace] + "/" + name
		}
	}
	for _, p := range s.parents {
		add(p.source)
	}
	for _, k := range s.kept() { // somebody has to look at it
		add(k.parent)
	}
	return out
}

// left notes what is left to a release.
func (r *recorder) left(kind string, name engine.ObjectName, why string) {
	r.waits(kind, name, engine.Add, why)
}

// held notes an object whose removal waits, and a problem where that needs
// somebody.
func (r *recorder) held(kind string, name engine.ObjectName, why string) {
	r.waits(kind, name, engine.Remove, why)
	if needsSomebody(why) {
		r.problem(fmt.Sprintf("%s %s/%s", kind, name.Namespace, name.Name), why)
	}
}

// waits notes an object that is not written for now.
func (r *recorder) waits(kind string, name engine.ObjectName, action engine.Action, why string) {
	r.change(report.Change{Kind: kind, Namespace: name.Namespace, Name: name.Name, Action: action, Outcome: report.Held, Reason: why})
}
