// Package report is what a sweep reports: plain data, without a client, so that
// every program can print it.
package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Report is what a sweep did, or would do. Its JSON form is a stable contract.
type Report struct {
	// Started is in UTC.
	Started time.Time `json:"started"`
	DryRun  DryRun    `json:"dryRun,omitempty"`
	Result  Result    `json:"result"`
	// Message says why nothing was done, where that is so.
	Message string `json:"message,omitempty"`
	Kinds   []Kind `json:"kinds"`
	// Counts are those of the plan: of what gatewright manages once all of it is
	// carried out, also where something of it failed or waits.
	Counts  Counts   `json:"counts"`
	Changes []Change `json:"changes"`
	// Refused are the claims that are not served.
	Refused  []engine.Verdict `json:"refused"`
	Findings []engine.Finding `json:"findings"`
	Problems []Problem        `json:"problems"`
	// Notes are what went wrong beside the sweep, such as events that could not be
	// sent; they cost nothing.
	Notes []string `json:"notes,omitempty"`
	// HelmReleases are the "namespace/name" of those that render "Gateway
	// namespace/name".
	HelmReleases map[string]string `json:"helmReleases,omitempty"`
	// Writes counts what the API server stored.
	Writes int `json:"writes"`
	// Events counts those written, which Writes does not.
	Events Events `json:"events,omitzero"`
}

// Events says what became of the Events of a run. None of it is an error.
type Events struct {
	Written int `json:"written"`
	// Known is how many the API server has from an earlier run.
	Known int `json:"known"`
	// Left is how many were too many for one run.
	Left int `json:"left"`
	// Failed is how many could not be written, and Error why one of them.
	Failed int    `json:"failed"`
	Error  string `json:"error,omitempty"`
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
	Held    Outcome = "held"    // it waits, as most removals do; the reason says for what
	Refused Outcome = "refused" // by the API server, in the words of the reason
	Broken  Outcome = "failed"
)

// Problem is an error that cost only its object.
type Problem struct {
	Object  string `json:"object"`
	Message string `json:"message"`
}

// Kind tells how the reading of one kind went.
type Kind struct {
	Group    string `json:"group,omitempty"`
	Version  string `json:"version,omitempty"`
	Kind     string `json:"kind"`
	Served   bool   `json:"served"`
	Complete bool   `json:"complete"`
	Objects  int    `json:"objects"`
	Error    string `json:"error,omitempty"`
}

// DryRun says how far a sweep goes.
type DryRun string

// The values of [DryRun]: to write, to plan only, and to ask the server as well,
// which answers as if it wrote.
const (
	Write        DryRun = ""
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// New returns the report of a sweep that has not done anything.
func New(started time.Time, dryRun DryRun) *Report {
	return &Report{
		Started: started.UTC().Truncate(time.Second), DryRun: dryRun, Result: Done,
		Kinds: []Kind{}, Changes: []Change{}, Refused: []engine.Verdict{}, Findings: []engine.Finding{}, Problems: []Problem{},
	}
}

// Changed says whether something was, or would be, changed.
func (r *Report) Changed() bool { return r.count(Made, Would) > 0 }

// count counts the changes that came out in one of these ways.
func (r *Report) count(outcomes ...Outcome) int {
	n := 0
	for _, c := range r.Changes {
		if slices.Contains(outcomes, c.Outcome) {
			n++
		}
	}
	return n
}

// JSON is the report as indented JSON, with a newline at its end.
func (r *Report) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(harmless(data), '\n'), err
}

// harmless writes what could steer a terminal in JSON as escapes: anybody who may
// write a Certificate has a say in a report. Outside of strings JSON has ASCII
// alone.
func harmless(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for _, r := range string(data) {
		if r == '\n' || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// maxTermination is how much of a container's last words Kubernetes keeps.
const maxTermination = 4096

// Termination is the report as a container's termination message: JSON of at
// most 4096 bytes, with what needs a look before the rest.
func (r *Report) Termination() []byte {
	short := struct {
		Result  Result `json:"result"`
		Message string `json:"message,omitempty"`
		Writes  int    `json:"writes"`
		Counts  Counts `json:"counts"`
		// Changes were made, or would be in a dry run; Held wait; Failed are those that
		// the API server refused, too.
		Changes  int       `json:"changes"`
		Held     int       `json:"held"`
		Failed   int       `json:"failed"`
		Refused  int       `json:"refused"`
		Findings int       `json:"findings"`
		Problems []Problem `json:"problems,omitempty"`
		// More counts the problems that had no room.
		More int `json:"moreProblems,omitempty"`
	}{r.Result, cut(r.Message, maxTermination/4), r.Writes, r.Counts, r.count(Made, Would), r.count(Held), r.count(Refused, Broken), len(r.Refused), len(r.Findings), nil, 0}
	data := marshalHarmless(short)
	for i, p := range r.Problems {
		p.Message = cut(p.Message, maxTermination/8)
		short.Problems, short.More = append(short.Problems, p), len(r.Problems)-i-1
		more := marshalHarmless(short)
		if len(more) > maxTermination {
			break
		}
		data = more
	}
	return data
}

// marshalHarmless is for plain data, which always can be marshalled.
func marshalHarmless(value any) []byte {
	data, _ := json.Marshal(value)
	return harmless(data)
}

// cut shortens a text to at most n bytes, between runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
