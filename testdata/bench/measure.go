package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// command is a process that reads a file through a pipe and whose output goes
// through a pipe, as between Helm and a post-renderer.
type command struct {
	name    string
	program string
	args    []string
	stdin   string // a file; none is an empty stream
}

// String names the command and its stream.
func (c command) String() string {
	if c.stdin == "" {
		return c.name
	}
	return c.name + " on " + filepath.Base(c.stdin)
}

// result sums up the runs of a command.
type result struct {
	runs         int
	wall, cpu    time.Duration // medians
	peak         int64         // the highest, in bytes
	certificates int           // in the output
	stopped      bool          // the only run took longer than the limit
}

// sample is one run.
type sample struct {
	wall, cpu time.Duration
	peak      int64
	output    lines
}

// measure runs a command until there are enough runs or the time is used up.
// The first run warms the caches and counts only if there is no time for more.
func (b *bench) measure(ctx context.Context, c command) (result, error) {
	fmt.Fprintln(os.Stderr, "measuring", c)
	first, stopped, err := b.once(ctx, c)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", c, err)
	}
	samples := []sample{first}
	for spent := first.wall; !stopped && spent < b.budget && len(samples) <= b.runs; {
		next, late, err := b.once(ctx, c)
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", c, err)
		}
		if late {
			return result{}, fmt.Errorf("%s: took %s at first and now more than %s", c, first.wall, b.limit)
		}
		spent += next.wall
		samples = append(samples, next)
	}
	if len(samples) > 1 {
		samples = samples[1:]
	}
	r := result{runs: len(samples), certificates: first.output.certificates, stopped: stopped}
	r.wall = median(samples, func(s sample) time.Duration { return s.wall })
	r.cpu = median(samples, func(s sample) time.Duration { return s.cpu })
	for _, s := range samples {
		r.peak = max(r.peak, s.peak)
	}
	return r, nil
}

func median(samples []sample, of func(sample) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// once runs a command and says whether it had to be stopped.
func (b *bench) once(parent context.Context, c command) (s sample, stopped bool, err error) {
	ctx, cancel := context.WithTimeout(parent, b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, c.args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+b.dir)
	// An interrupt lets a wrapper end the kustomize that it started.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &s.output, &stderr
	if c.stdin != "" {
		file, err := os.Open(c.stdin)
		if err != nil {
			return s, false, err
		}
		defer file.Close()
		cmd.Stdin = struct{ io.Reader }{file} // a plain file would be no pipe
	}
	begin := time.Now()
	err = cmd.Run()
	s.wall = time.Since(begin)
	if parent.Err() != nil {
		return s, false, parent.Err()
	}
	if stopped = ctx.Err() != nil; err != nil && !stopped {
		return s, false, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.peak = peak(cmd.ProcessState)
	return s, stopped, nil
}

// peak is the most memory that the process, or one that it waited for, had in
// use. Linux counts for a process also what its parent had in use at most before
// it started it, which is why this program handles streams in pieces.
func peak(state *os.ProcessState) int64 {
	rss := state.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "darwin" {
		return rss
	}
	return rss * 1024
}

// lines counts the Certificates in what is written to it.
type lines struct {
	certificates int
	rest         []byte // the last line, which may go on
}

func (l *lines) Write(p []byte) (int, error) {
	begin := bytes.LastIndexByte(p, '\n') + 1
	l.rest = append(l.rest, p[:begin]...)
	if begin > 0 {
		l.certificates += bytes.Count(l.rest, []byte("kind: Certificate\n"))
		l.rest = l.rest[:0]
	}
	l.rest = append(l.rest, p[begin:]...)
	return len(p), nil
}
