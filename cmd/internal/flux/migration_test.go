package flux

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux"
	"github.com/gatewright/gatewright/flux/facetest"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// TestMigration moves a release of the real Helm 3 with the post-renderer to what
// flux render writes, by the commands of the page, on the real API server. Helm
// upgrades here as helm-controller would. Every object stays the same one, so that
// nothing is issued again.
func TestMigration(t *testing.T) {
	isolate(t)
	for chart, companions := range map[string]int{"allinone": 4, "certificates": 1} {
		t.Run(chart, func(t *testing.T) { migrate(t, filepath.Join(root, "testdata/charts", chart), companions) })
	}
}

func migrate(t *testing.T, chart string, objects int) {
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	team := env.Namespace(t)
	helm := func(verb, postRenderer string, arguments ...string) {
		t.Helper()
		arguments = append([]string{verb, "web", chart, "-n", namespace, "--set", "teamNamespace=" + team, "--post-renderer", postRenderer}, arguments...)
		if out, err := env.TryHelmWith(3, []string{asPostRenderer + "=1"}, arguments...); err != nil {
			t.Fatalf("helm %s: %v\n%s", verb, err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	helm("install", self, "--post-renderer-args", "--namespace="+namespace)
	before := companionsIn(t, env, namespace, team)
	listeners := liveFace(t, env, namespace).Listeners
	if len(before) != objects || len(listeners) < 5 {
		t.Fatalf("companions %v, listeners %v", before, listeners)
	}
	keep, cleanUp := pageCommands(t)
	annotate := func(command string) {
		t.Helper()
		for _, ns := range []string{namespace, team} {
			env.Kubectl(t, "", append([]string{"annotate"}, strings.Fields(strings.Replace(command, "-n web", "-n "+ns, 1))...)...)
		}
	}
	annotate(keep)
	upgrade, companions := migrated(t, chart, namespace, team)
	env.Kubectl(t, companions, "apply", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller", "-f", "-")
	helm("upgrade", upgrade)
	annotate(cleanUp)
	if diff := cmp.Diff(before, companionsIn(t, env, namespace, team)); diff != "" {
		t.Errorf("objects by name and uid (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(listeners, liveFace(t, env, namespace).Listeners); diff != "" {
		t.Errorf("listeners (-before +after):\n%s", diff)
	}
	if left := env.Kubectl(t, "", "get", "certificates,referencegrants", "-A", "-l", "gatewright.dev/for", "-o", "yaml"); strings.Contains(left, "helm.sh/resource-policy") {
		t.Errorf("an annotation is left:\n%s", left)
	}
	// The release does not hold the companions any more.
	if manifest, err := env.TryHelmWith(3, nil, "get", "manifest", "web", "-n", namespace); err != nil || strings.Contains(manifest, "gatewright.dev/for") {
		t.Errorf("helm get manifest: %v\n%s", err, manifest)
	}
}

// pageCommands returns what the page has kubectl annotate, before and after.
func pageCommands(t *testing.T) (keep, cleanUp string) {
	t.Helper()
	page := string(read(t, filepath.Join(root, "flux/migration.md")))
	commands := regexp.MustCompile(`(?m)^ +\$ kubectl annotate (.*)$`).FindAllStringSubmatch(page, -1)
	if len(commands) != 2 {
		t.Fatalf("the page has the commands %q, want two", commands)
	}
	return commands[0][1], commands[1][1]
}

// migrated renders a HelmRelease of the release. It returns a post-renderer that
// gives Helm what helm-controller would have, and the companion file.
func migrated(t *testing.T, chart, namespace, team string) (postRenderer, companions string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "web.yaml")
	manifest := `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: ` + namespace + `, annotations: {gatewright.dev/policy: ""}}
spec:
  interval: 10m
  chart: {spec: {chart: ` + filepath.Base(chart) + `, sourceRef: {kind: GitRepository, name: charts}}}
  values: {teamNamespace: ` + team + `}
`
	if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := Render(t.Context(), cli.FluxRequest{Files: []string{file}, Sources: []string{"GitRepository/" + namespace + "/charts=" + filepath.Dir(chart)}})
	if err != nil || len(result.Changes) != 2 {
		t.Fatalf("render: %v, changes %v", err, result)
	}
	var hr v2.HelmRelease
	if err := yaml.UnmarshalStrict(result.Changes[1].After, &hr); err != nil {
		t.Fatal(err)
	}
	rendered, err := renderChart(t.Context(), cli.FluxRequest{}, flux.Chart{Path: chart, ReleaseName: "web", Namespace: namespace, Values: hr.GetValues()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := flux.Steps(&hr, rendered)
	if err != nil {
		t.Fatal(err)
	}
	postRenderer = filepath.Join(dir, "steps.sh")
	for name, text := range map[string]string{"stream.yaml": string(stream), "steps.sh": "#!/bin/sh\ncat > /dev/null\ncat " + dir + "/stream.yaml\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return postRenderer, string(result.Changes[0].After)
}

// companionsIn returns the uids of what gatewright made, by name.
func companionsIn(t *testing.T, env *clustertest.Env, namespaces ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, namespace := range namespaces {
		lines := env.Kubectl(t, "", "get", "certificates,referencegrants,httproutes", "-n", namespace, "-l", "gatewright.dev/for",
			"-o", `jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid}{"\n"}{end}`)
		for line := range strings.Lines(lines) {
			fields := strings.Fields(line)
			out[fields[0]+" "+fields[1]] = fields[2]
		}
	}
	return out
}

func liveFace(t *testing.T, env *clustertest.Env, namespace string) facetest.Face {
	t.Helper()
	return faceOf(t, []byte(env.Kubectl(t, "", "get", "gateways", "-n", namespace, "-o", "yaml")))
}
