package cli

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// FluxRequest says which HelmReleases to render, and with what.
type FluxRequest struct {
	Files     []string
	All       bool
	Namespace string
	// Sources are KIND/NAMESPACE/NAME=PATH each.
	Sources             []string
	IgnoreMissingValues bool
	// Cluster asks for what is not among the files.
	Cluster     bool
	Connection  Connection
	KubeVersion string
	APIVersions []string
	Policies    engine.PolicySources
	Snapshot    []postrender.File
}

// FluxResult is what becomes of the files, and why.
type FluxResult struct {
	// Found counts the HelmReleases, of which those have Plans that opt in.
	Found    int
	Changes  []FluxChange
	Plans    []*engine.Plan
	Findings []engine.Finding
}

// FluxChange is what becomes of a file: it is new where Before is nil, and gone
// where After is nil.
type FluxChange struct {
	Path          string
	Before, After []byte
}

// fluxFlags are the flags of flux render and flux check.
type fluxFlags struct {
	request  FluxRequest
	policy   policyFlags
	snapshot string
	strict   strictness
}

func (a *app) fluxCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flux",
		Short: "Write listeners and Certificates into the HelmReleases of a Git repository",
		Long: `flux gives HelmReleases what a post-render gives a release, because Flux runs no
post-renderer of ours: it renders their charts as helm-controller does, and
writes what is missing as patches into spec.postRenderers, and as a companion
file with the Certificates beside them.

Values come from spec.values, and from the manifests of ConfigMaps and Secrets
among the files. With --cluster those that are not among the files are read from
the cluster, and so are sources and the Secrets of their logins; it takes the
right to get these objects, no more.`,
		Example: `  gatewright flux render apps/ infrastructure/
  gatewright flux check apps/ infrastructure/`,
		Args: noArguments("want render or check"),
		RunE: help,
	}
	cmd.AddCommand(a.fluxRenderCommand(), a.fluxCheckCommand())
	return cmd
}

func (a *app) fluxRenderCommand() *cobra.Command {
	var flags fluxFlags
	cmd := &cobra.Command{
		Use:   "render FILE|DIR...",
		Short: "Write patches and companion files",
		Long: `render renders each HelmRelease that has the annotation gatewright.dev/policy
(or, with --all, each one) and writes into the same files:

  - one entry of spec.postRenderers, the last, whose patches append the computed
    listeners to the Gateways of the chart
  - NAME.gatewright.yaml beside NAME.yaml, with the Certificates, ReferenceGrants
    and redirects, and its name in the kustomization.yaml of the folder

Everything else stays as it is, to the byte. A second run changes nothing, and a
run after the annotation was removed takes all of it out again. The value of the
annotation is a policy entry for the Gateways of the release, or empty.

Charts come from a HelmRepository or OCIRepository whose manifest is among the
files (or, with --cluster, in the cluster), and for other sources from --source.
stdout lists the files that changed.`,
		Example: `  gatewright flux render apps/ infrastructure/
  gatewright flux render apps/shop.yaml --source GitRepository/flux-system/charts=../charts
  gatewright flux render apps/ --cluster --context production
  sops -d secrets/values.yaml | gatewright flux render apps/ /dev/stdin`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := a.flux(cmd, args, &flags)
			if err != nil {
				return err
			}
			return a.writeFlux(result.Changes)
		},
	}
	flags.register(cmd)
	return cmd
}

func (a *app) fluxCheckCommand() *cobra.Command {
	var flags fluxFlags
	cmd := &cobra.Command{
		Use:   "check FILE|DIR...",
		Short: "Fail if flux render would change something",
		Long: `check does what render does, and shows as a diff what render would write. It
writes nothing. Exit code 2 says that something is out of date.`,
		Example: `  gatewright flux check apps/ infrastructure/ --strict=findings`,
		Args:    someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := a.flux(cmd, args, &flags)
			if err != nil {
				return err
			}
			return a.showFlux(result.Changes)
		},
	}
	flags.register(cmd)
	return cmd
}

func someFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("give the files or folders of the HelmReleases and of what they refer to")
	}
	return nil
}

