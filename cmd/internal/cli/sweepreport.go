package cli

import (
	"fmt"
	"strings"

	"github.com/gatewright/gatewright/jobs/report"
)

// sweepReport lays out what a sweep did.
func sweepReport(r *report.Report) planReport {
	changes := section{title: "Changes", header: []string{"", "OUTCOME", "WHAT", "OF", "WHY"}, empty: "nothing to do"}
	for _, c := range r.Changes {
		what, of := c.Kind+" "+qualified(c.Namespace, c.Name), ""
		if c.Listener != "" {
			what, of = "listener "+anyHostname(c.Hostname), what
		}
		changes.rows = append(changes.rows, row{
			tone:  toneOfOutcome(c),
			cells: []string{string(c.Action), string(c.Outcome), what, of, c.Reason},
		})
	}
	problems := section{title: "Problems", header: []string{"OBJECT"}}
	for _, p := range r.Problems {
		problems.rows = append(problems.rows, row{tone: badTone, cells: []string{p.Object}, note: p.Message})
	}
	out := planReport{sections: []section{changes}, summary: sweepSummary(r)}
	more := append(claimSections(r.Refused), findingSection(r.Findings), problems)
	for _, s := range more {
		if len(s.rows) > 0 {
			out.sections = append(out.sections, s)
		}
	}
	return out
}

func toneOfOutcome(c report.Change) tone {
	switch c.Outcome {
	case report.Refused, report.Broken:
		return badTone
	case report.Held:
		return warnTone
	}
	return toneOf(c.Action)
}

// sweepSummary counts, with what was done before what stands.
func sweepSummary(r *report.Report) string {
	if r.Message != "" { // nothing was done, so there is nothing to count
		return r.Message
	}
	counts := map[report.Outcome]int{}
	for _, c := range r.Changes {
		counts[c.Outcome]++
	}
	var parts []string
	if r.DryRun != report.Write {
		parts = append(parts, fmt.Sprintf("dry run, %s", count(counts[report.Would], "change")+" to make"))
	} else {
		parts = append(parts, count(counts[report.Made], "change")+" made", count(r.Writes, "object")+" written")
	}
	for _, p := range []struct {
		outcome report.Outcome
		text    string
	}{{report.Held, "held"}, {report.Refused, "refused"}, {report.Broken, "failed"}} {
		if n := counts[p.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, p.text))
		}
	}
	parts = append(parts, fmt.Sprintf("%s with %s and %s", count(r.Counts.Gateways, "Gateway"), count(r.Counts.Listeners, "listener"), count(r.Counts.Certificates, "Certificate")))
	if refused := len(r.Refused); refused > 0 {
		parts = append(parts, count(refused, "claim")+" refused")
	}
	if e := r.Events; e.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s not written: %s", count(e.Failed, "Event"), e.Error))
	} else if e.Left > 0 {
		parts = append(parts, count(e.Left, "Event")+" too many for one run")
	}
	return strings.Join(parts, "; ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
