//go:build !unix

package cli

import "context"

// handOver runs the other program as a child: a process cannot be replaced here.
func (a *app) handOver(ctx context.Context, path string) error {
	return a.forward(ctx, path)
}
