package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender/engine"
)

// planFlags are the flags of plan.
type planFlags struct {
	release  releaseFlags
	input    inputFlags
	output   string
	diff     bool
	strict   strictness
	detailed bool
}

func (a *app) planCommand() *cobra.Command {
	var flags planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what a post-render would do, and why",
		Long: `plan shows what a post-render of the same manifests would add, keep, update and
remove, which claims it would serve or refuse, and why. It changes nothing and
asks no cluster unless --cluster is given: alone it shows what a sweep would do.

The manifests are one release: what is not among them is unknown, not absent,
unless --complete says that they are the whole cluster, or a file of gatewright
snapshot says it itself.`,
		Example: `  helm template shop ./shop | gatewright plan --issuer letsencrypt
  gatewright plan --chart ./shop --set host=shop.example.com --diff
  gatewright plan -f manifests/ -o markdown > comment.md
  gatewright plan -f manifests/ -o json --detailed-exitcode
  gatewright plan --cluster
  gatewright plan --cluster --chart ./shop --namespace shop --release shop`,
		Args: noArguments("give manifests with -f, or a chart with --chart"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.plan(cmd, flags) },
	}
	flags.release.register(cmd)
	flags.input.register(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&flags.output, "output", "o", "table", "`FORMAT`: table, json, yaml or markdown")
	fs.BoolVar(&flags.diff, "diff", false, "show the change to the manifests too, as a unified diff")
	flags.strict.register(cmd)
	fs.Lookup("strict").Usage = "exit code 3 if a claim is refused, or --cluster finds that the release would be; --strict=findings``: or if anything is found"
	fs.BoolVar(&flags.detailed, "detailed-exitcode", false, "exit code 2 if the plan changes something")
	complete(cmd, "output", outputFormats())
	return cmd
}

func outputFormats() []string { return []string{"table", "json", "yaml", "markdown"} }

// plan reads, plans and prints; what it found is also its exit code.
func (a *app) plan(cmd *cobra.Command, flags planFlags) error {
	if err := flags.check(cmd); err != nil {
		return err
	}
	in, err := a.read(cmd, &flags.release, &flags.input)
	if err != nil {
		return err
	}
	plan, err := in.compute()
	if err != nil {
		return err
	}
	var blocking []engine.Finding
	if flags.input.cluster && !flags.input.alone() {
		if blocking, err = a.preflight(cmd.Context(), &flags, in, plan); err != nil {
			return err
		}
	}
	out, err := flags.print(plan, in, lookOf(a.stdout))
	if err != nil {
		return err
	}
	if _, err := a.stdout.Write(out); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return flags.outcome(plan, blocking)
}

// preflight asks the cluster whether it would take what comes out of the
// post-render, adds what it finds to the plan, and returns what blocks it.
func (a *app) preflight(ctx context.Context, flags *planFlags, in *input, plan *engine.Plan) ([]engine.Finding, error) {
	manifests, err := in.rendered(plan)
	if err != nil {
		return nil, err
	}
	result, err := a.program.Preflight(ctx, PreflightRequest{
		Connection: flags.input.connection, Manifests: manifests, Release: flags.release.release, Namespace: flags.release.namespace,
	})
	if err != nil {
		return nil, err
	}
	plan.Findings = append(plan.Findings, result.Findings...)
	sortFindings(plan.Findings)
	return result.Blocking, nil
}

func (f *planFlags) check(cmd *cobra.Command) error {
	if !slices.Contains(outputFormats(), f.output) {
		return &usageError{cmd.CommandPath(), fmt.Errorf("unknown format %q for --output, want one of %s",
			f.output, strings.Join(outputFormats(), ", "))}
	}
	if f.input.cluster && !f.input.alone() && (f.release.namespace == "" || f.release.release == "") {
		return &usageError{cmd.CommandPath(), errors.New("--cluster beside manifests asks as their release does: give its --namespace and --release")}
	}
	if f.diff && f.output != "table" && f.output != "markdown" {
		return &usageError{cmd.CommandPath(), fmt.Errorf("--diff has no place in -o %s", f.output)}
	}
	return nil
}

func (f *planFlags) print(plan *engine.Plan, in *input, l look) ([]byte, error) {
	switch f.output {
	case "json":
		return asJSON(plan)
	case "yaml":
		return asYAML(plan)
	}
	diff := ""
	if f.diff {
		var err error
		if diff, err = in.diff(plan); err != nil {
			return nil, err
		}
	}
	report := reportOf(plan)
	report.summary += in.grace(plan)
	if f.output == "markdown" {
		return []byte(report.markdown() + markdownDiff(diff)), nil
	}
	text := report.text(l)
	if diff != "" {
		text += "\n" + l.paintDiff(diff)
	}
	return []byte(text), nil
}

// outcome is the exit code that the plan asks for. What is refused and found is
// told by the plan itself, which may be in a file.
func (f *planFlags) outcome(plan *engine.Plan, blocking []engine.Finding) error {
	switch {
	case f.strict.objections(plan, blocking...) != nil:
		return &exitError{exitRefused, f.strict.verdict(plan, blocking...)}
	case f.detailed && plan.Changes():
		return &exitError{code: exitChanges}
	default:
		return nil
	}
}
