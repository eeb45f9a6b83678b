//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web, namespace: infra}
spec: {gatewayClassName: example, listeners: []}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: infra}
spec: {parentRefs: [{name: web}], hostnames: [shop.example.com, 10.0.0.1]}
`

// run is what one run on a terminal of 60 columns shows and writes.
type run struct {
	terminal, stdout string
	exit             int
}

// shows says whether the terminal shows the words, on however many lines.
func (r run) shows(words string) bool {
	return strings.Contains(strings.Join(strings.Fields(r.terminal), " "), words)
}

// fits fails where a line is wider than the terminal.
func (r run) fits(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(r.terminal) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > 60 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
}

// onTerminal runs the program with a terminal of its own. Streams that are set
// in the command stay as they are; the others are the terminal.
func onTerminal(t *testing.T, cmd *exec.Cmd) run {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	attach(cmd, tty)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var shown bytes.Buffer
	read := make(chan struct{})
	go func() {
		_, _ = io.Copy(&shown, terminal) // ends in an error when nobody holds the other end
		close(read)
	}()
	err = cmd.Wait()
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		t.Fatal(err)
	}
	<-read
	r := run{terminal: strings.ReplaceAll(shown.String(), "\r\n", "\n"), exit: cmd.ProcessState.ExitCode()}
	if out, isBuffer := cmd.Stdout.(*bytes.Buffer); isBuffer {
		r.stdout = out.String()
	}
	return r
}

// attach makes tty the command's terminal, and its streams.
func attach(cmd *exec.Cmd, tty *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	cmd.ExtraFiles = []*os.File{tty}
	if cmd.Stdin == nil {
		cmd.Stdin = tty
	}
	if cmd.Stdout == nil {
		cmd.Stdout = tty
	}
	if cmd.Stderr == nil {
		cmd.Stderr = tty
	}
}

// program is a run of gatewright, without what the environment may set.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("gatewright")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"TERM=xterm", "PATH=" + os.Getenv("PATH")}
	return cmd
}

// asHelm gives the command three pipes, as both Helms do.
func asHelm(cmd *exec.Cmd) *exec.Cmd {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(gateway), &bytes.Buffer{}, &bytes.Buffer{}
	return cmd
}

func TestFindingsReachTheTerminalBehindHelm(t *testing.T) {
	want := "gatewright: warning: HTTPRoute infra/shop (document 2): 10.0.0.1 refused"
	tests := []struct {
		name  string
		cmd   *exec.Cmd
		shown bool
	}{
		{"by name alone", asHelm(program(t, "--issuer=x")), true},
		{"with a subcommand", asHelm(program(t, "post-render", "--issuer=x")), true},
		{"turned off", asHelm(program(t, "post-render", "--issuer=x", "--tty=false")), false},
		{"turned off by the environment", asHelm(program(t, "post-render", "--issuer=x")), false},
		{"stderr is not held back", asHelm(program(t, "post-render", "--issuer=x")), false},
	}
	tests[3].cmd.Env = append(tests[3].cmd.Env, "GATEWRIGHT_TTY=false")
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	tests[4].cmd.Stderr = stderr
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := onTerminal(t, test.cmd)
			if got.exit != 0 || !strings.Contains(got.stdout, "kind: Certificate") {
				t.Errorf("exit code %d, stdout:\n%s", got.exit, got.stdout)
			}
			if shown := got.shows(want); shown != test.shown {
				t.Errorf("on the terminal: %v, want %v:\n%s", shown, test.shown, got.terminal)
			}
			got.fits(t)
		})
	}
}

// Helm 3 shows the stderr of what fails, Helm 4 does not.
func TestErrorsReachTheTerminalBehindHelm4(t *testing.T) {
	helm3 := onTerminal(t, asHelm(program(t, "--strict", "--issuer=x")))
	if helm3.exit != 3 || helm3.terminal != "" || helm3.stdout != "" {
		t.Errorf("under Helm 3: %+v", helm3)
	}
	cmd := asHelm(program(t, "post-render", "--strict", "--issuer=x"))
	cmd.Env = append(cmd.Env, "HELM_PLUGIN_NAME=gatewright")
	helm4 := onTerminal(t, cmd)
	if helm4.exit != 3 || !helm4.shows("hostname 10.0.0.1 at Gateway infra/web is refused") || helm4.stdout != "" {
		t.Errorf("under Helm 4: %+v", helm4)
	}
}

func writeGateway(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(file, []byte(gateway), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOnATerminal(t *testing.T) {
	plan := []string{"plan", "-f", writeGateway(t), "--issuer=x", "--diff"}
	tests := []struct {
		name string
		args []string
		env  string
		exit int
		want []string
		not  string
	}{
		{name: "the name alone shows the help", exit: 0, want: []string{"Available Commands:"}},
		{name: "errors are as wide as the terminal", args: []string{"plan"}, exit: 64, want: []string{"to look at: give -f or --chart, or pipe\n    manifests in; see"}},
		{name: "help is as wide as the terminal", args: []string{"plan", "--help"}, want: []string{"fail rather than give a\n                               Gateway more than N listeners\n"}},
		{name: "a post-render needs a pipe", args: []string{"post-render"}, exit: 64, want: []string{"stdin is a terminal: pipe manifests in"}},
		{name: "also by name alone", args: []string{"--issuer=x"}, exit: 64, want: []string{"stdin is a terminal: pipe manifests in"}},
		{name: "plan needs manifests", args: []string{"plan"}, exit: 64, want: []string{"nothing to look at: give -f or --chart, or pipe manifests in"}},
		{name: "colours", args: plan, want: []string{"\x1b[32m  add", "\x1b[31m  10.0.0.1", "\x1b[32m+kind: Certificate\x1b[0m", "\x1b[36m@@"}},
		{name: "no colours", args: plan, env: "NO_COLOR=1", want: []string{"  add", "+kind: Certificate"}, not: "\x1b"},
		{name: "as wide as the terminal", args: plan, env: "NO_COLOR=1", want: []string{"\n  10.0.0.1  HTTPRoute infra/shop  Gateway infra/web\n      reason: "}, not: "WHY"},
		{name: "no colours on a dumb terminal", args: plan, env: "TERM=dumb", want: []string{"  add"}, not: "\x1b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := program(t, test.args...)
			cmd.Env = append(cmd.Env, test.env)
			got := onTerminal(t, cmd)
			if got.exit != test.exit {
				t.Errorf("exit code %d, want %d", got.exit, test.exit)
			}
			for _, want := range test.want {
				if !strings.Contains(got.terminal, want) && !got.shows(want) {
					t.Errorf("no %q in:\n%s", want, got.terminal)
				}
			}
			if test.not != "" && strings.Contains(got.terminal, test.not) {
				t.Errorf("%q in:\n%s", test.not, got.terminal)
			}
		})
	}
}
