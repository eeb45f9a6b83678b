package postrender

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// maxExpanded is how many nodes the aliases of a document may stand for in
// all: far more than a chart needs, far less than a bomb of them makes.
const maxExpanded = 100_000

// decoder turns the nodes of a document into maps, slices, strings, bools,
// int64 and float64: what the API server would read, but for numbers that fit
// neither, which stay json.Number, and dates, which stay strings.
type decoder struct {
	expanded int
	open     map[*yaml.Node]bool // anchors whose aliases are being expanded
	at       keyPath             // of the value that is being decoded
	// duplicates are the places of keys that stand twice in one mapping.
	duplicates []string
}

// decode returns the whole document as values.
func (t *tree) decode() (any, error) {
	if t.root == nil {
		return nil, nil
	}
	return new(decoder).value(t.root)
}

func (d *decoder) value(n *yaml.Node) (value any, err error) {
	if err := d.charge(n); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.mapping(n)
	case yaml.SequenceNode:
		return d.sequence(n)
	case yaml.AliasNode:
		err = d.alias(n, func(target *yaml.Node) (err error) {
			value, err = d.value(target)
			return err
		})
		return value, err
	}
	return scalar(n)
}

// charge counts a node that is read through an alias.
func (d *decoder) charge(n *yaml.Node) error {
	if len(d.open) == 0 {
		return nil
	}
	if d.expanded++; d.expanded > maxExpanded {
		return &syntaxError{n.Line, fmt.Sprintf("its aliases stand for more than %d values", maxExpanded)}
	}
	return nil
}

// alias calls f with the node that an alias stands for.
func (d *decoder) alias(n *yaml.Node, f func(*yaml.Node) error) error {
	if d.open[n.Alias] {
		return &syntaxError{n.Line, fmt.Sprintf("the anchor %q contains itself", n.Value)}
	}
	if d.open == nil {
		d.open = map[*yaml.Node]bool{}
	}
	d.open[n.Alias] = true
	defer delete(d.open, n.Alias)
	return f(n.Alias)
}

func (d *decoder) sequence(n *yaml.Node) (any, error) {
	items := make([]any, 0, len(n.Content))
	for i, c := range n.Content {
		item, err := d.below(i, c)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// below decodes a value of a mapping or a list.
func (d *decoder) below(step any, n *yaml.Node) (any, error) {
	d.at = append(d.at, step)
	value, err := d.value(n)
	d.at = d.at[:len(d.at)-1]
	return value, err
}

func (d *decoder) mapping(n *yaml.Node) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		key, err := d.key(n.Content[i])
		if err != nil {
			return nil, err
		}
		if _, found := out[key]; found {
			d.duplicates = append(d.duplicates, append(d.at, key).String())
		}
		if out[key], err = d.below(key, n.Content[i+1]); err != nil {
			return nil, err
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if err := d.merge(out, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// merge adds the keys that a mapping does not have itself, from one mapping or
// from several, of which the first wins.
func (d *decoder) merge(out map[string]any, from *yaml.Node) error {
	value, err := d.value(from)
	if err != nil {
		return err
	}
	sources, isList := value.([]any)
	if !isList {
		sources = []any{value}
	}
	for _, source := range sources {
		m, isMap := source.(map[string]any)
		if !isMap {
			return &syntaxError{from.Line, "the merge key << needs a mapping or a list of mappings"}
		}
		for key, v := range m {
			if _, found := out[key]; !found {
				out[key] = v
			}
		}
	}
	return nil
}

// key returns a key as a string, as JSON needs it.
func (d *decoder) key(n *yaml.Node) (string, error) {
	value, err := d.value(n)
	if err != nil {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case map[string]any, []any:
		return "", &syntaxError{n.Line, "a key is not a scalar"}
	case nil:
		return "null", nil
	default:
		return fmt.Sprint(value), nil
	}
}

var integer = regexp.MustCompile(`^[-+]?[0-9]+$`)

func scalar(n *yaml.Node) (any, error) {
	tag := n.ShortTag()
	if tag == "!!str" || tag == "!!timestamp" || tag == "!!binary" || tag == "!!merge" {
		return n.Value, nil
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, &syntaxError{n.Line, strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	switch v := value.(type) {
	case int:
		return int64(v), nil
	case uint64:
		return json.Number(fmt.Sprint(v)), nil
	case float64:
		if integer.MatchString(n.Value) {
			return json.Number(n.Value), nil
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return n.Value, nil
		}
		return v, nil
	case bool, nil, int64, string:
		return v, nil
	}
	return n.Value, nil
}
