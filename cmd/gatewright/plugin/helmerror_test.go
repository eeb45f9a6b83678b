package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// noIssuer is a policy that lacks what its Certificates need, an error.
const noIssuer = "  annotations: {gatewright.dev/policy: 'attach: {from: Same}'}\n"

// wantNoIssuer is what the user must read of it: the object and its template.
var wantNoIssuer = []string{"Gateway", "edge", "broken/templates/gateway.yaml", "issuer"}

// noPolicy leaves the Gateway alone, with a finding.
const noPolicy = ""

// renderGateway is helm template through gatewright on a chart with a Gateway, which
// has the annotations given, and a route.
func (h helm) renderGateway(t *testing.T, annotations string, args ...string) *exec.Cmd {
	t.Helper()
	executable(t)
	dir := filepath.Join(t.TempDir(), "broken")
	writeFile(t, filepath.Join(dir, "Chart.yaml"), "apiVersion: v2\nname: broken\nversion: 0.1.0\n")
	writeFile(t, filepath.Join(dir, "templates", "gateway.yaml"), `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
`+annotations+`spec:
  gatewayClassName: example
  listeners:
  - {name: http, port: 80, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: a}
spec:
  parentRefs: [{name: edge}]
  hostnames: [a.example.com]
`)
	return h.command(append([]string{"template", "demo", dir}, h.postRender(args...)...)...)
}

// Helm 4 hides stderr, so there the error comes as the name of a document that
// it cannot parse. Either way the user reads it and nothing is rendered.
func TestErrorsReachTheUser(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		got := capture(helm.renderGateway(t, noIssuer))
		if got.err == nil || got.stdout != "" {
			t.Errorf("want a failure and no output: %v", got)
		}
		wantAll(t, "stderr of helm", got.stderr, wantNoIssuer)
	})
}

// Wrong usage is an error of the command line, found before the stream is read.
func TestWrongUsageReachesTheUser(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		got := capture(helm.renderGateway(t, noIssuer, "--isuer=x"))
		if got.err == nil || got.stdout != "" {
			t.Errorf("want a failure and no output: %v", got)
		}
		wantAll(t, "stderr of helm", got.stderr, []string{"--isuer"})
	})
}

// Whoever does not want the document gets the plain failure, which says nothing.
func TestErrorDocumentCanBeTurnedOff(t *testing.T) {
	helm := newHelm(t, 4)
	got := capture(helm.renderGateway(t, noIssuer, "--helm-error=exit"))
	if got.err == nil || !strings.Contains(got.stderr, `plugin "gatewright" exited with error`) {
		t.Errorf("want Helm's own words for a failed plugin: %v", got)
	}
	if strings.Contains(got.stderr, "issuer") {
		t.Errorf("Helm 4 shows stderr of a plugin now; the document is no longer needed: %v", got)
	}
}

// An error must be told even if Helm hides it, as it does with the document off.
func TestErrorsReachTheTerminal(t *testing.T) {
	helm := newHelm(t, 4)
	got, terminal := onTerminal(t, helm.renderGateway(t, noIssuer, "--helm-error=exit"))
	if got.err == nil {
		t.Errorf("want a failure: %v", got)
	}
	wantAll(t, "the terminal", terminal, wantNoIssuer)
}

// Helm 3 may be given the subcommand or leave it out.
func TestFindingsReachTheTerminalOfASubcommand(t *testing.T) {
	got, terminal := onTerminal(t, newHelm(t, 3).renderGateway(t, noPolicy, "post-render"))
	if got.err != nil || !strings.Contains(got.stdout, "kind: Gateway") {
		t.Fatalf("want the chart: %v", got)
	}
	wantAll(t, "the terminal", terminal, []string{"gatewright.dev/policy"})
}

// Both Helms hide stderr when all goes well, which is when findings are told.
func TestFindingsReachTheTerminalAndTheLogFile(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		log := filepath.Join(t.TempDir(), "gatewright.log")
		got, terminal := onTerminal(t, helm.renderGateway(t, noPolicy, "--log-file="+log))
		if got.err != nil || !strings.Contains(got.stdout, "kind: Gateway") {
			t.Fatalf("want the chart: %v", got)
		}
		if strings.Contains(got.stdout+got.stderr, "gatewright.dev/policy") {
			t.Errorf("Helm shows the finding itself now: %v", got)
		}
		want := []string{"Gateway", "edge", "gatewright.dev/policy"}
		wantAll(t, "the terminal", terminal, want)
		logged, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		wantAll(t, "the log file", string(logged), want)
	})
}

// onTerminal runs a command that has a terminal, but writes elsewhere, and gives
// what appeared on the terminal.
func onTerminal(t *testing.T, command *exec.Cmd) (outcome, string) {
	t.Helper()
	var stdout, stderr, shown bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	terminal, err := pty.Start(command) // with a session and the terminal as stdin
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&shown, terminal) // ends with an error once the last writer is gone
	}()
	err = command.Wait()
	<-done
	return outcome{stdout.String(), stderr.String(), err}, shown.String()
}

func wantAll(t *testing.T, where, text string, words []string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%s does not have %q:\n%s", where, word, text)
		}
	}
}
