package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// planReport is a plan as a person reads it. Text and markdown lay out the same one.
type planReport struct {
	sections []section
	summary  string
}

// section is a table with a title.
type section struct {
	title  string
	header []string
	// list is the heading of the column whose cells may be lists with commas.
	list string
	rows []row
	// empty is said in place of a table without rows.
	empty string
}

// row is a line of a table. The note is a sentence that belongs to it.
type row struct {
	tone  tone
	cells []string
	note  string
}

func reportOf(plan *engine.Plan) planReport {
	var sections []section
	for _, g := range plan.Gateways {
		sections = append(sections, gatewaySection("Gateway", g))
	}
	for _, g := range plan.ListenerSets {
		sections = append(sections, gatewaySection("ListenerSet", g))
	}
	sections = append(sections, certificateSection(plan.Certificates), otherSection(plan))
	sections = append(sections, claimSections(plan.Verdicts)...)
	sections = append(sections, findingSection(plan.Findings))

	r := planReport{summary: summary(plan)}
	for _, s := range sections {
		if len(s.rows) > 0 || s.empty != "" {
			r.sections = append(r.sections, s)
		}
	}
	return r
}

func gatewaySection(kind string, g engine.GatewayPlan) section {
	s := section{
		title:  fmt.Sprintf("%s %s%s", kind, qualified(g.Namespace, g.Name), inSource(g.Source)),
		header: []string{"", "HOSTNAME", "PORT", "PROTOCOL", "LISTENER", "WHY"},
		empty:  "no listener is computed for it",
	}
	for _, l := range g.Listeners {
		s.rows = append(s.rows, row{
			tone:  toneOf(l.Action),
			cells: []string{string(l.Action), anyHostname(l.Hostname), number(l.Port), protocol(l), l.Name, l.Reason},
		})
	}
	if onlyAnnotation(g) {
		s.rows = append(s.rows, row{
			tone:  toneOf(g.Action),
			cells: []string{string(g.Action), "", "", "", "(annotation)", "the policy is recorded in " + engine.AnnotationRendered},
		})
	}
	return s
}

func certificateSection(certificates []engine.CertificatePlan) section {
	s := section{title: "Certificates", header: []string{"", "HOSTNAMES", "ISSUER", "CERTIFICATE", "WHY"}, list: "HOSTNAMES"}
	for _, c := range certificates {
		s.rows = append(s.rows, row{
			tone: toneOf(c.Action),
			cells: []string{string(c.Action), strings.Join(c.DNSNames, ", "),
				issuer(c.IssuerRef), qualified(c.Namespace, c.Name), c.Reason},
		})
	}
	return s
}

func otherSection(plan *engine.Plan) section {
	s := section{title: "Other objects", header: []string{"", "OBJECT", "WHY"}}
	for _, g := range plan.Grants {
		s.rows = append(s.rows, row{
			tone:  toneOf(g.Action),
			cells: []string{string(g.Action), "ReferenceGrant " + qualified(g.Namespace, g.Name), g.Reason},
		})
	}
	for _, r := range plan.Redirects {
		s.rows = append(s.rows, row{
			tone:  toneOf(r.Action),
			cells: []string{string(r.Action), "HTTPRoute " + qualified(r.Namespace, r.Name), r.Reason},
		})
	}
	return s
}

// claimSections parts what is served from what is refused, which needs hands,
// from what waits or is not decided here, and from what did not want to be. A reader looks
// for a hostname, so that is the order.
func claimSections(verdicts []engine.Verdict) []section {
	served := section{title: "Claims served", header: []string{"HOSTNAME", "ASKED BY", "OF", "LISTENER"}, list: "OF"}
	refused := section{title: "Claims refused", header: []string{"HOSTNAME", "ASKED BY", "OF", "REASON"}, list: "OF"}
	pending := section{title: "Claims pending", header: []string{"HOSTNAME", "ASKED BY", "OF"}, list: "OF"}
	optedOut := section{title: "Opted out", header: []string{"HOSTNAME", "NAMED BY", "OF"}, list: "OF"}
	byHostname := func(a, b engine.Verdict) int { return cmp.Compare(a.Hostname, b.Hostname) }
	for _, v := range slices.SortedStableFunc(slices.Values(verdicts), byHostname) {
		cells := []string{anyHostname(v.Hostname), claimant(v), parent(v.Parent)}
		switch {
		case v.Accepted:
			served.rows = append(served.rows, row{cells: append(cells, v.Listener), note: v.Message})
		case v.Reason == engine.ReasonPending:
			pending.rows = append(pending.rows, row{cells: cells, note: v.Message})
		case v.Reason == engine.ReasonOptedOut:
			optedOut.rows = append(optedOut.rows, row{cells: cells, note: v.Message})
		default:
			refused.rows = append(refused.rows, row{tone: badTone, cells: append(cells, v.Reason), note: v.Message})
		}
	}
	return []section{served, refused, pending, optedOut}
}

func findingSection(findings []engine.Finding) section {
	s := section{title: "Findings", header: []string{"", "CODE", "OBJECT"}}
	for _, f := range tellable(findings) {
		t := warnTone
		if f.Severity == engine.Critical {
			t = badTone
		}
		s.rows = append(s.rows, row{
			tone:  t,
			cells: []string{string(f.Severity), f.Code, f.Object + inSource(f.Source)},
			note:  f.Message,
		})
	}
	return s
}

func toneOf(action engine.Action) tone {
	switch action {
	case engine.Add:
		return goodTone
	case engine.Update:
		return warnTone
	case engine.Remove:
		return badTone
	default:
		return plainTone
	}
}
