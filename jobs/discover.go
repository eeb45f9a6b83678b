package jobs

import "context"

// Terminating returns the CustomResourceDefinitions of the kinds that the engine
// needs which are being deleted, and their objects with them.
func (c *Cluster) Terminating(ctx context.Context) ([]string, error) {
	return nil, nil
}
