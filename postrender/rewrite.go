package postrender

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// rewrite makes changes in the nodes of a document and encodes it anew. What
// stands above the content stays as it is. With flatten every alias becomes a
// copy of what it stands for, so that a change of one does not change the other.
func rewrite(text []byte, changes []change, flatten bool) ([]byte, error) {
	above, inner, below := parts(text)
	if bytes.HasPrefix(above, []byte("%")) || bytes.Contains(above, []byte("\n%")) {
		return nil, errNoEdit // the encoder knows no directives
	}
	t, err := parse(inner)
	if err != nil {
		return nil, err
	}
	wanted, err := t.decode()
	if err != nil {
		return nil, err
	}
	prepare(t.root, flatten)
	for _, c := range changes {
		if err := errors.Join(c.want(wanted), c.rewrite(t.root, wanted)); err != nil {
			return nil, err
		}
	}
	var body bytes.Buffer
	encoder := yaml.NewEncoder(&body)
	encoder.SetIndent(2)
	if err := encoder.Encode(t.document); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	lineBreak := []byte(t.lineBreak(len(inner)))
	return slices.Concat(above, bytes.ReplaceAll(body.Bytes(), []byte("\n"), lineBreak), below), nil
}

// parts cuts the text of a document into the separator and the comments above
// its content, the content, and the line that ends it.
func parts(text []byte) (above, inner, below []byte) {
	head, end := content(text), contentEnd(text)
	above, inner, below = text[:head], text[head:end], text[end:]
	if head > 0 && text[head-1] != '\n' { // on one line with the separator
		above = slices.Concat(bytes.TrimRight(above, " \t"), []byte("\n"))
	}
	return above, inner, below
}

// prepare spells out what the encoder would write in another way.
func prepare(n *yaml.Node, flatten bool) {
	if flatten && n.Kind == yaml.AliasNode {
		comments := commentsOf(n)
		*n = *deepCopy(n.Alias)
		n.HeadComment = comments
	}
	if flatten {
		n.Anchor = ""
	}
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.ShortTag() == "!!null" {
		n.Value = "null"
	}
	for _, child := range n.Content {
		prepare(child, flatten)
	}
}

// commentsOf returns the comments of a node whose place another one takes.
func commentsOf(n *yaml.Node) string {
	all := []string{n.HeadComment, n.LineComment, n.FootComment}
	return strings.Join(slices.DeleteFunc(all, func(c string) bool { return c == "" }), "\n")
}

func deepCopy(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = nil
	for _, child := range n.Content {
		out.Content = append(out.Content, deepCopy(child))
	}
	return &out
}

// reach follows a path of nodes, through aliases.
func reach(root *yaml.Node, p keyPath) (*yaml.Node, error) {
	for _, step := range p {
		i := childIndex(root, step)
		if i < 0 {
			return nil, errNoEdit
		}
		root = resolve(root.Content[i])
	}
	return root, nil
}

// setNode sets a key of a mapping node.
func setNode(m *yaml.Node, key string, value any) error {
	node, err := nodeOf(value)
	if err != nil {
		return err
	}
	if m.Kind != yaml.MappingNode {
		return errNoEdit
	}
	if i := childIndex(m, key); i >= 0 {
		node.HeadComment = commentsOf(m.Content[i])
		m.Content[i] = node
		return nil
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, node)
	return nil
}

// nodeOf returns a value as the nodes of what we would write.
func nodeOf(value any) (*yaml.Node, error) {
	text := inline(value)
	if isCollection(value) {
		switch value := value.(type) {
		case map[string]any:
			text = string(Encode(value))
		case []any:
			text = encodeItems(value, 0, style{step: 2})
		}
	}
	t, err := parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return t.root, nil
}
