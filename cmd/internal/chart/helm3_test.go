package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

func TestRenderGivesHelm3sStreamForEveryChart(t *testing.T) {
	isolate(t)
	charts, err := filepath.Glob(filepath.Join(root, "testdata/charts/*/Chart.yaml"))
	if err != nil || len(charts) < 8 {
		t.Fatalf("charts: got %v, error %v, want at least 8 in testdata/charts", charts, err)
	}
	for _, file := range charts {
		chart := filepath.Dir(file)
		t.Run(filepath.Base(chart), func(t *testing.T) {
			for _, request := range []cli.ChartRequest{
				{Chart: chart},
				{Chart: chart, ReleaseName: "rel", Namespace: "infra", IncludeCRDs: true, IsUpgrade: true},
			} {
				if diff := cmp.Diff(helm3Stream(t, request), mustRender(t, request)); diff != "" {
					t.Errorf("%+v: helm3 (-), Render (+):\n%s", request, diff)
				}
			}
		})
	}
}

// everything is a chart whose stream depends on each field of a request.
var everything = map[string]string{
	"Chart.yaml":  chartYAML("dependencies:\n- {name: child, version: 0.1.0, condition: child.enabled}\n"),
	"values.yaml": "a: chart\nb: chart\nc: chart\nd: chart\nlist: [1, 2]\nchild: {enabled: false}\n",
	"templates/config.yaml": `# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
data:
  values: {{ list .Values.a .Values.b .Values.c .Values.d | toJson | quote }}
  big: {{ .Values.big | toJson | quote }}
  list: {{ .Values.list | toJson | quote }}
  upgrade: {{ .Release.IsUpgrade | quote }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  gateway: {{ .Capabilities.APIVersions.Has "gateway.networking.k8s.io/v1/Gateway" | quote }}
  own: {{ .Capabilities.APIVersions.Has "example.com/v1" | quote }}
  lookup: {{ lookup "v1" "Namespace" "" "default" | toJson | quote }}
`,
	"templates/hook.yaml":   "apiVersion: v1\nkind: Pod\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n",
	"templates/gateway.yml": "---\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n",
	"templates/NOTES.txt":   "thank you",
	"templates/_part.tpl":   `{{ define "part" }}x{{ end }}`,
	"crds/crd.yaml":         "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.example.com}\n",

	"charts/child/Chart.yaml":          "apiVersion: v2\nname: child\nversion: 0.1.0\n",
	"charts/child/templates/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: child}\n",
}

func TestRenderGivesHelm3sStreamForEveryFlag(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	chart := writeChart(t, filepath.Join(dir, "everything"), everything)
	low := writeFile(t, filepath.Join(dir, "low.yaml"), "a: low\nb: low\nbig: 9007199254740993\n")
	high := writeFile(t, filepath.Join(dir, "high.yaml"), "b: high\nc: high\n")
	text := writeFile(t, filepath.Join(dir, "text"), "from a file\n")

	tests := []struct {
		name    string
		request cli.ChartRequest
		want    string // must stand in the stream
	}{
		{"defaults", cli.ChartRequest{}, "{name: release-name, namespace: default}"},
		{"release and namespace", cli.ChartRequest{ReleaseName: "r", Namespace: "n"}, "{name: r, namespace: n}"},
		{"later values file wins", cli.ChartRequest{ValuesFiles: []string{low, high}}, `["low","high","high","chart"]`},
		{"set wins over files", cli.ChartRequest{ValuesFiles: []string{low}, Set: []string{"a=1,b=two"}}, `[1,\"two\"`},
		{"set a list entry", cli.ChartRequest{Set: []string{"list[1]=7"}}, `"[null,7]"`},
		{"set-string", cli.ChartRequest{SetString: []string{"a=1"}}, `[\"1\"`},
		{"set-file", cli.ChartRequest{SetFile: []string{"d=" + text}}, `from a file`},
		{"subchart", cli.ChartRequest{Set: []string{"child.enabled=true"}}, "# Source: small/charts/child/templates/conf.yaml"},
		{"crds", cli.ChartRequest{IncludeCRDs: true}, "---\n# Source: small/crds/crd.yaml\n"},
		{"upgrade", cli.ChartRequest{IsUpgrade: true}, `upgrade: "true"`},
		{"api version", cli.ChartRequest{APIVersions: []string{"example.com/v1"}}, `own: "true"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.request.Chart = chart
			got := mustRender(t, tt.request)
			if diff := cmp.Diff(helm3Stream(t, tt.request), got); diff != "" {
				t.Errorf("helm3 (-), Render (+):\n%s", diff)
			}
			if !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), strings.ReplaceAll(tt.want, `\"`, `"`)) {
				t.Errorf("want %s in:\n%s", tt.want, got)
			}
		})
	}
}

func TestRenderLeavesOut(t *testing.T) {
	isolate(t)
	got := mustRender(t, cli.ChartRequest{Chart: writeChart(t, t.TempDir(), everything)})
	for _, unwanted := range []string{"helm.sh/hook", "thank you", "CustomResourceDefinition", "child"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%q is in the stream:\n%s", unwanted, got)
		}
	}
}

func TestRenderReadsValuesFromStdin(t *testing.T) {
	isolate(t)
	file, err := os.Open(writeFile(t, filepath.Join(t.TempDir(), "stdin"), "a: piped\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdin := os.Stdin
	os.Stdin = file
	defer func() { os.Stdin = stdin }()

	got := mustRender(t, cli.ChartRequest{Chart: writeChart(t, t.TempDir(), everything), ValuesFiles: []string{"-"}})
	if !strings.Contains(got, "piped") {
		t.Errorf("want the value of standard input in:\n%s", got)
	}
}
