package chart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

func TestDefaultKubeVersionIsThatOfTheLibraries(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`k8s\.io/apimachinery v0\.(\d+)\.`).FindSubmatch(mod)
	if minor == nil {
		t.Fatal("go.mod does not require k8s.io/apimachinery v0.x")
	}
	if want := fmt.Sprintf("v1.%s.0", minor[1]); defaultKubeVersion != want {
		t.Errorf("defaultKubeVersion is %s, go.mod stands for %s", defaultKubeVersion, want)
	}
}

func TestRenderChartThatAsksForRecentKubernetes(t *testing.T) {
	isolate(t)
	chart := writeChart(t, t.TempDir(), map[string]string{
		"Chart.yaml":       chartYAML("kubeVersion: \">=1.30.0-0\"\n"),
		"templates/c.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: {{ .Capabilities.KubeVersion.Minor | quote }}}\n",
	})
	if got := mustRender(t, cli.ChartRequest{Chart: chart}); !strings.Contains(got, `{name: "37"}`) {
		t.Errorf("want minor version 37 in:\n%s", got)
	}
	if got := mustRender(t, cli.ChartRequest{Chart: chart, KubeVersion: "1.31"}); !strings.Contains(got, `{name: "31"}`) {
		t.Errorf("want minor version 31 in:\n%s", got)
	}
}

// The assumed APIs are those that the CRDs of the libraries serve, so that they
// cannot fall behind.
func TestAssumedAPIsAreThoseOfTheCRDs(t *testing.T) {
	var want []string
	for module, folder := range map[string]string{
		"sigs.k8s.io/gateway-api":              "config/crd/standard",
		"github.com/cert-manager/cert-manager": "deploy/crds",
	} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatalf("go list -m %s: %v", module, err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), folder, "*.io_*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("CRDs of %s: got %v, error %v", module, files, err)
		}
		for _, file := range files {
			want = append(want, servedBy(t, file)...)
		}
	}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(servedAPIs()))
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("CRDs (-), servedAPIs (+):\n%s", diff)
	}
}

func servedBy(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Served bool
			}
		}
	}
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if crd.Kind != "CustomResourceDefinition" {
		return nil
	}
	var out []string
	for _, version := range crd.Spec.Versions {
		if version.Served {
			api := crd.Spec.Group + "/" + version.Name
			out = append(out, api, api+"/"+crd.Spec.Names.Kind)
		}
	}
	return out
}
