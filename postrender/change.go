package postrender

import yaml "go.yaml.in/yaml/v3"

// change is one change of one document.
type change interface {
	// want changes the decoded document into what the text is to say.
	want(root any) error
	// splices returns what might be replaced in the text to say it, as little as
	// can be, best first. They are guesses: every one is read back.
	splices(t *tree) [][]span
	// rewrite changes the nodes, for want of a splice, where wanted is the
	// decoded document with this change in it, and those before it.
	rewrite(root *yaml.Node, wanted any) error
}

// setItems takes items out of a list and puts others at its end.
type setItems struct {
	at     keyPath // of the list, which may be missing or null
	remove map[int]bool
	add    []any
}

func (c setItems) want(root any) error {
	last := len(c.at) - 1
	parent, isMap := lookup(root, c.at[:last]).(map[string]any)
	if !isMap {
		return noMapping(c.at[:last])
	}
	items, _ := lookup(root, c.at).([]any)
	kept := make([]any, 0, len(items)+len(c.add))
	for i, item := range items {
		if !c.remove[i] {
			kept = append(kept, item)
		}
	}
	parent[c.at[last].(string)] = append(kept, c.add...)
	return nil
}

func (c setItems) splices(t *tree) [][]span {
	p, found := t.locate(c.at)
	switch {
	case !found:
		return nil
	case p.value == nil:
		return t.addKey(p.parent, p.afterParent, c.at[len(c.at)-1].(string), c.add)
	case isEmpty(p.value):
		return t.fillKey(p, c.add)
	case p.value.Kind != yaml.SequenceNode:
		return nil
	case isFlow(p.value):
		return t.setFlowItems(p.value, c.remove, c.add)
	}
	return t.setBlockItems(p, c.remove, c.add)
}

func (c setItems) rewrite(root *yaml.Node, wanted any) error {
	parent, err := reach(root, c.at[:len(c.at)-1])
	if err != nil {
		return err
	}
	key := c.at[len(c.at)-1].(string)
	i := childIndex(parent, key)
	if i < 0 || parent.Content[i].Kind != yaml.SequenceNode || isEmpty(parent.Content[i]) {
		return setNode(parent, key, lookup(wanted, c.at))
	}
	list := parent.Content[i]
	var kept []*yaml.Node
	for j, item := range list.Content {
		if !c.remove[j] {
			kept = append(kept, item)
		}
	}
	added, err := nodeOf(c.add)
	if err != nil {
		return err
	}
	list.Content = append(kept, added.Content...)
	return nil
}

// setText sets a key of a mapping to a string.
type setText struct {
	at         keyPath // of the mapping, which may be missing or null
	key, value string
}

func (c setText) want(root any) error {
	last := len(c.at) - 1
	parent, isMap := lookup(root, c.at[:last]).(map[string]any)
	if !isMap {
		return noMapping(c.at[:last])
	}
	m, isMap := lookup(root, c.at).(map[string]any)
	if !isMap {
		m = map[string]any{}
		parent[c.at[last].(string)] = m
	}
	m[c.key] = c.value
	return nil
}

func (c setText) splices(t *tree) [][]span {
	p, found := t.locate(c.at)
	switch {
	case !found:
		return nil
	case p.value == nil:
		return t.addKey(p.parent, p.afterParent, c.at[len(c.at)-1].(string), map[string]any{c.key: c.value})
	case isEmpty(p.value):
		return t.fillKey(p, map[string]any{c.key: c.value})
	case p.value.Kind != yaml.MappingNode:
		return nil
	}
	if i := childIndex(p.value, c.key); i >= 0 {
		return t.replaceScalar(p.value.Content[i], isFlow(p.value), c.value)
	}
	return t.addKey(p.value, p.afterValue, c.key, c.value)
}

func (c setText) rewrite(root *yaml.Node, wanted any) error {
	parent, err := reach(root, c.at[:len(c.at)-1])
	if err != nil {
		return err
	}
	key := c.at[len(c.at)-1].(string)
	i := childIndex(parent, key)
	if i < 0 || parent.Content[i].Kind != yaml.MappingNode || isEmpty(parent.Content[i]) {
		return setNode(parent, key, lookup(wanted, c.at))
	}
	return setNode(parent.Content[i], c.key, c.value)
}

// setItem replaces an item of a list, or takes it out where value is nil. A
// document of several objects is rare and has no splice.
type setItem struct {
	at    keyPath // of the item
	value map[string]any
}

func (c setItem) want(root any) error {
	last := len(c.at) - 1
	parent, isMap := lookup(root, c.at[:last-1]).(map[string]any)
	items, isList := lookup(root, c.at[:last]).([]any)
	index, isIndex := c.at[last].(int)
	if !isMap || !isList || !isIndex || index >= len(items) {
		return errNoEdit
	}
	if c.value != nil {
		items[index] = c.value
		return nil
	}
	parent[c.at[last-1].(string)] = append(items[:index:index], items[index+1:]...)
	return nil
}

func (c setItem) splices(*tree) [][]span { return nil }

func (c setItem) rewrite(root *yaml.Node, _ any) error {
	items, err := reach(root, c.at[:len(c.at)-1])
	if err != nil {
		return err
	}
	index := c.at[len(c.at)-1].(int)
	if childIndex(items, index) < 0 {
		return errNoEdit
	}
	if c.value == nil {
		items.Content = append(items.Content[:index:index], items.Content[index+1:]...)
		return nil
	}
	items.Content[index], err = nodeOf(c.value)
	return err
}

// isEmpty tells whether a node is null, [] or {}, and nothing an alias needs.
func isEmpty(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.ShortTag() == "!!null"
	}
	return n.Kind != yaml.AliasNode && len(n.Content) == 0
}
