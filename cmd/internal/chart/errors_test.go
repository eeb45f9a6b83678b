package chart

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

func TestRenderErrorsNameTheChartAndTheFix(t *testing.T) {
	isolate(t)
	values := writeFile(t, filepath.Join(t.TempDir(), "values.yaml"), "a: [\n")
	tests := []struct {
		name    string
		files   map[string]string
		request cli.ChartRequest
		want    []string
	}{
		{"no such folder", nil, cli.ChartRequest{Chart: "./nowhere"},
			[]string{"chart ./nowhere: ", "not found", "give a folder or an archive that exists"}},
		{"no such repository", nil, cli.ChartRequest{Chart: "nobody/nothing"},
			[]string{"chart nobody/nothing: ", "helm repo add"}},
		{"not a chart", map[string]string{"Chart.yaml": ""}, cli.ChartRequest{},
			[]string{"Chart.yaml", "give the folder that holds Chart.yaml"}},
		{"library", map[string]string{"Chart.yaml": chartYAML("type: library\n")}, cli.ChartRequest{},
			[]string{"a library chart has no manifests of its own; give the chart that depends on small"}},
		{"missing dependency", map[string]string{"Chart.yaml": chartYAML("dependencies: [{name: redis, version: 1.0.0}]\n")}, cli.ChartRequest{},
			[]string{"missing in charts/ directory: redis; run: helm dependency build "}},
		{"old Kubernetes", map[string]string{"Chart.yaml": chartYAML("kubeVersion: \">=1.99\"\n")}, cli.ChartRequest{},
			[]string{"it requires Kubernetes >=1.99 and is rendered for v1.37.0; give the version of your cluster with --kube-version"}},
		{"bad Kubernetes version", map[string]string{}, cli.ChartRequest{KubeVersion: "newest"},
			[]string{`--kube-version "newest"`, "give a version such as v1.37.0"}},
		{"schema", map[string]string{"values.schema.json": `{"type":"object","required":["host"]}`}, cli.ChartRequest{},
			[]string{"missing property 'host'", "correct the values (--values, --set)"}},
		{"required value", map[string]string{"templates/a.yaml": `a: {{ required "give a host" .Values.host }}`}, cli.ChartRequest{},
			[]string{"small/templates/a.yaml:1", "give a host", "correct the values"}},
		{"template is no YAML", map[string]string{"templates/a.yaml": "kind: A\n b: {"}, cli.ChartRequest{},
			[]string{"YAML parse error on small/templates/a.yaml", "the file of the chart that is named"}},
		{"values file missing", map[string]string{}, cli.ChartRequest{ValuesFiles: []string{"none.yaml"}},
			[]string{"values of chart ", "none.yaml"}},
		{"values file is no YAML", map[string]string{}, cli.ChartRequest{ValuesFiles: []string{values}},
			[]string{"values of chart ", "failed to parse " + values}},
		{"set", map[string]string{}, cli.ChartRequest{Set: []string{"novalue"}},
			[]string{"values of chart ", "--set", "novalue"}},
		{"release name", map[string]string{}, cli.ChartRequest{ReleaseName: "Not_valid"},
			[]string{"release name", "Not_valid"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.request.Chart == "" {
				tt.request.Chart = writeChart(t, t.TempDir(), tt.files)
			}
			out, err := Render(t.Context(), tt.request)
			if err == nil {
				t.Fatalf("no error; got:\n%s", out)
			}
			if out != nil {
				t.Errorf("a stream in spite of the error:\n%s", out)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in:\n%v", want, err)
				}
			}
		})
	}
}

// Helm's download takes no context; a server that never answers must not hold
// up a cancelled run.
func TestRenderStopsWhenCancelled(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(t.Context())
	finish := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-finish
	}))
	defer server.Close()
	defer close(finish)
	if _, err := Render(ctx, cli.ChartRequest{Chart: "small", Repo: server.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// Helm warns about this chart; standard output is for manifests alone.
func TestRenderWritesNothingToStdout(t *testing.T) {
	isolate(t)
	chart := writeChart(t, t.TempDir(), map[string]string{
		"values.yaml":       "table: {a: 1}\n",
		"requirements.yaml": "dependencies: []\n",
		"templates/a.yaml":  "kind: ConfigMap\n",
	})
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	_, renderErr := Render(t.Context(), cli.ChartRequest{Chart: chart, Set: []string{"table=scalar"}})
	os.Stdout = stdout
	write.Close()
	got, err := io.ReadAll(read)
	if renderErr != nil || err != nil || len(got) != 0 {
		t.Errorf("render error %v, read error %v, standard output %q", renderErr, err, got)
	}
}
