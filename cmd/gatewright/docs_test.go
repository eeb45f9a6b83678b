//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

const repository = "../.."

// clusterPage is the page whose commands need a cluster: the real API server of
// the tests.
const clusterPage = "jobs/README.md"

// TestDocs runs the commands that the pages show, each page in a folder of its
// own that holds what a clone of the repository holds after make build tools.
// UPDATE=1 rewrites what the pages show, and fails so that it is looked at.
func TestDocs(t *testing.T) {
	for _, page := range []string{"README.md", "postrender/README.md", "CONTRIBUTING.md", "flux/README.md", "flux/migration.md", clusterPage} {
		t.Run(page, func(t *testing.T) { runPage(t, page) })
	}
}

func runPage(t *testing.T, name string) {
	path := filepath.Join(repository, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parsePage(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(steps) == 0 {
		t.Fatalf("%s shows no command", name)
	}
	updated := string(text)
	clone := newClone(t)
	if name == clusterPage {
		clone.reachCluster(t)
	}
	for _, s := range slices.Backward(clone.takeAll(t, name, steps)) {
		updated = rewrite(updated, s.step, s.got)
	}
	if os.Getenv("UPDATE") != "" && updated != string(text) {
		if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outdated is a step whose output the page shows wrongly.
type outdated struct {
	step step
	got  []string
}

// takeAll returns the steps that the page shows wrongly.
func (c clone) takeAll(t *testing.T, page string, steps []step) []outdated {
	t.Helper()
	var wrong []outdated
	for _, s := range steps {
		switch {
		case s.file != "":
			if err := os.WriteFile(filepath.Join(c.dir, s.file), []byte(s.content), 0o644); err != nil {
				t.Fatal(err)
			}
		case s.notRun:
			t.Logf("%s:%d: not run, as the page says: %s", page, s.line, s.command)
		default:
			output := c.run(t, page, s)
			if len(s.want) > 0 && !matchLines(s.want, printed(output)) {
				t.Errorf("%s:%d: the page shows (-) what the command does not print (+)\n$ %s\n%s", page, s.line, s.command,
					cmp.Diff(s.want, printed(output)))
				if !slices.Contains(s.want, "...") { // which lines to leave out is for a person to say
					wrong = append(wrong, outdated{s, printed(output)})
				}
			}
		}
	}
	return wrong
}

// clone is a folder that looks like a clone of the repository.
type clone struct{ dir, kubeconfig string }

// reachCluster starts the API server and puts kubectl in reach.
func (c *clone) reachCluster(t *testing.T) {
	t.Helper()
	env := clustertest.Start(t)
	c.kubeconfig = env.Kubeconfig
	link(t, env.KubectlPath(t), filepath.Join(c.dir, "bin", "kubectl"))
	link(t, filepath.Join(repository, "charts"), filepath.Join(c.dir, "charts"))
}

func newClone(t *testing.T) clone {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS(filepath.Join(repository, "testdata"))); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "flux/example"), os.DirFS(filepath.Join(repository, "flux/example"))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"Makefile", "bin/gatewright", "bin/gatewright-full", ".cache/bin/helm3", ".cache/bin/helm4", ".cache/bin/kustomize"} {
		link(t, filepath.Join(repository, file), filepath.Join(dir, file))
	}
	for _, major := range []string{"3", "4"} {
		link(t, filepath.Join(repository, ".cache/bin/helm"+major), filepath.Join(dir, ".helm"+major, "helm"))
	}
	return clone{dir: dir, kubeconfig: os.DevNull}
}

func link(t *testing.T, from, to string) {
	t.Helper()
	from, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(from); err != nil {
		t.Fatalf("%v; run: make build tools", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// run runs a command and returns what it prints, to both streams.
func (c clone) run(t *testing.T, page string, s step) string {
	t.Helper()
	if s.helm4 {
		c.addArchive(t)
	}
	if s.cluster {
		c.kubeconfig = clustertest.Start(t).Kubeconfig
	}
	command := exec.Command("bash", "-euo", "pipefail", "-c", s.command)
	command.Dir = c.dir
	command.Env = c.environment(s.helm4)
	// Without a terminal, where gatewright would write past Helm.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output, err := command.CombinedOutput()
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		t.Fatalf("%s:%d: %v", page, s.line, err)
	}
	if exit := command.ProcessState.ExitCode(); exit != s.exit {
		t.Errorf("%s:%d: exit code %d, want %d\n$ %s\n%s", page, s.line, exit, s.exit, s.command, output)
	}
	return string(output)
}

func (c clone) environment(helm4 bool) []string {
	major := "3"
	if helm4 {
		major = "4"
	}
	env := []string{"HOME=" + c.dir, "KUBECONFIG=" + c.kubeconfig}
	for _, name := range []string{"CONFIG", "CACHE", "DATA"} {
		env = append(env, "HELM_"+name+"_HOME="+filepath.Join(c.dir, ".helm"+major, name))
	}
	path := []string{filepath.Join(c.dir, ".helm"+major), filepath.Join(c.dir, "bin"), filepath.Join(c.dir, ".cache/bin"), os.Getenv("PATH")}
	return append(env, "PATH="+strings.Join(path, string(os.PathListSeparator)))
}

// addArchive puts the plugin for Helm 4 where make plugin does.
func (c clone) addArchive(t *testing.T) {
	t.Helper()
	archive, err := pluginArchive()
	if err != nil {
		t.Fatalf("packing the plugin: %v\n%s", err, archive)
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "dist", "gatewright-0.1.0.tgz"), archive, 0o644); err != nil {
		t.Fatal(err)
	}
}

// pluginArchive packs the plugin for this machine, once.
var pluginArchive = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gatewright-docs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	pack := exec.Command("go", "run", "./cmd/gatewright/plugin", "-version", "0.1.0", "-ldflags", "-s -w -X main.version=0.1.0",
		"-out", dir, runtime.GOOS+"/"+runtime.GOARCH)
	pack.Dir = repository
	if output, err := pack.CombinedOutput(); err != nil {
		return output, err
	}
	return os.ReadFile(filepath.Join(dir, "gatewright-0.1.0.tgz"))
})
