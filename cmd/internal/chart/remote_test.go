package chart

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// archive packs a small chart and returns the path of small-0.1.0.tgz.
func archive(t *testing.T) string {
	t.Helper()
	chart, err := loader.Load(writeChart(t, t.TempDir(), map[string]string{
		"templates/a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: packed}\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	path, err := chartutil.Save(chart, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRenderArchive(t *testing.T) {
	isolate(t)
	request := cli.ChartRequest{Chart: archive(t)}
	got := mustRender(t, request)
	if want := helm3Stream(t, request); got != want || !strings.Contains(got, "packed") {
		t.Errorf("Render:\n%s\nhelm3:\n%s", got, want)
	}
}

func TestRenderFromRepository(t *testing.T) {
	isolate(t)
	path := archive(t)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer server.Close()
	index, err := repo.IndexDirectory(filepath.Dir(path), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(filepath.Dir(path), "index.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mustRender(t, cli.ChartRequest{Chart: "small", Repo: server.URL, Version: "0.1.0"})
	if !strings.Contains(got, "packed") {
		t.Errorf("got:\n%s", got)
	}
	_, err = Render(t.Context(), cli.ChartRequest{Chart: "small", Repo: server.URL, Version: "9.9.9"})
	if err == nil || !strings.Contains(err.Error(), "chart small: ") || !strings.Contains(err.Error(), "9.9.9") {
		t.Errorf("got error %v, want one that names the chart and the version", err)
	}
}

func TestRenderFromRegistry(t *testing.T) {
	isolate(t)
	server := httptest.NewServer(registryOf(t, archive(t)))
	defer server.Close()
	chart := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts/small"
	got := mustRender(t, cli.ChartRequest{Chart: chart, Version: "0.1.0"})
	if !strings.Contains(got, "packed") {
		t.Errorf("got:\n%s", got)
	}
}

// registryOf is an OCI registry that holds one chart, as version 0.1.0.
func registryOf(t *testing.T, path string) http.Handler {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"name":"small","version":"0.1.0","apiVersion":"v2"}`)
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"config":        descriptor("application/vnd.cncf.helm.config.v1+json", config),
		"layers":        []any{descriptor("application/vnd.cncf.helm.chart.content.v1.tar+gzip", packed)},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, blob := range [][]byte{config, packed} {
		mux.HandleFunc("/v2/charts/small/blobs/"+digest(blob), func(w http.ResponseWriter, _ *http.Request) {
			w.Write(blob)
		})
	}
	for _, reference := range []string{"0.1.0", digest(manifest)} {
		mux.HandleFunc("/v2/charts/small/manifests/"+reference, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digest(manifest))
			w.Header().Set("Content-Length", fmt.Sprint(len(manifest)))
			w.Write(manifest)
		})
	}
	return mux
}

func descriptor(mediaType string, content []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "digest": digest(content), "size": len(content)}
}

func digest(content []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(content))
}
