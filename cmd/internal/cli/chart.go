package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// fullProgram is the name of the executable that links the Helm SDK.
const fullProgram = "gatewright-full"

// handedOver marks a process that another gatewright has handed over to, so
// that a copy of the lean program under the other name does not start itself
// forever.
const handedOver = "GATEWRIGHT_HANDED_OVER"

func (r *ChartRequest) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&r.Chart, "chart", "", "render this `CHART` (folder, .tgz, oci://, or a name with --repo) and plan it")
	fs.StringVar(&r.Repo, "repo", "", "`URL` of the repository of the chart")
	fs.StringVar(&r.Version, "version", "", "`VERSION` of the chart")
	fs.StringSliceVar(&r.ValuesFiles, "values", nil, "values `FILE` for the chart, - for stdin (repeatable)")
	fs.StringArrayVar(&r.Set, "set", nil, "value for the chart, `KEY=VALUE` (repeatable)")
	fs.StringArrayVar(&r.SetString, "set-string", nil, "the same, VALUE is a string, `KEY=VALUE` (repeatable)")
	fs.StringArrayVar(&r.SetFile, "set-file", nil, "the same, VALUE is read from a file, `KEY=FILE` (repeatable)")
	fs.StringVar(&r.KubeVersion, "kube-version", "", "Kubernetes `VERSION` that the chart sees")
	fs.StringSliceVar(&r.APIVersions, "api-versions", nil, "API `VERSION` that the chart sees in addition (repeatable)")
	fs.BoolVar(&r.IncludeCRDs, "include-crds", false, "render the chart's crds folder too")
	fs.BoolVar(&r.IsUpgrade, "is-upgrade", false, "render for an upgrade, not for an install")
}

// check refuses flags that mean nothing without --chart.
func (r *ChartRequest) check(cmd *cobra.Command) error {
	if r.Chart != "" {
		return nil
	}
	for _, flag := range []string{"repo", "version", "values", "set", "set-string", "set-file",
		"kube-version", "api-versions", "include-crds", "is-upgrade"} {
		if cmd.Flags().Changed(flag) {
			return &usageError{cmd.CommandPath(), fmt.Errorf("--%s needs --chart", flag)}
		}
	}
	return nil
}

// render renders the chart here, or hands the whole command over to the program
// that can.
func (a *app) render(ctx context.Context, request ChartRequest) ([]byte, error) {
	if a.program.RenderChart != nil {
		return a.program.RenderChart(ctx, request)
	}
	return nil, a.needFull(ctx, need{"--chart", "render charts", "render first: helm template CHART | gatewright plan"})
}

// need says why the other program is needed: what was given on the command line,
// what has to be done, and what the user can do instead.
type need struct{ given, verb, instead string }

// needFull hands the whole command over to the program that can do what this one
// cannot. It returns if there is none, or once that has ended.
func (a *app) needFull(ctx context.Context, n need) error {
	path, err := findFull(n)
	if err != nil {
		return err
	}
	return a.handOver(ctx, path)
}

// findFull looks beside the running executable, where releases and make put it,
// then on PATH.
func findFull(n need) (string, error) {
	if os.Getenv(handedOver) != "" {
		return "", fmt.Errorf("the program %s cannot %s, though it should; install both programs of one release anew", fullProgram, n.verb)
	}
	name := fullProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	var beside string
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside = filepath.Join(filepath.Dir(self), name)
		if path, err := exec.LookPath(beside); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s needs the program %s, which is neither at %s nor on PATH; install it there, or %s",
		n.given, fullProgram, beside, n.instead)
}

// forward runs the other program as a child and ends with its exit code.
func (a *app) forward(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, path, a.args...)
	cmd.Env = append(os.Environ(), handedOver+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return &exitError{code: exit.ExitCode()}
	}
	if err == nil {
		return &exitError{code: exitDone}
	}
	return fmt.Errorf("%s: %w", path, err)
}
