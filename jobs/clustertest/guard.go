package clustertest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// guardScript waits for the end of its input, which comes when the test process
// closes it or is gone in whatever way. Then it ends the programs whose ids are
// in the file pids and those of its own process group, and removes the folder
// that they wrote to.
const guardScript = `
trap '' INT TERM HUP
cat >/dev/null
kill -TERM 0
pids=$(cat "$1/pids" 2>/dev/null)
for pid in $pids; do kill -KILL $pid 2>/dev/null; done
for try in $(seq 50); do
  alive=
  for pid in $pids; do kill -0 $pid 2>/dev/null && alive=1; done
  test -z "$alive" && break
  sleep 0.1
done
rm -rf "$1"
`

// guard owns the folder and the programs of this test process.
type guard struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// newGuard makes the folder and starts the guard process.
func newGuard() (*guard, error) {
	dir, err := os.MkdirTemp("", "clustertest-")
	if err != nil {
		return nil, err
	}
	g := &guard{dir: dir, cmd: exec.Command("/bin/sh", "-c", guardScript, "guard", dir)}
	// A group that an interrupt at the terminal does not reach, and that commands
	// can join.
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if g.stdin, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		return nil, err
	}
	return g, g.cmd.Start()
}

// stop ends the programs and waits until they are gone.
func (g *guard) stop() error {
	return errors.Join(g.stdin.Close(), g.cmd.Wait())
}

// guarded returns a command that records the id of its process before it
// becomes the program.
func (g *guard) guarded(name string) (string, error) {
	real, err := program(name)
	if err != nil {
		return "", err
	}
	// envtest asks for --help first; that process ends by itself.
	script := fmt.Sprintf("#!/bin/sh\ntest \"$1\" = --help || echo $$ >>'%s/pids'\nexec '%s' \"$@\"\n", g.dir, real)
	file := filepath.Join(g.dir, "bin", name)
	// While a child of another goroutine holds the file open for writing, it
	// cannot be run ("text file busy").
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return file, os.WriteFile(file, []byte(script), 0o755)
}

// process is a program in the background.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
}

// start runs a program in the background until the guard ends it. Its output
// goes to a log.
func (g *guard) start(name, log string, args ...string) (*process, error) {
	path, err := g.guarded(name)
	if err != nil {
		return nil, err
	}
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // what it had to say is in the log
	}()
	return p, nil
}

// stop ends the program and waits until it is gone.
func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	<-p.ended
	return err
}

// adopt lets a command, not started yet, end at the latest with the guard.
func (g *guard) adopt(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.cmd.Process.Pid}
}

// current is the guard of this process while Run runs.
var current struct {
	sync.Mutex
	*guard
}

// Run runs the tests of a package, then stops what they started. The result is
// the exit code: func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
func Run(m interface{ Run() int }) int {
	g, err := newGuard()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return 1
	}
	current.Lock()
	current.guard = g
	current.Unlock()
	code := m.Run()
	if err := g.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return 1
	}
	return code
}

// running returns the guard, if TestMain called Run.
func running() (*guard, error) {
	current.Lock()
	defer current.Unlock()
	if current.guard == nil {
		return nil, errors.New("clustertest.Start needs func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }")
	}
	return current.guard, nil
}
