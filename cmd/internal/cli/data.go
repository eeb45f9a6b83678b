package cli

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// asJSON is the plan as the documented contract.
func asJSON(plan *engine.Plan) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(plan)
	return b.Bytes(), err
}

// asYAML is the same contract, with the keys in the same order: JSON is YAML,
// laid out in another style.
func asYAML(plan *engine.Plan) ([]byte, error) {
	data, err := asJSON(plan)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	blockStyle(&document)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return b.Bytes(), encoder.Close()
}

func blockStyle(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, child := range n.Content {
		blockStyle(child)
	}
}
