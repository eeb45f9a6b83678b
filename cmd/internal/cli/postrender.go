package cli

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// postRenderName is the command that Helm runs.
const postRenderName = "post-render"

func (a *app) postRenderCommand() *cobra.Command {
	var flags releaseFlags
	var strict strictness
	cmd := &cobra.Command{
		Use:   postRenderName,
		Short: "Add listeners and Certificates to the manifests on stdin",
		Long: `post-render reads rendered manifests from stdin and writes the same manifests
to stdout, with the computed listeners in the Gateways and the Certificates
beside them. What it does not change stays the same to the byte. If anything is
wrong it writes nothing.

Findings go to stderr, which Helm hides: Helm 3 unless the command fails, Helm
4 always. So they also go to the terminal of Helm, if it has one, and to
--log-file. Helm 4 is told of an error by a document that it refuses, quoting
the message (unless --helm-error=exit).`,
		Example: `  # Helm 3
  helm upgrade --install shop ./shop -n shop --post-renderer gatewright \
    --post-renderer-args --issuer=letsencrypt --post-renderer-args --namespace=shop
  # any pipe
  helm template shop ./shop -n shop \
    | gatewright post-render --issuer letsencrypt -n shop | kubectl apply -f -`,
		Args: noArguments("post-render reads stdin, and a command stands before its flags"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.helm.check(); err != nil {
				return &usageError{cmd.CommandPath(), err}
			}
			if err := flags.check(cmd); err != nil {
				return err
			}
			if isTerminal(a.stdin) {
				return &usageError{cmd.CommandPath(), errors.New("stdin is a terminal: pipe manifests in")}
			}
			return a.postRender(cmd, flags, strict)
		},
	}
	flags.register(cmd)
	a.helm.register(cmd)
	strict.register(cmd)
	return cmd
}

// postRender reads, renders, tells and writes, in this order: stdout stays empty
// until nothing can go wrong any more.
func (a *app) postRender(cmd *cobra.Command, flags releaseFlags, strict strictness) error {
	if flags.release != "" {
		a.helm.about = "release " + qualified(flags.namespace, flags.release) + ": "
	}
	policies, err := flags.policy.sources()
	if err != nil {
		return err
	}
	known, err := flags.known()
	if err != nil {
		return err
	}
	if a.input, err = readAll(cmd.Context(), a.stdin); err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	result, err := postrender.Render(a.input, postrender.Options{
		Policies: policies, Namespace: flags.namespace, Release: flags.release, Snapshot: known,
	})
	if err != nil {
		return err
	}
	if err := strict.objections(result.Plan); err != nil {
		return &exitError{exitRefused, err}
	}
	if err := a.tell(result.Plan); err != nil {
		return err
	}
	return a.write(result)
}

// tell writes the findings to everyone who may want them, and to the log that
// all went well.
func (a *app) tell(plan *engine.Plan) error {
	var lines []string
	for _, f := range plan.Findings {
		lines = append(lines, findingLine(f))
	}
	for _, line := range lines {
		say(a.stderr, line)
	}
	a.tellTerminal(lines)
	return a.helm.log(append(lines, "done: "+summary(plan)))
}

// write writes the stream in large pieces; most documents are small.
func (a *app) write(result *postrender.Result) error {
	out := bufio.NewWriterSize(a.stdout, 1<<18)
	_, err := result.WriteTo(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}
