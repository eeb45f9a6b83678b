package cli

import (
	"fmt"
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

func claimant(v engine.Verdict) string {
	return v.Kind + " " + qualified(v.Namespace, v.Name)
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
	listeners, certificates, others := tally{}, tally{}, tally{}
	for _, g := range append(plan.Gateways[:len(plan.Gateways):len(plan.Gateways)], plan.ListenerSets...) {
		for _, l := range g.Listeners {
			listeners[l.Action]++
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
	refused := len(plan.Refused())
	parts = append(parts, fmt.Sprintf("claims: %d served, %d refused", len(plan.Verdicts)-refused, refused))
	if n := len(tellable(plan.Findings)); n > 0 {
		parts = append(parts, fmt.Sprintf("findings: %d", n))
	}
	return strings.Join(parts, "; ")
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
