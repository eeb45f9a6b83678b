package jobs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// userAgent is what audit logs show, unless the caller's config says otherwise.
const userAgent = "gatewright"

// requestTimeout is how long one answer may take, body included.
const requestTimeout = 30 * time.Second

// Cluster is one API server, as a [rest.Config] reaches it.
type Cluster struct {
	objects  dynamic.Interface
	metadata metadata.Interface
	clock    *serverClock
	lease    leaseTimes

	// Reads go by plain HTTP: every answer is looked at before it counts, and
	// every repetition is ours.
	http    *http.Client
	base    *url.URL
	timeout time.Duration
	sleep   func(context.Context, time.Duration) error
}

// Connect prepares the clients of an API server. It sends no request.
func Connect(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = userAgent
	}
	if config.QPS == 0 {
		config.QPS = -1 // the server knows its limits and says so by 429
	}
	config.WarningHandler = rest.NoWarnings{}
	c := &Cluster{timeout: requestTimeout, sleep: sleep, clock: new(serverClock), lease: usualLease}
	config.Wrap(c.clock.wrap)
	if err := c.connect(config); err != nil {
		return nil, fmt.Errorf("API server %s: %w; correct the kubeconfig", config.Host, err)
	}
	return c, nil
}

func (c *Cluster) connect(config *rest.Config) error {
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	if c.base, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return err
	}
	if c.objects, err = dynamic.NewForConfigAndClient(config, shared); err != nil {
		return err
	}
	if c.metadata, err = metadata.NewForConfigAndClient(config, shared); err != nil {
		return err
	}
	own := *shared
	// An API server redirects nobody; what does is something before it.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &own
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
