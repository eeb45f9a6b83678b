package clustertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv tells the test program to be the test process that is killed.
const childEnv = "CLUSTERTEST_CHILD"

func init() {
	if os.Getenv(childEnv) == "" {
		return
	}
	g, err := newGuard()
	if err != nil {
		panic(err)
	}
	p, err := g.start("etcd", filepath.Join(g.dir, "etcd.log"), "--data-dir="+filepath.Join(g.dir, "etcd"),
		"--listen-client-urls=unix://"+g.dir+"/client", "--advertise-client-urls=unix://"+g.dir+"/client",
		"--listen-peer-urls=unix://"+g.dir+"/peer", "--initial-advertise-peer-urls=unix://"+g.dir+"/peer",
		"--initial-cluster=default=unix://"+g.dir+"/peer")
	if err != nil {
		panic(err)
	}
	sleep := exec.Command("/bin/sleep", "600") // as a command that a test waits for
	g.adopt(sleep)
	if err := sleep.Start(); err != nil {
		panic(err)
	}
	fmt.Println(g.dir, p.cmd.Process.Pid, sleep.Process.Pid)
	select {}
}

// A test process that is killed leaves no program and no file behind.
func TestGuardAfterAKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childEnv+"=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var dir string
	var program, command int
	if _, err := fmt.Sscan(line, &dir, &program, &command); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	Eventually(t, func() error { _, err := os.Stat(filepath.Join(dir, "etcd")); return err })
	if !alive(program) || !alive(command) {
		t.Fatal("the programs do not run")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	Eventually(t, func() error {
		if _, err := os.Stat(dir); err == nil || alive(program) || alive(command) {
			return fmt.Errorf("%s, %d or %d is still there", dir, program, command)
		}
		return nil
	})
}

// alive says whether a process runs. One that has ended and that nobody has
// waited for yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// Programs that were not built fail a test, with what to do.
func TestProgramsAreMissing(t *testing.T) {
	for name, find := range map[string]func(string) (string, error){"run make cluster": program, "run make tools": tool} {
		if path, err := find("no-such-program"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %q, %v, want: %s", path, err, name)
		}
	}
}

// A program given by KUBEBUILDER_ASSETS is used, and the others are our own.
func TestGivenPrograms(t *testing.T) {
	dir := t.TempDir()
	given := filepath.Join(dir, "kubectl")
	if err := os.WriteFile(given, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	if path, err := program("kubectl"); err != nil || path != given {
		t.Errorf("got %q, %v, want %q", path, err, given)
	}
	if path, err := program("certmanager"); err != nil || strings.HasPrefix(path, dir) {
		t.Errorf("got %q, %v, want our own", path, err)
	}
}

// A program that ends at once says why.
func TestControllerThatEnds(t *testing.T) {
	e := Start(t)
	begin := time.Now()
	_, err := e.startController("etcd", func([]byte) bool { return false }, "--no-such-flag")
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") || time.Since(begin) > time.Minute {
		t.Errorf("got %v after %s, want what it said", err, time.Since(begin))
	}
}
