package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Report is what a sweep did, or would do. Its JSON form is a stable contract.
type Report struct {
	// Started is in UTC.
	Started time.Time `json:"started"`
	DryRun  DryRun    `json:"dryRun,omitempty"`
	Result  Result    `json:"result"`
	// Message says why nothing was done, where that is so.
	Message string        `json:"message,omitempty"`
	Kinds   []KindReading `json:"kinds"`
	// Counts are those of the cluster, by what gatewright manages.
	Counts  Counts   `json:"counts"`
	Changes []Change `json:"changes"`
	// Refused are the claims that are not served.
	Refused  []engine.Verdict `json:"refused"`
	Findings []engine.Finding `json:"findings"`
	Problems []Problem        `json:"problems"`
	// Writes counts what the API server stored.
	Writes int `json:"writes"`

	mu sync.Mutex
}

// Result is the outcome of a sweep in a word.
type Result string

// The results of a sweep.
const (
	Done    Result = "done"
	Partial Result = "partial" // something failed, or somebody has to look
	Failed  Result = "failed"  // nothing was written
	Skipped Result = "skipped" // another sweep is at work
)

// Counts says how much is managed.
type Counts struct {
	Gateways     int `json:"gateways"`
	ListenerSets int `json:"listenerSets"`
	Listeners    int `json:"listeners"`
	Certificates int `json:"certificates"`
	Claims       int `json:"claims"`
}

// Change is one thing that a sweep did, or did not.
type Change struct {
	Kind      string        `json:"kind"`
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	Listener  string        `json:"listener,omitempty"`
	Hostname  string        `json:"hostname,omitempty"`
	Action    engine.Action `json:"action"`
	Outcome   Outcome       `json:"outcome"`
	Reason    string        `json:"reason"`
}

// Outcome is what became of a change.
type Outcome string

// The outcomes of a change.
const (
	Made    Outcome = "done"
	Would   Outcome = "would"   // of a dry run
	Held    Outcome = "held"    // a removal that waits; the reason says for what
	Refused Outcome = "refused" // by the API server, in the words of the reason
	Broken  Outcome = "failed"
)

// Problem is an error that cost only its object.
type Problem struct {
	Object  string `json:"object"`
	Message string `json:"message"`
}

func newReport(o Options) *Report {
	return &Report{
		Started: o.Now().UTC().Truncate(time.Second), DryRun: o.DryRun, Result: Done,
		Kinds: []KindReading{}, Changes: []Change{}, Refused: []engine.Verdict{}, Findings: []engine.Finding{}, Problems: []Problem{},
	}
}

func (r *Report) fail(err error) error {
	r.Result, r.Message = Failed, err.Error()
	return err
}

func (r *Report) problem(object, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Problem{object, message}
	if !slices.Contains(r.Problems, p) {
		r.Problems = append(r.Problems, p)
	}
}

// change notes a change, in place of an earlier one of the same object and
// listener: the second look knows more.
func (r *Report) change(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.Changes, func(old Change) bool {
		return old.Kind == c.Kind && old.Namespace == c.Namespace && old.Name == c.Name && old.Listener == c.Listener
	})
	if i < 0 {
		r.Changes = append(r.Changes, c)
	} else {
		r.Changes[i] = c
	}
}

func (r *Report) outcome(err error, refused string) Outcome {
	switch {
	case err != nil:
		return Broken
	case refused != "":
		return Refused
	case r.DryRun != Write:
		return Would
	}
	return Made
}

// wrote counts what was stored.
func (r *Report) wrote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Writes++
}

// object notes an object that was written.
func (r *Report) object(kind string, name engine.ObjectName, action engine.Action, reason string, err error) {
	c := Change{Kind: kind, Namespace: name.Namespace, Name: name.Name, Action: action, Outcome: r.outcome(err, ""), Reason: reason}
	if err != nil {
		c.Reason = serverWords(err)
		r.problem(fmt.Sprintf("%s %s/%s", kind, name.Namespace, name.Name), c.Reason)
	} else if r.DryRun == Write {
		r.wrote()
	}
	r.change(c)
}

func (r *Report) removed(kind string, name engine.ObjectName, reason string, err error) {
	r.object(kind, name, engine.Remove, reason, err)
}

// parent notes what became of an application.
func (r *Report) parent(a *application, out outcome, refused map[string]string, err error) {
	p := a.parent
	if err != nil {
		r.problem(p.source.String(), serverWords(err))
	}
	if out.wrote {
		r.wrote()
	}
	for _, change := range a.changes {
		name, _ := change["name"].(string)
		if l := p.planned(name); l != nil {
			r.listener(p, l, cmp.Or(refused[name], l.Reason), r.outcome(err, refused[name]))
		}
	}
	for _, name := range a.gone {
		if l := p.planned(name); l != nil {
			r.listener(p, l, l.Reason, r.outcome(err, ""))
		}
	}
}

// stale notes the removals that wait.
func (r *Report) stale(p *parent, removals []removal) {
	for i := range removals {
		if held := removals[i].held; held != "" {
			r.listener(p, &removals[i].listener, held, Held)
			if strings.HasPrefix(held, tripped) {
				r.problem(p.source.String(), held)
			}
		}
	}
}

func (r *Report) listener(p *parent, l *engine.Listener, reason string, outcome Outcome) {
	r.change(Change{p.source.Kind, p.source.Namespace, p.source.Name, l.Name, l.Hostname, l.Action, outcome, reason})
}

// certificate notes what became of a Certificate of the plan.
func (r *Report) certificate(c engine.CertificatePlan, held string, err error) {
	name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
	switch {
	case err != nil || c.Action == engine.Add || c.Action == engine.Update:
		r.object(engine.KindCertificate, name, c.Action, c.Reason, err)
	case c.Action == engine.Remove && held != "":
		r.change(Change{Kind: engine.KindCertificate, Namespace: name.Namespace, Name: name.Name, Action: c.Action, Outcome: Held, Reason: held})
	}
}

// conclude fills in what the last look knows.
func (s *sweep) conclude() {
	r := s.report
	r.Kinds, r.Findings = s.reading.Kinds, append(r.Findings, s.plan.Findings...)
	r.Counts = Counts{Gateways: len(s.plan.Gateways), ListenerSets: len(s.plan.ListenerSets), Claims: len(s.plan.Verdicts)}
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
	s.turnVerdicts()
	r.Refused = append(r.Refused, s.plan.Refused()...)
	slices.SortFunc(r.Changes, compareChanges)
	slices.SortFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	if len(r.Problems) > 0 && r.Result == Done {
		r.Result = Partial
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

func compareChanges(a, b Change) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Listener, b.Listener))
}
