// Command gatewright-full is gatewright with the Helm SDK and a Kubernetes client
// linked in, so that it renders charts (--chart) and reads clusters (snapshot)
// too. gatewright hands those commands over to it; commands, flags and messages of
// the two are the same.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/gatewright/gatewright/cmd/internal/chart"
	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/cmd/internal/cluster"
	"github.com/gatewright/gatewright/cmd/internal/flux"
)

// version is set by the linker in releases.
var version string

func main() {
	// Of the memory that a container may have, the heap takes nine tenths at most:
	// near the limit it is collected more often instead of killed. Without a limit,
	// or where it cannot be read, all stays as it was.
	_, _ = memlimit.Set()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what does not heed the first
	program := cli.Program{
		RenderChart: chart.Render, Snapshot: cluster.Snapshot, Preflight: cluster.Preflight, Sweep: cluster.Sweep,
		Flux: flux.Render, Version: version,
	}
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, program)
	stop()
	os.Exit(code)
}
