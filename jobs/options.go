package jobs

import (
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Options say what a sweep does. The zero value writes, with no grace period.
type Options struct {
	Policies engine.PolicySources
	// Gateways limits what is written to these, with their ListenerSets; nil is
	// all. What is read, and planned, is always the whole.
	Gateways []engine.ObjectName
	// Namespaces limits what is read, see [ReadOptions].
	Namespaces []string
	// Services reads the names of Services, for policies with withdraw: Served.
	Services bool
	// Grace is how long a listener or Certificate has to be stale, Settle how long
	// nothing is removed from a Gateway that Helm or Flux wrote.
	Grace, Settle time.Duration
	// MaxRemovals allows that many removals of one parent in one run; 0 leaves it
	// to the circuit breaker.
	MaxRemovals int
	// Events writes Events, and Infrastructure reports what outlives its Gateway.
	Events, Infrastructure bool
	Yields                 []Yield
	// Leave names Gateways of which all that is the sweep's is taken out. Then
	// nothing else is done.
	Leave  []engine.ObjectName
	DryRun report.DryRun
	// Progress is told what the sweep is at. It may be nil.
	Progress func(what string)
	// Now is the clock here. What is marked, and how long it has been so, goes by the
	// API server's.
	Now func() time.Time
}

// Yield gives one of our listeners up for a time, or ends that where For is 0.
type Yield struct {
	Gateway  engine.ObjectName
	Hostname string
	For      time.Duration
}
