package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/cmd/internal/scripttest"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// TestMain installs the program, and a stand-in for gatewright-full that knows
// how to hand back a chart's request, as commands for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(withCluster{m}, map[string]func(){
		"gatewright":      main,
		"gatewright-full": standIn,
	})
}

// withCluster ends the API server with the tests, if one of them started it.
type withCluster struct{ *testing.M }

func (w withCluster) Run() int { return clustertest.Run(w.M) }

// standIn prints the request to stderr. It renders the file rendered.yaml of the
// chart, and takes the kubeconfig for the snapshot; the context "down" fails.
func standIn() {
	snapshot := func(_ context.Context, out io.Writer, request cli.SnapshotRequest) ([]string, error) {
		fmt.Fprintf(os.Stderr, "request: %+v\n", request)
		if request.Connection.Context == "down" {
			return nil, errors.New("HTTPRoute: GET /apis: no answer")
		}
		data, err := os.ReadFile(request.Connection.Kubeconfig)
		_, _ = out.Write(data)
		return []string{"Issuer: GET /apis: 403"}, err
	}
	render := func(_ context.Context, request cli.ChartRequest) ([]byte, error) {
		fmt.Fprintf(os.Stderr, "request: %+v\n", request)
		return os.ReadFile(request.Chart + "/rendered.yaml")
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, cli.Program{RenderChart: render, Snapshot: snapshot}))
}

// TestScript runs the scripts. UPDATE=1 rewrites what they compare with.
func TestScript(t *testing.T) {
	params := scripttest.Params(t)
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("GATEWRIGHT_TTY", "false") // the terminal of whoever runs the tests
		return nil
	}
	params.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits,
	}
	testscript.Run(t, params)
}

// exits runs a command and wants an exit code: exits CODE COMMAND [ARGUMENT...]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// TestLean holds the program to what makes it start fast.
func TestLean(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, heavy := range []string{"helm.sh/helm", "k8s.io/client-go"} {
			if dep = strings.TrimSpace(dep); strings.HasPrefix(dep, heavy+"/") {
				t.Errorf("the lean program links %s", dep)
			}
		}
	}
	if !strings.Contains(string(out), "gatewright/postrender/engine") {
		t.Error("go list does not list the engine, so this test sees nothing")
	}
}
