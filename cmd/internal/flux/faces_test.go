package flux

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux"
	"github.com/gatewright/gatewright/flux/facetest"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// asPostRenderer has this test program be gatewright, for Helm and a shell to run.
const asPostRenderer = "GATEWRIGHT_TEST_POST_RENDER"

func TestMain(m *testing.M) {
	if os.Getenv(asPostRenderer) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, cli.Program{Flux: Render}))
	}
	os.Exit(clustertest.Run(m))
}

// different are charts that cannot get the same from Flux, with the reason.
var different = map[string]string{
	"plain": "Flux runs kustomize on each release, and that refuses the odd YAML of this chart, so Flux cannot install it at all",
}

// TestFaces compares what each chart gets from the post-renderer under the real
// Helm 3 with what it gets from flux render, through helm-controller's steps.
// UPDATE=1 rewrites what is expected of every face, and fails.
func TestFaces(t *testing.T) {
	charts, err := facetest.Charts(root)
	if err != nil {
		t.Fatal(err)
	}
	isolate(t)
	for _, chart := range charts {
		t.Run(chart, func(t *testing.T) {
			got := postRendered(t, chart)
			checkWant(t, chart, got)
			file := fluxRelease(t, chart)
			result, err := renderOne(t, file, "GitRepository/flux-system/charts")
			if reason := different[chart]; reason != "" {
				if err == nil {
					t.Errorf("it is the same after all; it was thought not to be because: %s", reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, applied(t, chart, file, result)); diff != "" {
				t.Errorf("post-render (-), flux (+):\n%s", diff)
			}
		})
	}
}

// checkWant compares with the file that the tests of all faces share.
func checkWant(t *testing.T, chart string, got facetest.Face) {
	t.Helper()
	want, err := facetest.Want(root, chart)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("testdata/faces (-), post-render (+):\n%s", diff)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(facetest.Path(root, chart), []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// postRendered is the face of helm template --post-renderer.
func postRendered(t *testing.T, chart string) facetest.Face {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	helm := exec.Command(filepath.Join(root, ".cache/bin/helm3"), "template", facetest.Release, filepath.Join(root, "testdata/charts", chart),
		"--namespace", facetest.Namespace, "--post-renderer", self, "--post-renderer-args", "--namespace="+facetest.Namespace)
	helm.Env = append(os.Environ(), asPostRenderer+"=1")
	var stderr bytes.Buffer
	helm.Stderr = &stderr
	stream, err := helm.Output()
	if err != nil {
		t.Fatalf("helm3 template: %v (run: make tools)\n%s", err, &stderr)
	}
	return faceOf(t, stream)
}

func faceOf(t *testing.T, stream []byte) facetest.Face {
	t.Helper()
	face, err := facetest.OfStream(stream)
	if err != nil {
		t.Fatal(err)
	}
	return face
}

// fluxRelease writes a HelmRelease of a chart, which leaves the policy to the
// chart's Gateways.
func fluxRelease(t *testing.T, chart string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "release.yaml")
	manifest := `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: release, namespace: flux-system, annotations: {gatewright.dev/policy: ""}}
spec:
  interval: 10m
  releaseName: ` + facetest.Release + `
  targetNamespace: ` + facetest.Namespace + `
  chart: {spec: {chart: ` + chart + `, sourceRef: {kind: GitRepository, name: charts}}}
`
	if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// renderOne renders a file whose charts are those of testdata, as a source.
func renderOne(t *testing.T, file, source string) (*cli.FluxResult, error) {
	t.Helper()
	return Render(t.Context(), cli.FluxRequest{Files: []string{file}, Sources: []string{source + "=" + filepath.Join(root, "testdata/charts")}})
}

// applied is the face of what Flux applies: the chart, by the post-renderers that
// the file has now, and the companion file.
func applied(t *testing.T, chart, file string, result *cli.FluxResult) facetest.Face {
	t.Helper()
	manifest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var companions []byte
	for _, change := range result.Changes {
		if flux.IsCompanion(change.Path) {
			companions = change.After
		} else {
			manifest = change.After
		}
	}
	var hr v2.HelmRelease
	if err := yaml.UnmarshalStrict(manifest, &hr); err != nil {
		t.Fatal(err)
	}
	rendered, err := renderChart(t.Context(), cli.FluxRequest{}, flux.Chart{
		Path: filepath.Join(root, "testdata/charts", chart), ReleaseName: facetest.Release, Namespace: facetest.Namespace,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := flux.Steps(&hr, rendered)
	if err != nil {
		t.Fatal(err)
	}
	return faceOf(t, []byte(strings.Join([]string{string(stream), string(companions)}, "---\n")))
}
