package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// qualified is namespace/name, or the name alone where the namespace of the
// release is not known.
func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func inSource(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

func anyHostname(hostname string) string {
	if hostname == "" {
		return "(any)"
	}
	return hostname
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func issuer(ref engine.IssuerRef) string {
	if ref.Name == "" {
		return ""
	}
	kind := ref.Kind
	if ref.Group != "" && ref.Group != engine.CertManagerGroup {
		kind += "." + ref.Group
	}
	return kind + "/" + ref.Name
}

// claimant is who asks. A Gateway asks by its policy, for what it passes
// through.
func claimant(v engine.Verdict) string {
	s := v.Kind + " " + qualified(v.Namespace, v.Name)
	if v.Kind == engine.KindGateway {
		s = "policy of " + s
	}
	return s
}

// protocol says how a listener takes connections.
func protocol(l engine.Listener) string {
	if l.Mode == "Passthrough" {
		return l.Protocol + " passthrough"
	}
	return l.Protocol
}

// onlyAnnotation says whether a Gateway or ListenerSet changes in nothing but
// what is recorded on it.
func onlyAnnotation(g engine.GatewayPlan) bool {
	return g.Action != engine.Keep && !slices.ContainsFunc(g.Listeners, func(l engine.Listener) bool { return l.Action != engine.Keep })
}

func parent(p engine.Parent) string {
	s := p.Kind + " " + qualified(p.Namespace, p.Name)
	if p.SectionName != "" {
		s += ", listener " + p.SectionName
	}
	if p.Port != 0 {
		s += ", port " + strconv.Itoa(p.Port)
	}
	return s
}

// refusal is a refused claim as a sentence.
func refusal(v engine.Verdict) string {
	s := fmt.Sprintf("%s%s: hostname %s at %s is refused (%s)",
		claimant(v), inSource(v.Source), anyHostname(v.Hostname), parent(v.Parent), v.Reason)
	if v.Message != "" {
		s += ": " + v.Message
	}
	return oneLine(s)
}

// findingLine is a finding as one line for stderr and the log.
func findingLine(f engine.Finding) string {
	s := string(f.Severity) + ": "
	if f.Object != "" || f.Source != "" {
		s += strings.TrimSpace(f.Object+inSource(f.Source)) + ": "
	}
	return oneLine(s + f.Message + " [" + f.Code + "]")
}

// tally counts the actions of a kind of object.
type tally map[engine.Action]int

// String is like "2 to add, 1 kept".
func (t tally) String() string {
	var parts []string
	for _, a := range []struct {
		action engine.Action
		word   string
	}{{engine.Add, "to add"}, {engine.Update, "to update"}, {engine.Remove, "to remove"}, {engine.Keep, "kept"}} {
		if n := t[a.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, a.word))
		}
	}
	return strings.Join(parts, ", ")
}

// summary is the plan in one line.
func summary(plan *engine.Plan) string {
	listeners, certificates, others, annotations := tally{}, tally{}, tally{}, tally{}
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		for _, l := range g.Listeners {
			listeners[l.Action]++
		}
		if onlyAnnotation(g) {
			annotations[engine.Update]++
		}
	}
	for _, c := range plan.Certificates {
		certificates[c.Action]++
	}
	for _, g := range plan.Grants {
		others[g.Action]++
	}
	for _, r := range plan.Redirects {
		others[r.Action]++
	}
	parts := []string{
		counted("listeners", listeners), counted("Certificates", certificates),
	}
	if len(others) > 0 {
		parts = append(parts, counted("other objects", others))
	}
	if len(annotations) > 0 {
		parts = append(parts, counted("annotations", annotations))
	}
	parts = append(parts, claims(plan))
	if n := len(tellable(plan.Findings)); n > 0 {
		parts = append(parts, fmt.Sprintf("findings: %d", n))
	}
	return strings.Join(parts, "; ")
}

// claims counts the verdicts.
func claims(plan *engine.Plan) string {
	served, pending, optedOut := 0, 0, 0
	for _, v := range plan.Verdicts {
		switch {
		case v.Accepted:
			served++
		case v.Reason == engine.ReasonPending:
			pending++
		case v.Reason == engine.ReasonOptedOut:
			optedOut++
		}
	}
	s := fmt.Sprintf("claims: %d served, %d refused", served, len(plan.Refused()))
	if pending > 0 {
		s += fmt.Sprintf(", %d pending", pending)
	}
	if optedOut > 0 {
		s += fmt.Sprintf(", %d opted out", optedOut)
	}
	return s
}

func counted(what string, t tally) string {
	if len(t) == 0 {
		return what + ": none"
	}
	return what + ": " + t.String()
}

// tellable leaves out the findings that repeat a refused claim, where the
// claims themselves are shown.
func tellable(findings []engine.Finding) []engine.Finding {
	var out []engine.Finding
	for _, f := range findings {
		if f.Code != engine.CodeRefused {
			out = append(out, f)
		}
	}
	return out
}
