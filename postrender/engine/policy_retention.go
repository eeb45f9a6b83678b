package engine

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The modes of [Retention].
const (
	RetainKeep   = "Keep"
	RetainDelete = "Delete" // after the grace period of the sweep
	RetainAfter  = "After"  // after a time of its own
)

// Retention says what becomes of the Secret of a removed Certificate: Keep,
// Delete, or {after: DURATION}.
type Retention struct {
	Mode  string
	After metav1.Duration
}

// UnmarshalJSON reads "Keep", "Delete" or {"after": "336h"}.
func (r *Retention) UnmarshalJSON(data []byte) error {
	var mode string
	if json.Unmarshal(data, &mode) == nil && (mode == RetainKeep || mode == RetainDelete) {
		*r = Retention{Mode: mode}
		return nil
	}
	var after struct{ After *metav1.Duration }
	if err := json.Unmarshal(data, &after); err != nil || after.After == nil {
		return fmt.Errorf("secretRetention is %s; use Keep, Delete or {after: 336h}", data)
	}
	*r = Retention{Mode: RetainAfter, After: *after.After}
	return nil
}

func (r Retention) validate() error {
	if r.Mode == RetainAfter && r.After.Duration <= 0 {
		return fmt.Errorf("secretRetention.after is %v; it is more than 0, and Delete stands for the grace period", r.After.Duration)
	}
	return nil
}

// retention reads the key alone; without it, or where it cannot be read, Secrets
// are kept.
func (k Keys) retention() Retention {
	policy := DefaultPolicy()
	if value := k[secretRetention]; value != nil {
		if _, err := (Keys{secretRetention: value}).decodeInto(&policy); err != nil {
			return DefaultPolicy().SecretRetention
		}
	}
	return policy.SecretRetention
}

const secretRetention = "secretRetention"

// SecretRetention returns what becomes of Secrets in a namespace that carry a
// value of the label gatewright.dev/for, which outlive their Gateway: what the
// flags and the file say of the Gateway of that label in the namespace. A Secret
// beside a ListenerSet in another namespace than its Gateway is kept, unless an
// entry matches the namespace of the Secret too.
func (p *PolicySources) SecretRetention(namespace, label string) Retention {
	if p.Flags[secretRetention] != nil && p.flagsReachLabel(namespace, label) {
		return p.Flags.retention()
	}
	if p.File == nil {
		return DefaultPolicy().SecretRetention
	}
	for _, entry := range p.File.Gateways {
		name := ObjectName{namespace, label}
		if ForLabel(entry.Name) == label {
			name.Name = entry.Name // the label may be shorter
		}
		if entry.matches(name) == yes {
			return entry.Keys.retention()
		}
	}
	return DefaultPolicy().SecretRetention
}

func (p *PolicySources) flagsReachLabel(namespace, label string) bool {
	for _, name := range p.FlagsFor {
		if name.Namespace == namespace && ForLabel(name.Name) == label {
			return true
		}
	}
	return p.FlagsFor == nil
}

// RemovesSecrets says whether any source asks for the removal of Secrets.
func (p *PolicySources) RemovesSecrets() bool {
	if p.Flags.retention().Mode != RetainKeep {
		return true
	}
	if p.File == nil {
		return false
	}
	for _, entry := range p.File.Gateways {
		if entry.Keys.retention().Mode != RetainKeep {
			return true
		}
	}
	return false
}
