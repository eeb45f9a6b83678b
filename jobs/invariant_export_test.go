package jobs

import (
	"context"
	"time"
)

// Restless makes a cluster ask again at once where it would wait.
func Restless(c *Cluster) {
	c.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}
