package postrender

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestCases runs every file of testdata/cases. A file holds a comment (what it
// shows and why), options.yaml, and streams: helm3 and helm4 as the two Helms
// hand over the same release, pipe as anything else does. What a stream becomes
// stands in NAME.want, or why it is refused in NAME.error; without either it
// stays the same to the byte. Both Helms get the same plan, and findings, where
// given, hold for every stream.
func TestCases(t *testing.T) {
	for _, file := range glob(t, "testdata/cases/*.txtar") {
		t.Run(caseName(file), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options := caseOptions(t, section(archive, "options.yaml"))
	plans := map[string]string{}
	for _, name := range []string{"helm3", "helm4", "pipe"} {
		in := section(archive, name)
		if in == nil {
			continue
		}
		got, plan := renderCase(t, in.Data, options)
		want := expected(archive, name, in)
		if (plan == nil) != strings.HasSuffix(want.Name, ".error") {
			t.Fatalf("%s: %s", name, got)
		}
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("unexpected %s (-want +got):\n%s", want.Name, diff)
			want.Data = []byte(got)
		}
		if findings := section(archive, "findings"); findings != nil && plan != nil {
			if diff := cmp.Diff(string(findings.Data), findingLines(plan)); diff != "" {
				t.Errorf("unexpected findings of %s (-want +got):\n%s", name, diff)
				findings.Data = []byte(findingLines(plan))
			}
		}
		plans[name] = planText(t, plan)
	}
	if len(plans) == 0 {
		t.Fatal("no stream")
	}
	if diff := cmp.Diff(plans["helm3"], plans["helm4"]); diff != "" && section(archive, "helm3") != nil && section(archive, "helm4") != nil {
		t.Errorf("the plans of Helm 3 and Helm 4 differ (-3 +4):\n%s", diff)
	}
	if t.Failed() {
		rewriteCase(t, file, archive)
	}
}

func section(archive *txtar.Archive, name string) *txtar.File {
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			return &archive.Files[i]
		}
	}
	return nil
}

// expected returns the section that says what a stream becomes.
func expected(archive *txtar.Archive, name string, in *txtar.File) *txtar.File {
	for _, suffix := range []string{".want", ".error"} {
		if want := section(archive, name+suffix); want != nil {
			return want
		}
	}
	return &txtar.File{Name: name, Data: in.Data}
}

func caseOptions(t *testing.T, file *txtar.File) Options {
	t.Helper()
	var read struct {
		Namespace, Release, Issuer string
		Policy                     map[string]any
	}
	if file != nil {
		if err := yaml.UnmarshalStrict(file.Data, &read); err != nil {
			t.Fatal(err)
		}
	}
	options := Options{Namespace: read.Namespace, Release: read.Release}
	options.Policies.Flags = engine.Keys(read.Policy)
	if read.Issuer != "" {
		if options.Policies.Flags == nil {
			options.Policies.Flags = engine.Keys{}
		}
		options.Policies.Flags["issuerRef"] = map[string]any{"kind": "ClusterIssuer", "name": read.Issuer}
	}
	return options
}

// renderCase renders a stream, twice if it can be, and returns the output or
// the error.
func renderCase(t *testing.T, in []byte, options Options) (string, *engine.Plan) {
	t.Helper()
	result, err := Render(in, options)
	if err != nil {
		return err.Error() + "\n", nil
	}
	out := written(t, result)
	again, err := Render(out, options)
	if err != nil {
		t.Fatalf("the output is refused: %v\n%s", err, out)
	}
	if diff := cmp.Diff(string(out), string(written(t, again))); diff != "" {
		t.Errorf("the second run changes something (-first +second):\n%s", diff)
	}
	return string(out), result.Plan
}

func findingLines(plan *engine.Plan) string {
	var out strings.Builder
	for _, f := range plan.Findings {
		fmt.Fprintln(&out, f.Severity, f.Code, f.Object)
	}
	return out.String()
}

// planText is a plan without what differs between two ways of handing over the
// same release: where in it an object stands.
func planText(t *testing.T, plan *engine.Plan) string {
	t.Helper()
	if plan == nil {
		return "none"
	}
	for i := range plan.Findings {
		plan.Findings[i].Source = ""
	}
	text, err := json.MarshalIndent(plan, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
