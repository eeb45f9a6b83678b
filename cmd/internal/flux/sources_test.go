package flux

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

const root = "../../.."

// isolate keeps Helm off the settings, caches and clusters of the user.
func isolate(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("KUBECONFIG", os.DevNull)
}

// pack packs a chart of testdata under another version, so that the version
// shows in the hostnames that it is given.
func pack(t *testing.T, dir, version string) string {
	t.Helper()
	chart, err := loader.Load(filepath.Join(root, "testdata/charts/allinone"))
	if err != nil {
		t.Fatal(err)
	}
	chart.Metadata.Version = version
	for _, file := range chart.Raw {
		if file.Name == "values.yaml" {
			file.Data = fmt.Appendf(nil, "issuer: letsencrypt\nroutes: {a: [v%s.example.com]}\n", strings.ReplaceAll(version, ".", "-"))
		}
	}
	path, err := chartutil.Save(chart, dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// guarded asks for a login, if there is one.
func guarded(handler http.Handler, user, password string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gotUser, gotPassword, _ := r.BasicAuth(); gotUser != user || gotPassword != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// helmRepository serves the chart over HTTP, with or without a login.
func helmRepository(t *testing.T, user, password string) string {
	t.Helper()
	var charts http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { charts.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	charts = chartServer(t, user, password, server.URL)
	return server.URL
}

// ociRegistry is a registry with the same versions; it returns the oci:// URL above
// the chart, and the digest of version 1.0.0.
func ociRegistry(t *testing.T, user, password string) (url, digest string) {
	t.Helper()
	handler, digest := registryHandler(t, user, password)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return "oci" + strings.TrimPrefix(server.URL, "http") + "/charts", digest
}

// registryHandler is a registry to which Helm's client has pushed the versions.
func registryHandler(t *testing.T, user, password string) (guardedBy http.Handler, digest string) {
	t.Helper()
	handler := registry.New(registry.Logger(nothing()))
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimPrefix(server.URL, "http://") + "/charts"
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		data, err := os.ReadFile(pack(t, t.TempDir(), version))
		if err != nil {
			t.Fatal(err)
		}
		pushed, err := client.Push(data, at+"/allinone:"+version)
		if err != nil {
			t.Fatal(err)
		}
		if version == "1.0.0" {
			digest = pushed.Manifest.Digest
		}
	}
	return guarded(handler, user, password), digest
}

func nothing() *log.Logger { return log.New(io.Discard, "", 0) }

// release is a HelmRelease that opts in, with more of its spec.
func release(spec string) string {
	return `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: web, annotations: {gatewright.dev/policy: ""}}
spec:
  interval: 10m
` + spec
}

func source(kind, spec string) string {
	return "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " + kind + "\nmetadata: {name: src, namespace: web}\nspec: " + spec + "\n"
}

func ofRepository(version string) string {
	return "  chart: {spec: {chart: allinone, version: '" + version + "', sourceRef: {kind: HelmRepository, name: src}}}\n"
}

const (
	ofOCI   = "  chartRef: {kind: OCIRepository, name: src}\n"
	ofChart = "  chartRef: {kind: HelmChart, name: src}\n"
	ofGit   = "  chart: {spec: {chart: charts/allinone, sourceRef: {kind: GitRepository, name: src, namespace: flux-system}%s}}\n"
)

// TestSources renders a HelmRelease with its chart from each kind of source.
func TestSources(t *testing.T) {
	isolate(t)
	open, locked := helmRepository(t, "", ""), helmRepository(t, "me", "secret")
	oci, digest := ociRegistry(t, "", "")
	lockedOCI, _ := ociRegistry(t, "me", "secret")
	archive := pack(t, t.TempDir(), "3.0.0")
	encode := base64.StdEncoding.EncodeToString
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: web}\ndata: {username: " + encode([]byte("me")) + ", password: " + encode([]byte("secret")) + "}\n"
	docker := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: web}\nstringData:\n  .dockerconfigjson: '{\"auths\": {\"" +
		strings.TrimSuffix(strings.TrimPrefix(lockedOCI, "oci://"), "/charts") + "\": {\"auth\": \"" + encode([]byte("me:secret")) + "\"}}}'\n"
	testdata, err := filepath.Abs(filepath.Join(root, "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, manifests string
		sources         []string
		want            string // a hostname
	}{
		{"HTTP, a version", release(ofRepository("1.0.0")) + source("HelmRepository", "{url: "+open+"}"), nil, "v1-0-0.example.com"},
		{"HTTP, a range", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+open+"}"), nil, "v1-1-0.example.com"},
		{"HTTP, the newest", release(ofRepository("*")) + source("HelmRepository", "{url: "+open+"}"), nil, "v2-0-0.example.com"},
		{"HTTP with a login", release(ofRepository("1.0.0")) + source("HelmRepository", "{url: "+locked+", secretRef: {name: login}}") + secret, nil, "v1-0-0.example.com"},
		{"a HelmRepository of type oci", release(ofRepository("1.x")) + source("HelmRepository", "{type: oci, insecure: true, url: '"+oci+"'}"), nil, "v1-1-0.example.com"},
		{"a HelmRepository on disk", release(ofRepository("1.x")), []string{"HelmRepository/web/src=" + archive}, "v3-0-0.example.com"},
		{"a HelmRepository's charts on disk", release(ofRepository("1.x")), []string{"HelmRepository/web/src=" + testdata + "/charts"}, "checkout.example.com"},
		{"an OCIRepository by tag", release(ofOCI) + source("OCIRepository", "{insecure: true, url: '"+oci+"/allinone', ref: {tag: 1.0.0}}"), nil, "v1-0-0.example.com"},
		{"an OCIRepository by range", release(ofOCI) + source("OCIRepository", "{insecure: true, url: '"+oci+"/allinone', ref: {semver: 1.x, tag: 2.0.0}}"), nil, "v1-1-0.example.com"},
		{"an OCIRepository by digest", release(ofOCI) + source("OCIRepository", "{insecure: true, url: '"+oci+"/allinone', ref: {digest: '"+digest+"'}}"), nil, "v1-0-0.example.com"},
		{"a HelmRepository of type oci with a login", release(ofRepository("1.x")) + source("HelmRepository", "{type: oci, url: '"+lockedOCI+"', insecure: true, secretRef: {name: login}}") + secret, nil, "v1-1-0.example.com"},
		{"an OCIRepository with a login", release(ofOCI) + source("OCIRepository", "{url: '"+lockedOCI+"/allinone', insecure: true, ref: {tag: 1.0.0}, secretRef: {name: login}}") + docker, nil, "v1-0-0.example.com"},
		{"an OCIRepository on disk", release(ofOCI), []string{"OCIRepository/web/src=" + archive}, "v3-0-0.example.com"},
		{"a HelmChart", release(ofChart) + source("HelmChart", "{chart: allinone, version: 1.0.0, sourceRef: {kind: HelmRepository, name: src}}") +
			source("HelmRepository", "{url: "+open+"}"), nil, "v1-0-0.example.com"},
		{"a GitRepository", release(fmt.Sprintf(ofGit, "")), []string{"GitRepository/flux-system/src=" + testdata}, "checkout.example.com"},
		{"a GitRepository with values files", release(fmt.Sprintf(ofGit, ", valuesFiles: [charts/shop/values.yaml, values.yaml, none.yaml], ignoreMissingValuesFiles: true")),
			[]string{"GitRepository/flux-system/src=" + withValues(t, testdata)}, "files.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "web.yaml")
			if err := os.WriteFile(file, []byte(tt.manifests), 0o644); err != nil {
				t.Fatal(err)
			}
			result, err := Render(t.Context(), cli.FluxRequest{Files: []string{file}, Sources: tt.sources})
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range result.Changes {
				if strings.HasSuffix(change.Path, ".gatewright.yaml") && strings.Contains(string(change.After), "- "+tt.want+"\n") {
					return
				}
			}
			t.Errorf("no Certificate for %s: %v", tt.want, result)
		})
	}
}

