package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"slices"
)

// The annotations and labels of gatewright. AnnotationPolicy is input and
// written by people and charts only; AnnotationRendered is written by
// post-render and flux render only, AnnotationState by the sweep only.
const (
	AnnotationPolicy   = "gatewright.dev/policy"
	AnnotationRendered = "gatewright.dev/rendered"
	AnnotationState    = "gatewright.dev/state"
	AnnotationManage   = "gatewright.dev/manage"
	AnnotationGateway  = "gatewright.dev/gateway"
	AnnotationPort     = "gatewright.dev/listener-port"
	LabelFor           = "gatewright.dev/for"
)

// Keys is one source of policy: its keys as they were written, so that sources
// merge key by key.
type Keys map[string]any

// PolicySources are the sources of policy that do not stand on the Gateway
// itself. The zero value has none.
type PolicySources struct {
	// Flags are the keys set by command flags: for the Gateways (and the
	// ListenerSets of these) that FlagsFor names, or for all where it is nil.
	Flags    Keys
	FlagsFor []ObjectName
	// File is the Policy file, or nil.
	File *PolicyFile
	// AllowedIssuers, unless nil, are the issuers that Certificates may name, as
	// patterns "Kind/name" of path.Match. An owner of a Gateway could otherwise
	// use any issuer that the sweep may.
	AllowedIssuers []string
}

func (p *PolicySources) flagsReach(name ObjectName) bool {
	return len(p.Flags) > 0 && (p.FlagsFor == nil || slices.Contains(p.FlagsFor, name))
}

// allows says whether Certificates may name an issuer.
func (p *PolicySources) allows(issuer IssuerRef) bool {
	return p.AllowedIssuers == nil || slices.ContainsFunc(p.AllowedIssuers, func(pattern string) bool {
		matched, err := path.Match(pattern, cmp.Or(issuer.Kind, "Issuer")+"/"+issuer.Name)
		return err == nil && matched
	})
}

// Check reports the first key that is not known or has a value that does not
// fit.
func (k Keys) Check() error {
	unknown, err := k.check()
	return firstProblem(unknown, err)
}

func firstProblem(unknown []string, err error, more ...string) error {
	if len(unknown) > 0 {
		return errors.New(unknownKey(unknown[0], more...))
	}
	return err
}

// check returns the paths of unknown keys, sorted, and an error for a value
// that does not fit.
func (k Keys) check() (unknown []string, err error) {
	policy := DefaultPolicy()
	unknown, err = k.decodeInto(&policy)
	if err != nil {
		return unknown, err
	}
	return unknown, policy.validate()
}

// normal returns the keys as JSON has them, so that a flag's int and a file's
// float64 compare equal.
func (k Keys) normal() (Keys, error) {
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	var out Keys
	return out, json.Unmarshal(data, &out)
}
