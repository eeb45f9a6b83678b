package engine

import (
	"encoding/json"
	"errors"
)

// The annotations and labels of gatewright. AnnotationPolicy is input and
// written by people and charts only; AnnotationRendered is written by
// post-render and flux render only.
const (
	AnnotationPolicy   = "gatewright.dev/policy"
	AnnotationRendered = "gatewright.dev/rendered"
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
	// Flags are the keys set by command flags, for every Gateway.
	Flags Keys
	// File is the Policy file, or nil.
	File *PolicyFile
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
