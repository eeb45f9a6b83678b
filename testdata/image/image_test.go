package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// platform is the one that the tests can run.
const platform = "linux/" + runtime.GOARCH

// build makes the image of the lean program, which make build has compiled with
// the same flags already, and returns the path and the digest that it prints.
func build(t *testing.T, flags ...string) (path, digest string) {
	t.Helper()
	var out strings.Builder
	args := []string{"-source", "../..", "-package", "./cmd/gatewright", "-out", t.TempDir(), "-version", "0.1.0",
		"-ldflags", "-s -w -X main.version=0.1.0"}
	if err := run(t.Context(), append(append(args, flags...), platform), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	return lines[0], lines[1]
}

func TestImageRuns(t *testing.T) {
	path, _ := build(t)
	root := t.TempDir()
	unpack(t, readLayout(t, path), root)

	output, err := exec.Command(filepath.Join(root, "gatewright"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(output), "0.1.0") {
		t.Errorf("gatewright version: %v\n%s", err, output)
	}
	certificates, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(certificates) || bytes.Count(certificates, []byte("BEGIN CERTIFICATE")) < 50 {
		t.Errorf("%d bytes of root certificates cannot be read, or are too few", len(certificates))
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 2 {
		t.Errorf("the image holds more than the program and the certificates: %v %v", entries, err)
	}
}

// Nothing of the machine is needed: the program is linked to no library.
func TestProgramIsStatic(t *testing.T) {
	path, _ := build(t)
	root := t.TempDir()
	unpack(t, readLayout(t, path), root)
	program, err := os.ReadFile(filepath.Join(root, "gatewright"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, []byte("ld-linux")) {
		t.Error("the program asks for a dynamic linker")
	}
}

func TestConfig(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	path, digest := build(t)
	files := readLayout(t, path)
	index, manifest, config := files.top(t)

	if got := index.Manifests[0]; got.Digest != digest || got.Annotations["org.opencontainers.image.ref.name"] != "0.1.0" {
		t.Errorf("index.json names %+v, printed was %s", got, digest)
	}
	if want := map[string]string{"os": "linux", "architecture": runtime.GOARCH}; cmp.Diff(want, manifest.Platform) != "" {
		t.Errorf("platform is %v, want %v", manifest.Platform, want)
	}
	want := configuration{OS: "linux", Architecture: runtime.GOARCH, Created: "1970-01-01T00:00:00Z"}
	want.Config.User = "65532:65532"
	want.Config.WorkingDir = "/"
	want.Config.Entrypoint = []string{"/gatewright"}
	want.Config.Labels = map[string]string{
		"org.opencontainers.image.title":       "gatewright",
		"org.opencontainers.image.description": "Listeners and certificates for the hostnames that routes ask for",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     "0.1.0",
	}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestSameSourceSameBytes(t *testing.T) {
	path, digest := build(t)
	again, digestAgain := build(t)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if digest != digestAgain || !bytes.Equal(first, second) {
		t.Errorf("two builds differ: %s and %s", digest, digestAgain)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dated, digestDated := build(t)
	_, _, config := readLayout(t, dated).top(t)
	if config.Created != "2023-11-14T22:13:20Z" || digestDated == digest {
		t.Errorf("SOURCE_DATE_EPOCH: created is %s, digest %s", config.Created, digestDated)
	}
}

func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/gatewright"
	_, digest := build(t, "-push", repository)

	reference, err := name.ParseReference(repository + ":0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(reference)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := index.Digest(); err != nil || got.String() != digest {
		t.Errorf("the registry has %s (%v), built was %s", got, err, digest)
	}
}

func TestWrongUse(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	for want, args := range map[string][]string{
		"give -version":                    {"linux/amd64"},
		"at least one platform":            {"-version", "1"},
		`platform "windows/amd64": want`:   {"-version", "1", "windows/amd64"},
		`platform "linux/arm/v7": want`:    {"-version", "1", "linux/arm/v7"},
		"platform linux/none: exit status": {"-version", "1", "-source", "../..", "linux/none"},
	} {
		err := run(t.Context(), append([]string{"-out", t.TempDir()}, args...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
}

// layoutFiles are the files of an OCI layout; every blob is what its name says.
type layoutFiles map[string][]byte

func readLayout(t *testing.T, path string) layoutFiles {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	files := layoutFiles{}
	for header, content := range entries(t, file) {
		files[header.Name] = content
		if sum, ok := strings.CutPrefix(header.Name, "blobs/sha256/"); ok && fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
			t.Errorf("%s holds something else", header.Name)
		}
	}
	if got := string(files["oci-layout"]); !strings.Contains(got, `"imageLayoutVersion": "1.0.0"`) {
		t.Errorf("oci-layout is %q", got)
	}
	return files
}

func entries(t *testing.T, archive io.Reader) map[*tar.Header][]byte {
	t.Helper()
	found := map[*tar.Header][]byte{}
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[header], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}

type descriptor struct {
	Digest      string
	Annotations map[string]string
	Platform    map[string]string
}

type index struct{ Manifests []descriptor }

type manifest struct {
	Config descriptor
	Layers []descriptor
}

type configuration struct {
	OS, Architecture, Created string
	Config                    struct {
		User, WorkingDir string
		Entrypoint       []string
		Labels           map[string]string
	}
}

// top follows index.json to the one image: the index of the layout, the
// descriptor of the image, and its config.
func (f layoutFiles) top(t *testing.T) (index, descriptor, configuration) {
	t.Helper()
	var outer, inner index
	f.decode(t, "index.json", &outer)
	f.decode(t, blob(outer.Manifests[0]), &inner)
	var image manifest
	f.decode(t, blob(inner.Manifests[0]), &image)
	var config configuration
	f.decode(t, blob(image.Config), &config)
	return outer, inner.Manifests[0], config
}

func blob(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }

func (f layoutFiles) decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(f[path], into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// unpack lays the image out as a runtime does.
func unpack(t *testing.T, files layoutFiles, root string) {
	t.Helper()
	_, described, _ := files.top(t)
	var image manifest
	files.decode(t, blob(described), &image)
	for _, layer := range image.Layers {
		unzipped, err := gzip.NewReader(bytes.NewReader(files[blob(layer)]))
		if err != nil {
			t.Fatal(err)
		}
		for header, content := range entries(t, unzipped) {
			path := filepath.Join(root, header.Name)
			if header.Typeflag == tar.TypeDir {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, header.FileInfo().Mode()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
