package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	repository    = "../../.."
	chartsFolder  = repository + "/testdata/charts"
	pluginVersion = "9.8.7"
)

// helm is a real Helm, with folders of its own. Both run the executable of the
// plugin's archive.
type helm struct {
	major int
	path  string
	home  string
}

// eachHelm runs a test with Helm 3 and with Helm 4.
func eachHelm(t *testing.T, test func(t *testing.T, helm helm)) {
	t.Helper()
	for _, major := range []int{3, 4} {
		t.Run(fmt.Sprintf("helm%d", major), func(t *testing.T) { test(t, newHelm(t, major)) })
	}
}

func newHelm(t *testing.T, major int) helm {
	t.Helper()
	path, err := filepath.Abs(fmt.Sprintf("%s/.cache/bin/helm%d", repository, major))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the real Helm %d is not built: run make tools", major)
	}
	return helm{major, path, filepath.Join(sharedFolder, fmt.Sprint(major))}
}

// sharedFolder holds what all tests use: Helm's folders and the installed plugin.
var sharedFolder string

func TestMain(m *testing.M) {
	var err error
	if sharedFolder, err = os.MkdirTemp("", "gatewright-helm-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(sharedFolder)
	os.Exit(code)
}

// installed packs the plugin for this machine, has Helm 4 install it, and gives
// the path of its executable.
var installed = sync.OnceValues(func() (string, error) {
	pack := exec.Command("go", "run", "./cmd/gatewright/plugin", "-version", pluginVersion, "-ldflags", "-s -w",
		"-out", sharedFolder, runtime.GOOS+"/"+runtime.GOARCH)
	pack.Dir = repository
	if out, err := pack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("packing the plugin: %w\n%s", err, out)
	}
	helm4, err := filepath.Abs(repository + "/.cache/bin/helm4")
	if err != nil {
		return "", err
	}
	four := helm{4, helm4, filepath.Join(sharedFolder, "4")}
	archive := filepath.Join(sharedFolder, "gatewright-"+pluginVersion+".tgz")
	if out, err := four.command("plugin", "install", archive, "--verify=false").CombinedOutput(); err != nil {
		return "", fmt.Errorf("helm plugin install: %w\n%s", err, out)
	}
	return filepath.Join(four.home, "data", "plugins", "gatewright", "bin", runtime.GOOS+"-"+runtime.GOARCH, "gatewright"), nil
})

func executable(t *testing.T) string {
	t.Helper()
	path, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command keeps the settings of whoever runs the test away from Helm.
func (h helm) command(args ...string) *exec.Cmd {
	command := exec.Command(h.path, args...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "HELM_") || strings.HasPrefix(variable, "GATEWRIGHT_")
	})
	command.Env = append(command.Env, "KUBECONFIG="+os.DevNull, "HELM_CONFIG_HOME="+h.home+"/config",
		"HELM_CACHE_HOME="+h.home+"/cache", "HELM_DATA_HOME="+h.home+"/data")
	return command
}

// outcome is what a program did.
type outcome struct {
	stdout, stderr string
	err            error
}

func (o outcome) String() string {
	return fmt.Sprintf("%v\nstderr:\n%s\nstdout:\n%s", o.err, o.stderr, o.stdout)
}

func capture(command *exec.Cmd) outcome {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	return outcome{stdout.String(), stderr.String(), err}
}

func (h helm) run(t *testing.T, args ...string) outcome {
	t.Helper()
	executable(t) // the plugin must be there before Helm looks for plugins
	return capture(h.command(args...))
}

// render runs helm template on a chart of testdata/charts.
func (h helm) render(t *testing.T, chart string, args ...string) outcome {
	t.Helper()
	return h.run(t, append([]string{"template", "demo", filepath.Join(chartsFolder, chart), "--namespace=infra"}, args...)...)
}

// template is render where it has to succeed.
func (h helm) template(t *testing.T, chart string, args ...string) string {
	t.Helper()
	got := h.render(t, chart, args...)
	if got.err != nil {
		t.Fatalf("helm template of chart %s with %q: %v", chart, args, got)
	}
	return got.stdout
}

// postRender are the arguments that make Helm run gatewright: Helm 3 by its path,
// Helm 4 by the name of the plugin. The arguments given come first.
func (h helm) postRender(args ...string) []string {
	all := []string{"--post-renderer", "gatewright"}
	if h.major == 3 {
		path, _ := installed()
		all[1] = path
	}
	for _, arg := range append(args, "--namespace=infra") {
		all = append(all, "--post-renderer-args", arg)
	}
	return all
}

// gatewright runs the executable on its own.
func gatewright(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	command := exec.Command(executable(t), args...)
	command.Stdin = strings.NewReader(stdin)
	got := capture(command)
	if got.err != nil {
		t.Fatalf("gatewright %q: %v", args, got)
	}
	return got.stdout
}
