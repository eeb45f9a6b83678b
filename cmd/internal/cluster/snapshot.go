package cluster

import (
	"context"
	"io"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs"
)

// Snapshot is [cli.Program.Snapshot].
func Snapshot(ctx context.Context, out io.Writer, request cli.SnapshotRequest) ([]string, error) {
	cluster, err := Connect(request.Connection)
	if err != nil {
		return nil, err
	}
	options := jobs.ReadOptions{
		Namespaces: request.Namespaces, Services: request.Services, Secrets: request.Secrets, Progress: request.Progress,
	}
	kinds, err := cluster.WriteSnapshot(ctx, out, options, request.Partial)
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, k := range kinds {
		if k.Err != nil {
			warnings = append(warnings, k.Err.Error())
		}
	}
	for _, gap := range jobs.Gaps(kinds) {
		warnings = append(warnings, gap.Object+": "+gap.Message)
	}
	return warnings, nil
}
