// Package charts_test tests the chart with the real Helm 3 and Helm 4.
package charts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	chart      = "gatewright"
	repository = ".."
)

// image is what a user must set: the chart has no image of its own.
const image = `image: {repository: registry.example.com/gatewright}`

// helms are the real programs, which make tools builds.
var helms = []string{"helm3", "helm4"}

func eachHelm(t *testing.T, test func(*testing.T, helm)) {
	t.Helper()
	for _, name := range helms {
		t.Run(name, func(t *testing.T) { test(t, newHelm(t, name)) })
	}
}

type helm struct {
	path string
	home string
}

func newHelm(t *testing.T, name string) helm {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(repository, ".cache/bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run: make tools", err)
	}
	// What Helm reads, go test must see, or it takes an old result for a new chart.
	if err := os.CopyFS(t.TempDir(), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	return helm{path, t.TempDir()}
}

// run returns what Helm prints on stdout; the error holds what it says on stderr.
func (h helm) run(args ...string) (string, error) {
	command := exec.Command(h.path, args...)
	command.Env = []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH")}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("helm %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// template renders the chart as release sweep in namespace ops. Each of the
// values is a YAML document; later ones win.
func (h helm) template(t *testing.T, values ...string) (string, error) {
	t.Helper()
	return h.run(append([]string{"template", "sweep", chart, "--namespace", "ops"}, valueFlags(t, values)...)...)
}

func valueFlags(t *testing.T, values []string) []string {
	t.Helper()
	var flags []string
	for i, text := range values {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("values-%d.yaml", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--values", path)
	}
	return flags
}

// mustTemplate renders the chart with an image and the values.
func (h helm) mustTemplate(t *testing.T, values ...string) objects {
	t.Helper()
	text, err := h.template(t, append([]string{image}, values...)...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

// objects are rendered objects as JSON, by kind, namespace and name.
type objects map[string][]byte

func parse(t *testing.T, text string) objects {
	t.Helper()
	found := objects{}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var object struct {
			Kind     string
			Metadata struct{ Namespace, Name string }
		}
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if err := node.Decode(&object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "" {
			continue // a document of comments alone
		}
		var content map[string]any
		if err := node.Decode(&content); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		key := object.Kind + " " + object.Metadata.Namespace + "/" + object.Metadata.Name
		if _, twice := found[key]; twice {
			t.Fatalf("%s is rendered twice", key)
		}
		found[key] = data
	}
}

// decode reads one object into its real type and refuses fields that the type
// does not know.
func (o objects) decode(t *testing.T, key string, into any) {
	t.Helper()
	data, ok := o[key]
	if !ok {
		t.Fatalf("%s is not rendered", key)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
}
