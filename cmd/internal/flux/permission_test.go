//go:build unix

package flux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoPermission renders as somebody who may read the files and not write them.
func TestNoPermission(t *testing.T) {
	isolate(t)
	charts, err := filepath.Abs(filepath.Join(root, "testdata/charts"))
	if err != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{"web.yaml": webOfGit})
	if err := errors.Join(os.Chmod(filepath.Join(dir, "web.yaml"), 0o444), os.CopyFS(filepath.Join(dir, "charts"), os.DirFS(charts))); err != nil {
		t.Fatal(err)
	}
	output, exit := asNobody(t, dir, "flux", "render", "web.yaml", "--source", "GitRepository/web/src=charts")
	if want := "gatewright: open web.yaml: permission denied; make the file writable; nothing is written\n"; exit != 1 || !strings.HasSuffix(output, want) {
		t.Errorf("exit code %d, want 1 and %q in\n%s", exit, want, output)
	}
	if err := os.Chmod(filepath.Join(dir, "web.yaml"), 0o000); err != nil {
		t.Fatal(err)
	}
	output, exit = asNobody(t, dir, "flux", "render", "web.yaml", "--source", "GitRepository/web/src=charts")
	if exit != 1 || !strings.Contains(output, "open web.yaml: permission denied") {
		t.Errorf("exit code %d\n%s", exit, output)
	}
}

// asNobody runs this program as a user without rights, or as the one who runs the
// tests, if that is not root.
func asNobody(t *testing.T, dir string, arguments ...string) (output string, exit int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "gatewright")
	if err := errors.Join(os.WriteFile(program, read(t, self), 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, arguments...)
	command.Dir, command.Env = dir, append(os.Environ(), asPostRenderer+"=1")
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HOME"} {
		command.Env = append(command.Env, name+"="+filepath.Join(dir, "home"))
	}
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := command.CombinedOutput()
	if exited, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		t.Fatal(err)
	} else if is {
		exit = exited.ExitCode()
	}
	return string(out), exit
}