// withValues is a repository with the charts and a values file beside them.
func withValues(t *testing.T, testdata string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "charts"), os.DirFS(filepath.Join(testdata, "charts"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("issuer: file\nroutes: {a: [files.example.com]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSourcesThatFail(t *testing.T) {
	isolate(t)
	locked := helmRepository(t, "me", "secret")
	oci, _ := ociRegistry(t, "", "")
	for _, tt := range []struct {
		name, manifests string
		want            []string
	}{
		{"no such version", release(ofOCI) + source("OCIRepository", "{insecure: true, url: '"+oci+"/allinone', ref: {tag: 9.9.9}}"), []string{"HelmRelease web/web", "9.9.9"}},
		{"a login that is not at hand", release(ofRepository("1.0.0")) + source("HelmRepository", "{url: "+locked+", secretRef: {name: login}}"), []string{"HelmRelease web/web", "401"}},
		{"a GitRepository", release(fmt.Sprintf(ofGit, "")), []string{"--source GitRepository/flux-system/src=PATH"}},
		{"no such chart", release(ofRepository("1.0.0")) + source("HelmRepository", "{insecure: true, url: '"+oci+"'}"), []string{"allinone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "web.yaml")
			manifests := tt.manifests
			if tt.name == "no such chart" {
				manifests = strings.Replace(manifests, "/charts'", "/nothing'", 1)
			}
			if err := os.WriteFile(file, []byte(manifests), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Render(t.Context(), cli.FluxRequest{Files: []string{file}})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in: %v", want, err)
				}
			}
		})
	}
}

// TestIndexOnce has three HelmReleases of one repository, whose index is downloaded
// once.
func TestIndexOnce(t *testing.T) {
	isolate(t)
	var charts http.Handler
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		charts.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	charts = chartServer(t, "", "", server.URL)
	manifests := source("HelmRepository", "{url: "+server.URL+"}")
	for _, name := range []string{"a", "b", "c"} {
		manifests += "---\n" + strings.Replace(release(ofRepository("1.1.0")), "name: web,", "name: "+name+",", 1)
	}
	_, output, exit := command(t, manifests)
	if exit != 0 || asked["/index.yaml"] != 1 || asked["/allinone-1.1.0.tgz"] != 3 {
		t.Errorf("exit code %d, asked for %v\n%s", exit, asked, output)
	}
}
