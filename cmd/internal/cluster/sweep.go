package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux/notify"
	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
)

// sparing is how much the heap may grow, in percent of what lives, before it is
// collected. Nobody waits for a sweep, but its Pod has to have the memory.
const sparing = 50

// Sweep runs one sweep, alone if the request names a Lease.
func Sweep(ctx context.Context, request cli.SweepRequest) (*report.Report, error) {
	debug.SetGCPercent(sparing)
	cluster, err := Connect(request.Connection)
	if err != nil {
		return nil, err
	}
	if request.Lease.Name != "" && request.DryRun == report.Write {
		held, unlock, err := cluster.Lock(ctx, request.Lease, identity(), request.LockTimeout)
		var another *jobs.LockHeldError
		if errors.As(err, &another) {
			return skipped(request, another), nil
		}
		if err != nil {
			return nil, err
		}
		defer unlock()
		ctx = held
	}
	done, err := cluster.Sweep(ctx, optionsOf(request))
	if request.FluxEvents != "" {
		if failed := notify.Send(request.FluxEvents, notify.Events(done)); failed != nil {
			done.Notes = append(done.Notes, failed.Error())
		}
	}
	return done, err
}

// skipped reports that another sweep holds the Lease. That is well, unless
// somebody counts on what this one was to give up.
func skipped(request cli.SweepRequest, another *jobs.LockHeldError) *report.Report {
	r := report.New(time.Now(), request.DryRun)
	r.Result, r.Message = report.Skipped, another.Error()
	if len(request.Yields)+len(request.Leave) > 0 {
		r.Result, r.Message = report.Partial, r.Message+", so nothing is yielded or left; run the same command again before what needs it, with a longer --lock-timeout"
		r.Problems = append(r.Problems, report.Problem{Object: fmt.Sprintf("Lease %s/%s", request.Lease.Namespace, request.Lease.Name), Message: r.Message})
	}
	return r
}

// identity is who holds the Lease: the Pod, or the process on some machine.
func identity() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return fmt.Sprintf("%s_%d", name, os.Getpid())
}

func optionsOf(request cli.SweepRequest) jobs.Options {
	o := jobs.Options{
		Policies: request.Policies, Gateways: request.Gateways, Namespaces: request.Namespaces, Services: request.Services,
		Grace: request.Grace, Settle: request.Settle, MaxRemovals: request.MaxRemovals, DryRun: request.DryRun,
		Events: request.Events, Infrastructure: request.Infrastructure, Leave: request.Leave,
		Progress: request.Progress, Now: time.Now,
	}
	for _, y := range request.Yields {
		o.Yields = append(o.Yields, jobs.Yield(y))
	}
	return o
}
