// Package crds holds the definitions of Flux's kinds for the API server of our
// tests. Flux publishes types and these are made of them, without the
// descriptions: "UPDATE=1 go test" in this folder writes them anew, and without it
// the test fails where a module in go.mod has other types by now.
package crds

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/yaml"

	_ "github.com/fluxcd/helm-controller/api/v2"
	_ "github.com/fluxcd/kustomize-controller/api/v1"
	_ "github.com/fluxcd/notification-controller/api/v1beta3"
	_ "github.com/fluxcd/source-controller/api/v1"
)

// paths are those of the packages with the types.
var paths = []string{
	"github.com/fluxcd/helm-controller/api/v2",
	"github.com/fluxcd/kustomize-controller/api/v1",
	"github.com/fluxcd/notification-controller/api/v1beta3",
	"github.com/fluxcd/source-controller/api/v1",
}

func TestDefinitions(t *testing.T) {
	want := generate(t)
	old, err := filepath.Glob("flux/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if want[name] == nil {
			t.Errorf("%s: no package has this kind", name)
		}
	}
	for name, text := range want {
		committed, err := os.ReadFile(name)
		if diff := cmp.Diff(string(text), string(committed)); diff != "" {
			t.Errorf("%s (-generated +committed): %v\n%s", name, err, diff)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(name, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if !slices.Contains(old, "flux/helmreleases.helm.toolkit.fluxcd.io.yaml") {
		t.Error("no definition of HelmRelease")
	}
}

// generate makes the definitions, by the names of their files.
func generate(t *testing.T) map[string][]byte {
	t.Helper()
	roots, err := loader.LoadRoots(paths...)
	if err != nil {
		t.Fatal(err)
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		t.Fatal(err)
	}
	parser := &crd.Parser{Collector: &markers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}}
	crd.AddKnownTypes(parser)
	for _, root := range roots {
		parser.NeedPackage(root)
	}
	out := map[string][]byte{}
	descriptions := 0
	for _, kind := range crd.FindKubeKinds(parser, crd.FindMetav1(roots)) {
		parser.NeedCRDFor(kind, &descriptions)
		definition := parser.CustomResourceDefinitions[kind]
		crd.FixTopLevelMetadata(definition)
		out["flux/"+definition.Name+".yaml"] = encode(t, definition)
	}
	// Types are checked no further than the definitions need, hence errors of types.
	if loader.PrintErrors(roots, packages.TypeError) {
		t.Fatal("the types cannot be read, see above")
	}
	return out
}

// encode leaves out the status, which is the server's.
func encode(t *testing.T, definition any) []byte {
	t.Helper()
	text, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := bytes.Cut(text, []byte("\nstatus:\n"))
	if !found {
		t.Fatalf("no status in\n%s", text)
	}
	return append(text, '\n')
}
