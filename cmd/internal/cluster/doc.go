// Package cluster gives the command line its clusters: it finds the kubeconfig
// and runs package jobs. Only gatewright-full links it.
package cluster
