package clustertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// DefineFlux lets the server take the kinds of Flux: HelmRelease, Kustomization,
// the sources, Provider and Alert. Their definitions are those of
// testdata/crds/flux, made of the types that Flux publishes. A server does not
// know them before. They are served when DefineFlux returns.
func (e *Env) DefineFlux(t testing.TB) {
	t.Helper()
	dirs, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dirs[ownModule], "testdata", "crds", "flux", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in testdata/crds/flux: %v", err)
	}
	var kinds []schema.GroupVersionKind
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e.Apply(t, "clustertest", "", string(text))
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, version := range crd.Spec.Versions {
			kinds = append(kinds, schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind})
		}
	}
	Eventually(t, func() error { return e.served(t.Context(), kinds) })
}

// served says whether objects of the kinds can be listed. It asks for all at
// once: a server takes its time for the first list of each.
func (e *Env) served(ctx context.Context, kinds []schema.GroupVersionKind) error {
	var all errgroup.Group
	for _, kind := range kinds {
		all.Go(func() error {
			mapping, err := e.mapping(kind)
			if err != nil {
				return err
			}
			_, err = e.Dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{})
			return err
		})
	}
	return all.Wait()
}
