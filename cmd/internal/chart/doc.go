// Package chart renders a Helm chart in-process: the same bytes that Helm 3
// hands to a post-renderer, without a cluster and without a helm binary.
//
// The flow of [Render]: find the chart, load it, read the values, run Helm's
// own install as a dry run, take the stream where a post-renderer would.
//
// It links the Helm SDK, which costs start-up time and size, so only
// gatewright-full imports it.
package chart
