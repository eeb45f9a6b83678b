package clustertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Kubectl runs kubectl as the administrator and returns its output.
func (e *Env) Kubectl(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	return must(t)(e.TryKubectl(stdin, args...))
}

// KubectlPath is where kubectl is.
func (e *Env) KubectlPath(t testing.TB) string {
	t.Helper()
	return must(t)(program("kubectl"))
}

// TryKubectl is Kubectl for a command that may fail. The error holds what
// kubectl said.
func (e *Env) TryKubectl(stdin string, args ...string) (string, error) {
	path, err := program("kubectl")
	if err != nil {
		return "", err
	}
	return run(e.command(path, args...), stdin)
}

// Helm3 runs the real Helm 3 as the administrator and returns its output. Its
// plugins and repositories are those of this test process.
func (e *Env) Helm3(t testing.TB, args ...string) string {
	t.Helper()
	return must(t)(e.TryHelm3(args...))
}

// TryHelm3 is Helm3 for a command that may fail. The error holds what Helm
// said.
func (e *Env) TryHelm3(args ...string) (string, error) { return e.TryHelmWith(3, nil, args...) }

// Helm4 is Helm3 for Helm 4.
func (e *Env) Helm4(t testing.TB, args ...string) string {
	t.Helper()
	return must(t)(e.TryHelm4(args...))
}

// TryHelm4 is TryHelm3 for Helm 4.
func (e *Env) TryHelm4(args ...string) (string, error) { return e.TryHelmWith(4, nil, args...) }

// TryHelmWith runs Helm 3 or 4 with environment variables besides.
func (e *Env) TryHelmWith(major int, environment []string, args ...string) (string, error) {
	name := fmt.Sprintf("helm%d", major)
	path, err := tool(name)
	if err != nil {
		return "", err
	}
	cmd := e.command(path, args...)
	for _, kind := range []string{"CACHE", "CONFIG", "DATA"} {
		cmd.Env = append(cmd.Env, "HELM_"+kind+"_HOME="+filepath.Join(e.guard.dir, name, strings.ToLower(kind)))
	}
	cmd.Env = append(cmd.Env, environment...)
	return run(cmd, "")
}

// command is a program that finds the cluster by KUBECONFIG and sees nothing of
// the settings for Helm and kubectl that the test process runs with.
func (e *Env) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	e.guard.adopt(cmd)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "HELM_") && !strings.HasPrefix(v, "KUBE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "KUBECONFIG="+e.Kubeconfig, "KUBECACHEDIR="+filepath.Join(e.guard.dir, "kubectl"))
	return cmd
}

// commandTimeout is what a command may take. Helm alone would wait five minutes
// for a hook that nothing runs.
const commandTimeout = 2 * time.Minute

// run runs a command and returns its output. The error holds what the command
// wrote to stderr.
func run(cmd *exec.Cmd, stdin string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Start()
	if err == nil {
		timer := time.AfterFunc(commandTimeout, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		timer.Stop()
	}
	if err != nil {
		return stdout.String(), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// must returns a function that fails the test on an error.
func must(t testing.TB) func(string, error) string {
	return func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}
