package postrender

import (
	"fmt"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// keyPath leads from the root of a document to a value in it: keys of mappings
// and indices of lists.
type keyPath []any

// child returns the path that goes on with the keys.
func (p keyPath) child(keys ...string) keyPath {
	out := append(keyPath{}, p...)
	for _, key := range keys {
		out = append(out, key)
	}
	return out
}

// String returns a path as people write it: spec.listeners[0].name.
func (p keyPath) String() string {
	var out strings.Builder
	for i, step := range p {
		switch _, isIndex := step.(int); {
		case isIndex:
			fmt.Fprintf(&out, "[%d]", step)
		case i > 0:
			fmt.Fprintf(&out, ".%s", step)
		default:
			fmt.Fprint(&out, step)
		}
	}
	return out.String()
}

// lookup returns the value at a path of a decoded document.
func lookup(root any, p keyPath) any {
	for _, step := range p {
		switch step := step.(type) {
		case string:
			m, _ := root.(map[string]any)
			root = m[step]
		case int:
			items, _ := root.([]any)
			if step >= len(items) {
				return nil
			}
			root = items[step]
		}
	}
	return root
}

// place is where a key of a mapping stands in a document.
type place struct {
	parent *yaml.Node
	// key and value are nil if the mapping does not have the key.
	key, value *yaml.Node
	// afterValue and afterParent are where the line begins that follows them in
	// the document.
	afterValue, afterParent int
}

// locate follows a path that ends with a key. It fails where the way leads
// through an alias, a merge or a missing value.
func (t *tree) locate(p keyPath) (place, bool) {
	node, after := t.root, t.end
	for _, step := range p[:len(p)-1] {
		i := childIndex(node, step)
		if i < 0 {
			return place{}, false
		}
		after = t.following(node, i, after)
		node = node.Content[i]
	}
	if node.Kind != yaml.MappingNode {
		return place{}, false
	}
	found := place{parent: node, afterParent: after}
	if i := childIndex(node, p[len(p)-1]); i >= 0 {
		found.key, found.value = node.Content[i-1], node.Content[i]
		found.afterValue = t.following(node, i, after)
	}
	return found, true
}

// following returns where the line of the node behind the i-th child begins.
func (t *tree) following(n *yaml.Node, i, after int) int {
	switch {
	case i+1 >= len(n.Content):
		return after
	case n.Kind == yaml.SequenceNode:
		return t.itemStart(n.Content[i+1])
	}
	return t.lineStart(n.Content[i+1])
}

// childIndex returns the index of the node that a step leads to, or -1. Of a
// key that stands twice it takes the last.
func childIndex(n *yaml.Node, step any) int {
	switch step := step.(type) {
	case string:
		if n.Kind != yaml.MappingNode {
			return -1
		}
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if key := resolve(n.Content[i]); key.Kind == yaml.ScalarNode && key.Value == step && !isMerge(key) {
				return i + 1
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return step
		}
	}
	return -1
}

// direct returns the value of a key that stands in the mapping itself, or an
// empty node.
func direct(n *yaml.Node, key string) *yaml.Node {
	if i := childIndex(n, key); i >= 0 {
		return resolve(n.Content[i])
	}
	return &yaml.Node{}
}

// resolve returns what an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }
