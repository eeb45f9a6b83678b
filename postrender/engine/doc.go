// Package engine decides which Gateway listeners, Certificates, grants and
// redirects a set of routes and Certificates asks for.
//
// It is pure: a [Snapshot] and [PolicySources] go in, a [Plan] comes out. It
// reads no file, clock, environment or cluster and logs nothing, so that the
// post-renderer, the sweep and flux share one set of rules.
//
// The flow of [Compute], one file a step:
//
//	snapshot.go    the objects, as [Decode] reads them from maps
//	policy.go      the effective policy of each Gateway
//	claims.go      route x parentRef x hostname, Certificate x dnsName
//	served.go      what a hand-written listener already serves
//	admission.go   which listener takes which route
//	listeners.go   one listener per (port, hostname) that is left
//	plan.go        the result, sorted
package engine
