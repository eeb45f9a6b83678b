//go:build unix

package cli

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// handOver replaces this process by the other program, which then has the same
// terminal, signals and parent. Only where the streams are not those of the
// process does it run as a child.
func (a *app) handOver(ctx context.Context, path string) error {
	if a.stdin != os.Stdin || a.stdout != os.Stdout || a.stderr != os.Stderr {
		return a.forward(ctx, path)
	}
	args := append([]string{path}, a.args...)
	err := syscall.Exec(path, args, append(os.Environ(), handedOver+"=1"))
	return fmt.Errorf("%s: %w", path, err)
}
