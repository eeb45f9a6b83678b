package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// app is one run of the program.
type app struct {
	program Program
	args    []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer

	helm helmCall
	// input is what was read from stdin for a post-render.
	input []byte
	// running is set once the command line has proved right.
	running bool
}

// Main runs the command line args, without the program's name, and returns the
// exit code. stdout receives the product alone, in one write at the end.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, program Program) int {
	a := &app{program: program, args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	full := a.withCommand(args)
	root.SetArgs(full)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.running {
		if len(full) > len(args) {
			err = misplaced(root, args, err)
		}
		err = &usageError{cmd.CommandPath(), err}
	}
	return a.finish(cmd, err)
}

// withCommand makes a call without a subcommand a post-render, because Helm 3
// starts its post-renderer by name alone. A person who types the name alone, at
// a terminal, gets the help.
func (a *app) withCommand(args []string) []string {
	if len(args) == 0 && isTerminal(a.stdin) {
		return args
	}
	if len(args) > 0 {
		switch first := args[0]; {
		case !strings.HasPrefix(first, "-"), first == "-h", first == "--help", first == "-v", first == "--version":
			return args
		}
	}
	return append([]string{postRenderName}, args...)
}

// misplaced says of a command line without a command, which is wrong, that it
// has one behind its flags.
func misplaced(root *cobra.Command, args []string, err error) error {
	for i, arg := range args {
		for _, cmd := range root.Commands() {
			if cmd.Name() == arg {
				fixed := slices.Concat([]string{root.Name(), arg}, args[:i], args[i+1:])
				return fmt.Errorf("a command stands before its flags: %s", strings.Join(fixed, " "))
			}
		}
	}
	return err
}

// finish says what went wrong, in the way that reaches the user, and returns the
// exit code.
func (a *app) finish(cmd *cobra.Command, err error) int {
	lines := errorLines(err)
	for _, line := range lines {
		say(a.stderr, "gatewright: "+line)
	}
	if len(lines) > 0 && cmd.Name() == postRenderName && a.tellHelm(cmd.Context(), lines) {
		return exitDone
	}
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gatewright",
		Short: "A listener and a certificate for every hostname that routes ask for",
		Long: `gatewright gives every hostname that a route or a Certificate asks for its own
Gateway listener and its own certificate.

Without a command, and with manifests piped in, it is a post-renderer.`,
		Example: `  helm upgrade --install shop ./shop --post-renderer gatewright \
    --post-renderer-args --issuer --post-renderer-args letsencrypt
  helm template shop ./shop | gatewright plan --issuer letsencrypt`,
		Args: a.noSuchCommand,
		// What is no command is told before what is no flag of it.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               help,
		PersistentPreRun:   func(*cobra.Command, []string) { a.running = true },
		SilenceErrors:      true,
		SilenceUsage:       true,
		Version:            version(a.program.Version),
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(a.postRenderCommand(), a.planCommand(), a.explainCommand(), a.sweepCommand(), a.snapshotCommand(), a.fluxCommand(), a.versionCommand(), policyTopic())
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(suggestFlag)
	a.foldHelp(root)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = noArguments("want bash, fish, powershell or zsh")
			cmd.RunE = help
		}
	}
	return root
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q%s", args[0], nearest(args[0], "", commandNames(cmd)))
}

// noArguments refuses arguments and says where they belong.
func noArguments(fix string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("unexpected argument %q: %s", args[0], fix)
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command or topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{cmd.Root().CommandPath(), fmt.Errorf("no help for %q%s", strings.Join(args, " "), topicHint(cmd.Root(), args))}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// topicHint says which topic is meant, or where codes of findings and verdicts are
// explained. Commands and topics have small letters.
func topicHint(root *cobra.Command, args []string) string {
	if len(args) != 1 {
		return ""
	}
	if args[0] == strings.ToLower(args[0]) {
		return nearest(args[0], "", commandNames(root))
	}
	return "; findings and verdicts are explained in postrender/README.md"
}

// bigInput is the size from which the peak of memory matters more than the last
// few milliseconds: garbage is collected at once after reading, and twice as
// often from then on.
const bigInput = 2 << 20

// readAll reads r to its end, or until the user interrupts.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(r)
		done <- result{data, err}
	}()
	select {
	case got := <-done:
		if len(got.data) > bigInput {
			debug.SetGCPercent(50)
			runtime.GC()
		}
		return got.data, got.err
	case <-ctx.Done():
		return nil, fmt.Errorf("interrupted while reading: %w", ctx.Err())
	}
}
