package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender/engine"
)

// strictness says what in a plan is a failure. It is the value of --strict.
type strictness string

// The strictnesses. What asks for nothing, such as a policy that was forgotten,
// is refused nothing, and only strictFindings fails on it.
const (
	strictNot      strictness = "false"
	strictRefusals strictness = "refusals"
	strictFindings strictness = "findings"
)

func (s *strictness) register(cmd *cobra.Command) {
	*s = strictNot
	fs := cmd.Flags()
	// The empty name leaves the value that it has by itself.
	fs.Var(s, "strict", "exit code 3 if a claim is refused; --strict=findings``: or if anything is found")
	fs.Lookup("strict").NoOptDefVal = string(strictRefusals)
	fs.Lookup("strict").DefValue = ""
	complete(cmd, "strict", []string{string(strictRefusals), string(strictFindings)})
	// The value of such a flag cannot stand alone.
	noArguments := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && *s == strictRefusals && new(strictness).Set(args[0]) == nil {
			return fmt.Errorf("unexpected argument %q: write --strict=%s", args[0], args[0])
		}
		return noArguments(cmd, args)
	}
}

// String and Set make it the value of a flag. What is left of a flag that only
// was on or off is true for refusals.
func (s *strictness) String() string { return string(*s) }

// Set takes a strictness by its word.
func (s *strictness) Set(word string) error {
	switch value := strictness(word); value {
	case strictNot, strictRefusals, strictFindings:
		*s = value
	case "true":
		*s = strictRefusals
	default:
		return fmt.Errorf("want refusals, findings, or false")
	}
	return nil
}

// Type is for pflag, which shows the value of a "string" in quotes.
func (s *strictness) Type() string { return "word" }

// objections are what fails the plan. Blocking are those of its findings for which
// the upgrade would fail.
func (s strictness) objections(plan *engine.Plan, blocking ...engine.Finding) error {
	var errs []error
	if s != strictNot {
		for _, v := range plan.Refused() {
			errs = append(errs, errors.New(refusal(v)))
		}
	}
	for _, f := range s.found(plan, blocking) {
		errs = append(errs, errors.New(findingLine(f)))
	}
	return errors.Join(errs...)
}

// found are the findings that fail the plan.
func (s strictness) found(plan *engine.Plan, blocking []engine.Finding) []engine.Finding {
	switch s {
	case strictRefusals:
		return blocking
	case strictFindings:
		return tellable(plan.Findings)
	}
	return nil
}

// verdict says in one line what the objections are to.
func (s strictness) verdict(plan *engine.Plan, blocking ...engine.Finding) error {
	flag, parts := "--strict", []string(nil)
	if refused := plan.Refused(); len(refused) > 0 {
		var names []string
		for _, v := range refused {
			names = append(names, fmt.Sprintf("%s (%s)", anyHostname(v.Hostname), claimant(v)))
		}
		parts = append(parts, count(len(refused), "refused claim")+": "+strings.Join(names, ", "))
	}
	if s == strictFindings {
		flag = "--strict=findings"
	}
	var codes []string
	for _, f := range s.found(plan, blocking) {
		codes = append(codes, strings.TrimSuffix(fmt.Sprintf("%s (%s)", f.Code, f.Object), " ()"))
	}
	if len(codes) > 0 {
		parts = append(parts, count(len(codes), "finding")+": "+strings.Join(codes, ", "))
	}
	return fmt.Errorf("%s fails on %s", flag, strings.Join(parts, "; "))
}
