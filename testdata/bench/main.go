// Command bench measures whole processes, as Helm starts them: gatewright
// post-render beside kustomize used as a post-renderer and beside cat, on the
// same streams, through pipes. It prints wall time, processor time and peak
// memory and judges nothing: it marks a peak that is over what is allowed, and
// fails only if one of the programs does.
//
// The streams are two of real charts, or look-alikes where the folder with them
// (-corpus) is missing, and one that is generated: many small applications with
// a route each and enough Gateways for them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"
)

// config is what the flags say.
type config struct {
	gatewright string
	kustomize  string
	corpus     string
	documents  int
	runs       int
	budget     time.Duration
	limit      time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures, or is the post-renderer around kustomize that a measurement
// starts.
func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 2 && args[0] == wrapperCommand {
		return postRender(ctx, args[1], stdin, stdout)
	}
	var c config
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.StringVar(&c.gatewright, "gatewright", "bin/gatewright", "the program to measure")
	flags.StringVar(&c.kustomize, "kustomize", ".cache/bin/kustomize", "the program to compare with; empty leaves it out")
	flags.StringVar(&c.corpus, "corpus", "../shared/corpus", "folder with real charts as Helm 3 renders them, traefik.helm3.yaml and argo-cd.helm3.yaml, if you have them; else look-alikes are made")
	flags.IntVar(&c.documents, "documents", 10_000, "documents in the generated stream")
	flags.IntVar(&c.runs, "runs", 21, "most runs of one command, of which the median counts")
	flags.DurationVar(&c.budget, "budget", 10*time.Second, "start no further run of a command after this time")
	flags.DurationVar(&c.limit, "limit", 3*time.Minute, "stop a single run after this time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, program := range []string{c.gatewright, c.kustomize} {
		if _, err := os.Stat(program); program != "" && err != nil {
			return fmt.Errorf("%w: run make build tools first", err)
		}
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return (&bench{config: c, dir: dir, out: stdout}).all(ctx)
}

// all measures and prints section after section.
func (b *bench) all(ctx context.Context) error {
	debug.SetGCPercent(10) // this program's own size blurs the peaks
	idle, err := b.measure(ctx, command{name: "true", program: "true"})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s on %s/%s with %d processors; each time is the median of up to %d runs\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.runs)
	fmt.Fprintf(b.out, "a process that does nothing takes %s and %s: no less can be seen\n", duration(idle.wall), size(idle.peak))
	for _, section := range []func(context.Context) error{b.startUp, b.streams, b.growth} {
		if err := section(ctx); err != nil {
			return err
		}
	}
	return nil
}
