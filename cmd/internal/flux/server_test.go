package flux

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/flux/facetest"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// strictly has the server check a manifest as Flux sends it, and refuse a field
// that the definition does not know.
func strictly(t *testing.T, env *clustertest.Env, manifest string, more ...string) {
	t.Helper()
	arguments := append([]string{"apply", "--server-side", "--force-conflicts", "--validate=strict", "--field-manager=kustomize-controller", "-f", "-"}, more...)
	env.Kubectl(t, manifest, arguments...)
}

// TestExampleOnTheServer has the API server check every manifest of the example,
// with the definitions of Flux's kinds.
func TestExampleOnTheServer(t *testing.T) {
	t.Chdir(root)
	env := clustertest.Start(t)
	env.DefineFlux(t)
	for _, namespace := range []string{"flux-system", "gatewright", "infra", "web"} {
		strictly(t, env, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}")
	}
	checked := 0
	err := filepath.WalkDir(example, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "kustomization.yaml" || entry.Name() == "policy.yaml" {
			return err
		}
		strictly(t, env, string(read(t, name)), "--dry-run=server")
		checked++
		return nil
	})
	if err != nil || checked < 8 {
		t.Errorf("%d files checked: %v", checked, err)
	}
}

// TestRenderedOnTheServer applies the HelmRelease that flux render writes for each
// chart, and its companion file, to the API server.
func TestRenderedOnTheServer(t *testing.T) {
	charts, err := facetest.Charts(root)
	if err != nil {
		t.Fatal(err)
	}
	isolate(t)
	env := clustertest.Start(t)
	env.DefineFlux(t)
	for _, chart := range charts {
		if different[chart] != "" {
			continue
		}
		t.Run(chart, func(t *testing.T) {
			namespace := env.Namespace(t)
			file := fluxRelease(t, chart)
			manifest := strings.NewReplacer("flux-system", namespace, "targetNamespace: "+facetest.Namespace, "targetNamespace: "+namespace).Replace(string(read(t, file)))
			manifest += "  values: {teamNamespace: " + namespace + "}\n"
			if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			result, err := renderOne(t, file, "GitRepository/"+namespace+"/charts")
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Changes) == 0 && len(result.Plans[0].Gateways) > 0 {
				t.Error("nothing is written")
			}
			for _, change := range result.Changes {
				strictly(t, env, string(change.After))
			}
		})
	}
}
