package jobs

import (
	"context"
	"time"
)

// Restless makes a cluster ask again at once where it would wait.
func Restless(c *Cluster) {
	c.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
}

// ShortLease makes a Lease last for six seconds, so that it can be lost soon.
func ShortLease(c *Cluster) {
	c.lease = leaseTimes{duration: 6 * time.Second, renewal: 500 * time.Millisecond, retry: 200 * time.Millisecond}
}
