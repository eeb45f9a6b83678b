package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

func (r *run) find(severity Severity, code string, m *Meta, message string) {
	r.findings = append(r.findings, Finding{severity, code, m.String(), m.Source, message})
}

func (r *run) fail(m *Meta, message, fix string) {
	r.errs = append(r.errs, &Error{Object: m.String(), Source: m.Source, Message: message, Fix: fix})
}

func gatewayError(g *Gateway, message, fix string) error {
	return &Error{Object: g.String(), Source: g.Source, Message: message, Fix: fix}
}

// needNamespace is the error of a result that depends on a namespace which
// Helm does not tell a post-renderer.
func (r *run) needNamespace(m *Meta, message string) error {
	return &Error{Object: m.String(), Source: m.Source, Message: message, Fix: "add --namespace NAMESPACE (or set HELM_NAMESPACE)"}
}

// freeze notes the parents that the errors belong to, and says whether that are
// more than before.
func freeze(frozen map[string]*Error, err error) bool {
	more := false
	for _, err := range unjoin(err) {
		var problem *Error
		if errors.As(err, &problem) && frozen[problem.Object] == nil && problem.ofParent() {
			frozen[problem.Object], more = problem, true
		}
	}
	return more
}

func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

func (e *Error) ofParent() bool {
	return strings.HasPrefix(e.Object, KindGateway+" ") || strings.HasPrefix(e.Object, KindListenerSet+" ")
}

// finding is the error of a parent that costs only itself.
func (e *Error) finding() Finding {
	message := e.Message
	if e.Fix != "" {
		message += "; " + e.Fix
	}
	return Finding{Critical, CodeKeptAsIs, e.Object, e.Source, message + ". Until then it is kept as it is"}
}

// err joins the reasons why nothing may be written: sorted, each once.
func (r *run) err() error {
	slices.SortFunc(r.errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(slices.CompactFunc(r.errs, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// Error is a reason why nothing may be written.
type Error struct {
	Object  string // "Gateway infra/edge"
	Source  string // file or template, may be ""
	Message string // what is wrong
	Fix     string // what to do, may be ""
}

// Error returns "object (source): message; fix".
func (e *Error) Error() string {
	s := e.Object
	if e.Source != "" {
		s += " (" + e.Source + ")"
	}
	s += ": " + e.Message
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}
