package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

const root = "../../.."

// writeChart writes the files of a chart below dir, adding a Chart.yaml if
// files has none, and returns the path of the chart.
func writeChart(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	if _, ok := files["Chart.yaml"]; !ok {
		writeFile(t, filepath.Join(dir, "Chart.yaml"), chartYAML(""))
	}
	for name, content := range files {
		writeFile(t, filepath.Join(dir, name), content)
	}
	return dir
}

func chartYAML(more string) string {
	return "apiVersion: v2\nname: small\nversion: 0.1.0\n" + more
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// isolate keeps Helm off the settings, caches and clusters of the user.
func isolate(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HELM_NAMESPACE", "")
}

func mustRender(t *testing.T, request cli.ChartRequest) string {
	t.Helper()
	out, err := Render(t.Context(), request)
	if err != nil {
		t.Fatalf("Render(%+v): %v", request, err)
	}
	return string(out)
}

// helm3Stream renders with the real Helm 3 and returns what it hands to a
// post-renderer.
func helm3Stream(t *testing.T, request cli.ChartRequest) string {
	t.Helper()
	helm3, err := filepath.Abs(filepath.Join(root, ".cache/bin/helm3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(helm3); err != nil {
		t.Fatalf("%v; run: make tools", err)
	}
	stream := filepath.Join(t.TempDir(), "stream")
	args := append(helm3Args(request), "--post-renderer", "tee", "--post-renderer-args", stream)
	if out, err := exec.Command(helm3, args...).CombinedOutput(); err != nil {
		t.Fatalf("helm3 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	got, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func helm3Args(r cli.ChartRequest) []string {
	args := []string{"template", r.ReleaseName, r.Chart, "--kube-version", defaultKubeVersion}
	if r.ReleaseName == "" {
		args = slices.Delete(args, 1, 2)
	}
	if r.Namespace != "" {
		args = append(args, "--namespace", r.Namespace)
	}
	for flag, values := range map[string][]string{
		"--values": r.ValuesFiles, "--set": r.Set, "--set-string": r.SetString, "--set-file": r.SetFile,
		"--api-versions": append(servedAPIs(), r.APIVersions...),
	} {
		for _, value := range values {
			args = append(args, flag, value)
		}
	}
	for flag, set := range map[string]bool{"--include-crds": r.IncludeCRDs, "--is-upgrade": r.IsUpgrade} {
		if set {
			args = append(args, flag)
		}
	}
	return args
}
