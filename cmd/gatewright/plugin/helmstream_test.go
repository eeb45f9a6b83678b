package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// identityPlugin is a post-renderer for Helm 4 that changes nothing and keeps
// what it was handed in the file $STREAM.
const identityPlugin = `apiVersion: v1
name: identity
version: 0.1.0
type: postrenderer/v1
runtime: subprocess
runtimeConfig:
  platformCommand:
  - command: tee
    args: ["$STREAM"]
`

// identity renders a chart through a post-renderer that changes nothing. It
// gives the output and the stream that a post-renderer is handed, which no other
// output of Helm shows.
func (h helm) identity(t *testing.T, chart string) (output, stream string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stream.yaml")
	t.Setenv("STREAM", file)
	args := []string{"--post-renderer", "tee", "--post-renderer-args", file}
	if h.major == 4 {
		args = []string{"--post-renderer", "identity"}
		writeFile(t, filepath.Join(h.home, "data", "plugins", "identity", "plugin.yaml"), identityPlugin)
	}
	got := h.render(t, chart, args...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: %v", err, got)
	}
	// Helm 4 refuses an empty output even if its input was empty.
	if got.err != nil && len(data) > 0 {
		t.Fatal(got)
	}
	return got.stdout, string(data)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// object is what the tests read of an object.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct{ Listeners []struct{ Hostname string } }
	Items    []object
}

// parse gives the objects of a stream, those of Lists beside the Lists.
func parse(t *testing.T, stream string) []object {
	t.Helper()
	var all []object
	for decoder := yaml.NewDecoder(strings.NewReader(stream)); ; {
		var next object
		err := decoder.Decode(&next)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, stream)
		}
		if next.Kind != "" {
			all = append(append(all, next), next.Items...)
		}
	}
}

// objects names the objects of a stream, sorted. Lists are left out, since Helm 4
// takes them apart.
func objects(t *testing.T, stream string) []string {
	t.Helper()
	var names []string
	for _, object := range parse(t, stream) {
		if object.Kind != "List" {
			names = append(names, strings.TrimSpace(object.Kind+" "+object.Metadata.Name))
		}
	}
	slices.Sort(names)
	return names
}

// hostnames are those of all listeners in a stream, sorted.
func hostnames(t *testing.T, stream string) []string {
	t.Helper()
	var names []string
	for _, object := range parse(t, stream) {
		for _, listener := range object.Spec.Listeners {
			names = append(names, listener.Hostname)
		}
	}
	slices.Sort(names)
	return names
}

// minus are the entries of a that b lacks.
func minus(a, b []string) []string {
	var rest []string
	for _, entry := range a {
		if !slices.Contains(b, entry) {
			rest = append(rest, entry)
		}
	}
	return rest
}