func (f *fluxFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.policy.register(cmd)
	fs.BoolVar(&f.request.All, "all", false, "render each HelmRelease, not only those with the annotation "+engine.AnnotationPolicy)
	fs.StringArrayVar(&f.request.Sources, "source", nil,
		"where a source is on disk, `KIND/NAMESPACE/NAME=PATH` (repeatable): the root of a GitRepository or Bucket, the chart of any other")
	fs.StringVarP(&f.request.Namespace, "namespace", "n", "", "`NAMESPACE` of objects whose manifests name none")
	fs.BoolVar(&f.request.IgnoreMissingValues, "ignore-missing-values", false,
		"render without the values of ConfigMaps and Secrets that are not at hand")
	fs.BoolVar(&f.request.Cluster, "cluster", false,
		"read from the cluster what is not among the files: values of valuesFrom, sources, and the Secrets of their logins")
	f.request.Connection.register(cmd)
	fs.StringVar(&f.request.KubeVersion, "kube-version", "", "Kubernetes `VERSION` that charts see")
	fs.StringSliceVar(&f.request.APIVersions, "api-versions", nil, "API `VERSION` that charts see in addition (repeatable)")
	fs.StringVar(&f.snapshot, "snapshot", "",
		"`FILE` with objects of the cluster (gatewright snapshot, kubectl get -o yaml), which add knowledge and no claims")
	f.strict.register(cmd)
}

// flux renders, or hands over to the program that can, and tells what is found.
func (a *app) flux(cmd *cobra.Command, args []string, flags *fluxFlags) (*FluxResult, error) {
	if a.program.Flux == nil {
		return nil, a.needFull(cmd.Context(), need{"flux", "render charts", "render first: helm template CHART | gatewright post-render"})
	}
	request := flags.request
	request.Files = args
	if err := request.Connection.check(cmd, request.Cluster); err != nil {
		return nil, err
	}
	var err error
	if request.Policies, err = flags.policy.sources(); err != nil {
		return nil, err
	}
	known := releaseFlags{snapshot: flags.snapshot}
	if request.Snapshot, err = known.known(); err != nil {
		return nil, err
	}
	result, err := a.program.Flux(cmd.Context(), request)
	if wrong, is := errors.AsType[*UsageError](err); is {
		return nil, &usageError{cmd.CommandPath(), wrong}
	}
	if err != nil {
		return nil, err
	}
	if err := a.nothingToRender(result, args); err != nil {
		return nil, err
	}
	for _, finding := range result.Findings {
		say(a.stderr, findingLine(finding))
	}
	all := &engine.Plan{Findings: result.Findings}
	for _, plan := range result.Plans {
		all.Verdicts = append(all.Verdicts, plan.Verdicts...)
	}
	if flags.strict.objections(all) != nil {
		return nil, &exitError{exitRefused, fmt.Errorf("%w; nothing is written", flags.strict.verdict(all))}
	}
	return result, nil
}

// nothingToRender tells of a run that renders nothing and has nothing to take out:
// a mistake in a path would pass for ever. What finds no HelmRelease fails.
func (a *app) nothingToRender(result *FluxResult, args []string) error {
	if len(result.Plans) > 0 || len(result.Changes) > 0 {
		return nil
	}
	const way = "a HelmRelease opts in by the annotation " + engine.AnnotationPolicy + ", and --all takes each one"
	where := strings.Join(args, ", ")
	if result.Found == 0 {
		return fmt.Errorf("no HelmRelease is in %s; give the files or folders that they are in (%s)", where, way)
	}
	if len(result.Findings) == 0 {
		say(a.stderr, oneLine(fmt.Sprintf("gatewright: warning: nothing is rendered, since none of the HelmReleases in %s opts in: %s", where, way)))
	}
	return nil
}

// showFlux shows what would be written.
func (a *app) showFlux(changes []FluxChange) error {
	if len(changes) == 0 {
		return nil
	}
	var out bytes.Buffer
	for _, change := range changes {
		diff, err := unifiedDiff(change.Path, change.Before, change.After)
		if err != nil {
			return fmt.Errorf("diff of %s: %w", change.Path, err)
		}
		out.WriteString(lookOf(a.stdout).paintDiff(diff))
	}
	if err := a.print(out.String()); err != nil {
		return err
	}
	return &exitError{exitChanges, fmt.Errorf("out of date: %s; run %s and commit", count(len(changes), "file"), a.renderInstead())}
}

// renderInstead is the command line of flux check with render in its place.
func (a *app) renderInstead() string {
	words := []string{"gatewright"}
	done := false
	for _, word := range a.args {
		switch {
		case word == "check" && !done:
			word, done = "render", true
		case !plainWord.MatchString(word):
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

func (a *app) print(text string) error {
	if _, err := a.stdout.Write([]byte(text)); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}
