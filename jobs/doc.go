// Package jobs is the cluster: it reads a Snapshot, applies a Plan, sweeps and
// reports. What is decided is decided by package engine.
//
// Reading goes by one rule: what could not be read whole is unknown, never
// absent. [Cluster.Read] says for each kind whether it was.
package jobs
