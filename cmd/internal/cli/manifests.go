package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkManifest refuses an input of which nothing would be read, because a plan
// of nothing looks like one in which all is well. There are charts that render
// nothing, so of an empty one it only warns.
func (i *inputFlags) checkManifest(a *app, m manifest) error {
	found, err := holdsObject(m.data)
	switch {
	case err != nil:
		return hintTemplate(m, fmt.Errorf("%s is no YAML: %w; correct it", m.source, err))
	case found:
		return checkRendered(m)
	case isEmpty(m.data):
		fix := "see whether it is the right file"
		if m.source == stdinSource {
			fix = "see whether the command before the pipe failed"
		}
		say(a.stderr, oneLine(fmt.Sprintf("gatewright: warning: %s is empty; %s", m.source, fix)))
		return nil
	case i.chart.Chart != "":
		return fmt.Errorf("%s holds no Kubernetes object; values for the chart go with --values", m.source)
	default:
		return fmt.Errorf("%s holds no Kubernetes object; give manifests, each with apiVersion and kind", m.source)
	}
}

// isEmpty says whether there is nothing but comments.
func isEmpty(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}

// checkRendered refuses a template of a chart.
func checkRendered(m manifest) error {
	if chart := chartOf(m.source); chart != "" && bytes.Contains(m.data, []byte("{{")) {
		return fmt.Errorf("%s is a template of the chart %s, not a manifest; use --chart %s", m.source, chart, chart)
	}
	return nil
}

// chartOf is the chart that a file is a template of, or "".
func chartOf(file string) string {
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "templates" {
			continue
		}
		chart := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(chart, "Chart.yaml")); err == nil {
			return chart
		}
	}
	return ""
}

// hintTemplate says of an input that is no YAML what it may be instead.
func hintTemplate(m manifest, err error) error {
	if !bytes.Contains(m.data, []byte("{{")) {
		return err
	}
	return errors.Join(err, fmt.Errorf("%s holds {{, as templates do; render it first, or give its chart by --chart", m.source))
}

// holdsObject says whether one of the documents may be a Kubernetes object. Most
// show it at once; only others are parsed, and what does not parse is an error.
func holdsObject(data []byte) (bool, error) {
	if hasKey(data, "apiVersion") && hasKey(data, "kind") {
		return true, nil
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		switch err := documents.Decode(&node); {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		case isObject(&node):
			return true, nil
		}
	}
}

// hasKey says whether a line begins with the key.
func hasKey(data []byte, key string) bool {
	line := []byte(key + ":")
	return bytes.HasPrefix(data, line) || bytes.Contains(data, append([]byte("\n"), line...))
}

// isObject says whether a document is an object, or a List of them. A plain
// list is none, and is not read.
func isObject(document *yaml.Node) bool {
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return false
	}
	found := map[string]bool{}
	for i := 0; i < len(root.Content); i += 2 {
		found[root.Content[i].Value] = true
	}
	return found["apiVersion"] && found["kind"]
}
