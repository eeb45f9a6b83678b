package engine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

// PolicyAPIVersion and PolicyKind head a Policy file.
const (
	PolicyAPIVersion = "gatewright.dev/v1alpha1"
	PolicyKind       = "Policy"
)

// policyHead is what a Policy file begins with, for messages.
const policyHead = "a policy file begins with apiVersion: " + PolicyAPIVersion + ", kind: " + PolicyKind + ", gateways: and a list of entries"

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
	var raw map[string]any
	if err := unmarshalOne(data, &raw); err != nil {
		return nil, fileError(name, trimDecoder(err)+"; "+policyHead)
	}
	entries, err := entriesOf(raw)
	if err != nil {
		return nil, fileError(name, err.Error())
	}
	file := &PolicyFile{Name: name}
	for i, entry := range entries {
		parsed, err := parseEntry(entry)
		if err != nil {
			return nil, fileError(name, fmt.Sprintf("gateways[%d]: %v", i, err))
		}
		file.Gateways = append(file.Gateways, parsed)
	}
	return file, nil
}

// nextDocument begins a document that is not the first.
var nextDocument = regexp.MustCompile(`(?m)^---(\s|$)`)

// unmarshalOne reads the one document that policy text may hold. A second one
// would be passed over by the decoder, and a key that stands twice would count
// once, both without a word.
func unmarshalOne(data []byte, into any) error {
	head := nextDocument.FindIndex(data)
	if head != nil && len(bytes.TrimSpace(data[:head[0]])) == 0 {
		data = data[head[1]:]
		head = nextDocument.FindIndex(data)
	}
	if head != nil && len(bytes.TrimSpace(data[head[1]:])) > 0 {
		return errors.New("it holds more than one YAML document")
	}
	return yaml.UnmarshalStrict(data, into)
}

func fileError(name, message string) error {
	return &Error{Object: "policy file " + name, Message: message}
}

// entriesOf checks the head of a Policy file and returns its entries.
func entriesOf(raw map[string]any) ([]any, error) {
	version, kind := raw["apiVersion"], raw["kind"]
	strays := slices.DeleteFunc(slices.Sorted(maps.Keys(raw)), func(key string) bool { return slices.Contains(headKeys, key) })
	ofEntry := slices.IndexFunc(strays, func(key string) bool { return slices.Contains(keysBeside("", []string{"match"}), key) })
	switch {
	case len(raw) == 0:
		return nil, errors.New("it is empty; " + policyHead)
	case ofEntry >= 0 && (version == nil || version == PolicyAPIVersion):
		return nil, fmt.Errorf("%s belongs into an entry of gateways; %s", strays[ofEntry], policyHead)
	case version == nil && kind == nil:
		return nil, errors.New("it has no apiVersion and no kind; " + policyHead)
	case version != PolicyAPIVersion || kind != PolicyKind:
		return nil, fmt.Errorf("it is %s %s; %s", orNoneOf(version), orNoneOf(kind), policyHead)
	case len(strays) > 0 && meant(strays[0], headKeys) != "":
		return nil, fmt.Errorf("unknown key %s; did you mean %s?", strays[0], meant(strays[0], headKeys))
	case len(strays) > 0:
		return nil, fmt.Errorf("unknown key %s; %s", strays[0], policyHead)
	}
	entries, isList := raw["gateways"].([]any)
	if !isList && raw["gateways"] != nil {
		return nil, fmt.Errorf("gateways is %s, not a list; write each entry behind a dash", describe(raw["gateways"]))
	}
	return entries, nil
}

var headKeys = []string{"apiVersion", "gateways", "kind"}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func orNoneOf(value any) string {
	if value == nil {
		return orNone("")
	}
	return fmt.Sprint(value)
}

func parseEntry(raw any) (PolicyEntry, error) {
	fields, isMap := raw.(map[string]any)
	if !isMap {
		return PolicyEntry{}, fmt.Errorf("it is %s, not a mapping; write the keys of the policy there, such as %s", describe(raw), exampleEntry)
	}
	entry := PolicyEntry{Keys: maps.Clone(fields)}
	delete(entry.Keys, "match")
	if err := entry.parseMatch(fields["match"]); err != nil {
		return PolicyEntry{}, err
	}
	unknown, err := entry.Keys.check()
	if err := firstProblem(unknown, err, "match"); err != nil {
		return PolicyEntry{}, err
	}
	return entry, nil
}

func (e *PolicyEntry) parseMatch(raw any) error {
	fields, isMap := raw.(map[string]any)
	if !isMap && raw != nil {
		return fmt.Errorf("match is %s, not a mapping; write {namespace: infra, name: edge}, or one of the two", describe(raw))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		text, isText := fields[key].(string)
		switch {
		case isText && key == "namespace":
			e.Namespace = text
		case isText && key == "name":
			e.Name = text
		default:
			return fmt.Errorf("match.%s: %v; match takes the strings namespace and name", key, fields[key])
		}
	}
	return nil
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
