package postrender

import (
	"slices"

	yaml "go.yaml.in/yaml/v3"
)

// Documents cuts a stream into documents: sub-slices of it that joined are the
// stream again.
func Documents(stream []byte) [][]byte { return split(stream) }

// ListEdit takes items out of a list and puts others at its end.
type ListEdit struct {
	// Remove holds the indices of the items that go.
	Remove []int
	Add    []any
}

// EditList edits the list that a path of keys and indices leads to, and leaves
// every other byte of the document as it is. A list that is missing is made,
// and the key of one that becomes empty is taken away.
func EditList(document []byte, path []any, edit ListEdit) ([]byte, error) {
	t, err := parse(document)
	if err != nil {
		return nil, err
	}
	value, err := t.decode()
	if err != nil {
		return nil, err
	}
	items, _ := lookup(value, path).([]any)
	if len(edit.Add) == 0 && len(edit.Remove) == len(items) {
		return apply(document, removeKey{path})
	}
	remove := map[int]bool{}
	for _, index := range edit.Remove {
		remove[index] = true
	}
	return apply(document, setItems{path, remove, edit.Add})
}

// EncodeList returns values as a YAML list, in the style of [Encode].
func EncodeList(items []any) []byte { return []byte(encodeItems(items, 0, style{step: 2})) }

// removeKey takes a key and its value out of a mapping.
type removeKey struct{ at keyPath }

func (c removeKey) want(root any) error {
	last := len(c.at) - 1
	parent, isMap := lookup(root, c.at[:last]).(map[string]any)
	if !isMap {
		return noMapping(c.at[:last])
	}
	delete(parent, c.at[last].(string))
	return nil
}

func (c removeKey) splices(t *tree) [][]span {
	p, found := t.locate(c.at)
	if !found || p.key == nil || isFlow(p.parent) {
		return nil
	}
	start := t.lineStart(p.key)
	end, _ := t.behind(t.offset(p.key), p.afterValue, p.key.Column)
	return [][]span{{{start, end, ""}}}
}

func (c removeKey) rewrite(root *yaml.Node, _ any) error {
	last := len(c.at) - 1
	parent, err := reach(root, c.at[:last])
	if err != nil {
		return err
	}
	i := childIndex(parent, c.at[last])
	if i < 0 {
		return errNoEdit
	}
	parent.Content = slices.Delete(parent.Content, i-1, i+1)
	return nil
}
