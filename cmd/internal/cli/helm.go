package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// How to be heard under Helm.
//
// Helm 3 shows what a post-renderer writes to stderr only if it fails. Helm 4
// never shows it: a failure reads "plugin exited with error" and no more. So
// there are three more ways, and each is used where it cannot do harm:
//
//   - The terminal of the user, /dev/tty, where all three streams are pipes, as
//     both Helms make them (in a shell's pipe stderr is not). In CI there is no
//     terminal, and the file does not open.
//   - A log file, if one is named. CI can print it.
//   - Under Helm 4, a document in place of the output that Helm cannot parse.
//     Helm then fails before it has applied anything, and quotes the name of the
//     "file" that it failed on, which is our message.

// filenameAnnotation is how Helm 4 marks the template of each document, before
// and after a post-renderer.
const filenameAnnotation = "postrenderer.helm.sh/postrender-filename"

// The values of --helm-error.
const (
	helmErrorDocument = "document"
	helmErrorExit     = "exit"
)

// helmCall is what is known of the Helm that started the program, if one did.
type helmCall struct {
	// plugin4 is --helm4, which only the plugin manifest for Helm 4 gives.
	plugin4 bool
	// onError is --helm-error; "" is document for the plugin and exit otherwise.
	onError string
	// tty is --tty.
	tty bool
	// logFile is --log-file.
	logFile string
	// about names the release in the log, which may hold those of many.
	about string
}

func (h *helmCall) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&h.logFile, "log-file", os.Getenv("GATEWRIGHT_LOG_FILE"),
		"`FILE` to which findings and errors are appended (default $GATEWRIGHT_LOG_FILE)")
	fs.BoolVar(&h.tty, "tty", os.Getenv("GATEWRIGHT_TTY") != "false",
		"write findings, and errors that Helm hides, to its terminal ($GATEWRIGHT_TTY)")
	fs.BoolVar(&h.plugin4, "helm4", false, "started as a plugin of Helm 4, which gives this flag itself")
	fs.StringVar(&h.onError, "helm-error", os.Getenv("GATEWRIGHT_HELM_ERROR"),
		"`HOW` Helm 4 is told of an error: document (default of the plugin) or exit (default $GATEWRIGHT_HELM_ERROR)")
	complete(cmd, "helm-error", []string{helmErrorDocument, helmErrorExit})
}

func (h *helmCall) check() error {
	switch h.onError {
	case "", helmErrorDocument, helmErrorExit:
		return nil
	}
	return fmt.Errorf("unknown value %q of --helm-error (or GATEWRIGHT_HELM_ERROR), want document or exit", h.onError)
}

// underPlugin says whether Helm runs the program as a plugin. Helm 3 does not
// set the variable for a post-renderer.
func underPlugin() bool { return os.Getenv("HELM_PLUGIN_NAME") != "" }

// wantsDocument says whether an error is to be told by the document that Helm 4
// refuses. Anyone else would take it for output, so all the signs must agree:
// the flag of the plugin, the variable of Helm, and Helm 4's mark in the input.
func (h *helmCall) wantsDocument(input []byte) bool {
	return h.onError != helmErrorExit && (h.plugin4 || h.onError == helmErrorDocument) &&
		underPlugin() && strings.Contains(string(input), filenameAnnotation)
}

// tellHelm tells of a failed post-render beside stderr. It returns whether the
// error is in the output, so that the exit code has to be 0.
func (a *app) tellHelm(ctx context.Context, lines []string) bool {
	if err := a.helm.log(lines); err != nil {
		say(a.stderr, "gatewright: "+oneLine(err.Error()))
	}
	if a.helm.plugin4 && a.input == nil {
		// The command line is wrong, so nothing is read yet. What reading gives
		// only decides how to say so.
		a.input, _ = readAll(ctx, a.stdin)
	}
	if a.helm.wantsDocument(a.input) {
		_, err := a.stdout.Write(errorDocument(lines))
		return err == nil
	}
	// Helm 3 shows the stderr of what fails, so it needs no terminal.
	if underPlugin() {
		a.tellTerminal(lines)
	}
	return false
}

// errorDocument is a document that Helm 4 refuses to parse, since kind is not a
// string, saying "YAML parse error on gatewright: MESSAGE".
func errorDocument(lines []string) []byte {
	message := "gatewright: " + strings.Join(lines, "; ")
	// Helm skips a file whose last path element begins with an underscore.
	message = strings.ReplaceAll(message, "/_", "/ _")
	// A string of JSON is a string of YAML. Strings always marshal.
	quoted, _ := json.Marshal(message)
	return []byte("apiVersion: v1\nkind: [error]\nmetadata:\n  name: gatewright-error\n  annotations:\n    " +
		filenameAnnotation + ": " + string(quoted) + "\n")
}

// tellTerminal shows lines to the user whose Helm holds stderr back. Nobody may
// be there, so failing to is no error.
func (a *app) tellTerminal(lines []string) {
	if !a.helm.tty || !isPipe(a.stdin) || !isPipe(a.stdout) || !isPipe(a.stderr) {
		return
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer tty.Close()
	for _, line := range lines {
		say(tty, "gatewright: "+line)
	}
}

// log adds lines to the log file, if there is one, each with the time and the
// release that it is about.
func (h *helmCall) log(lines []string) error {
	if h.logFile == "" {
		return nil
	}
	f, err := os.OpenFile(h.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log file: %w; give --log-file a file that can be written", err)
	}
	prefix := time.Now().UTC().Format(time.RFC3339) + " " + h.about
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(prefix + line + "\n")
	}
	_, err = f.WriteString(b.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
