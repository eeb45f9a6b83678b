// Package crdtest is the API server of the tests: it says of an object what
// kube-apiserver would say, with the real CustomResourceDefinitions of the
// Gateway API (both channels) and of cert-manager, read from the folders of
// their Go modules, and with kube-apiserver's own code for pruning, defaulting,
// validation, CEL rules and server-side apply. Nothing is started and nothing
// listens.
//
// Check and Validate look at one object; Object takes a row of server-side
// applies by several field managers. Only tests import this package.
package crdtest
