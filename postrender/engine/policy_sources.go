package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
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

// PolicyAPIVersion and PolicyKind head a Policy file.
const (
	PolicyAPIVersion = "gatewright.dev/v1alpha1"
	PolicyKind       = "Policy"
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

// PolicyFile is a parsed Policy file.
type PolicyFile struct {
	Name     string // for messages
	Gateways []PolicyEntry
}

// PolicyEntry gives keys to the Gateways that it matches.
type PolicyEntry struct {
	Namespace, Name string // "" and "*" match all
	Keys            Keys
}

// ParsePolicyFile reads a Policy file. A key that it does not know is an error
// that names it, and so is a value that does not fit.
func ParsePolicyFile(name string, data []byte) (*PolicyFile, error) {
	var raw struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Gateways   []map[string]any `json:"gateways"`
	}
	if err := yaml.UnmarshalStrict(data, &raw); err != nil {
		return nil, fileError(name, trimDecoder(err))
	}
	if raw.APIVersion != PolicyAPIVersion || raw.Kind != PolicyKind {
		return nil, fileError(name, fmt.Sprintf("is %s %s; a policy file begins with apiVersion: %s, kind: %s",
			orNone(raw.APIVersion), orNone(raw.Kind), PolicyAPIVersion, PolicyKind))
	}
	file := &PolicyFile{Name: name}
	for i, entry := range raw.Gateways {
		parsed, err := parseEntry(entry)
		if err != nil {
			return nil, fileError(name, fmt.Sprintf("gateways[%d]: %v", i, err))
		}
		file.Gateways = append(file.Gateways, parsed)
	}
	return file, nil
}

func fileError(name, message string) error {
	return &Error{Object: "policy file " + name, Message: message}
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func parseEntry(raw map[string]any) (PolicyEntry, error) {
	var match struct{ Namespace, Name string }
	if m, ok := raw["match"]; ok {
		fields, ok := m.(map[string]any)
		if !ok {
			return PolicyEntry{}, fmt.Errorf("match is %v; it takes namespace and name", m)
		}
		for key, value := range fields {
			text, ok := value.(string)
			switch {
			case ok && key == "namespace":
				match.Namespace = text
			case ok && key == "name":
				match.Name = text
			default:
				return PolicyEntry{}, fmt.Errorf("match.%s: %v; match takes the strings namespace and name", key, value)
			}
		}
	}
	keys := Keys(maps.Clone(raw))
	delete(keys, "match")
	if unknown, err := keys.check(); err != nil || len(unknown) > 0 {
		return PolicyEntry{}, firstProblem(unknown, err)
	}
	return PolicyEntry{Namespace: match.Namespace, Name: match.Name, Keys: keys}, nil
}

// Check reports the first key that is not known or has a value that does not
// fit.
func (k Keys) Check() error {
	unknown, err := k.check()
	return firstProblem(unknown, err)
}

func firstProblem(unknown []string, err error) error {
	if len(unknown) > 0 {
		return fmt.Errorf("unknown key %s; the keys are %s", unknown[0], strings.Join(policyKeys(), ", "))
	}
	return err
}

// policyKeys returns the keys of a policy, sorted.
func policyKeys() []string {
	var keys []string
	for field := range reflect.TypeFor[Policy]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
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

// matches says whether the entry is for the Gateway. The answer is unknown for
// an entry with a namespace while that of the release is not known.
func (e PolicyEntry) matches(g ObjectName) tri {
	if e.Name != "" && e.Name != "*" && e.Name != g.Name {
		return no
	}
	if e.Namespace == "" || e.Namespace == "*" {
		return yes
	}
	return sameNamespace(e.Namespace, g.Namespace)
}
