package flux

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux"
	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// turns is a platform release that Flux and the sweep apply in turns, and a route
// of a team, which only the sweep serves.
type turns struct {
	*clustertest.Env
	t             *testing.T
	release, team string // namespaces
	file          string // of the HelmRelease
}

func newTurns(t *testing.T) *turns {
	isolate(t)
	env := clustertest.Start(t)
	env.DefineFlux(t)
	w := &turns{Env: env, t: t, release: env.Namespace(t), team: env.Namespace(t), file: filepath.Join(t.TempDir(), "edge.yaml")}
	w.save(fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge, namespace: %s}
spec:
  interval: 10m
  chart: {spec: {chart: platform, sourceRef: {kind: GitRepository, name: charts}}}
  values: {issuer: {create: false}, gateway: {policy: {hostnames: null}}}
`, w.release))
	w.Apply(t, "team", w.team, fmt.Sprintf(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app}
spec:
  parentRefs: [{name: edge, namespace: %s}]
  hostnames: [app.example.com]
  rules: [{backendRefs: [{name: app, port: 80}]}]
`, w.release))
	return w
}

func (w *turns) save(manifest string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(manifest), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// opt puts the annotation on the HelmRelease, or takes it off, and renders.
func (w *turns) opt(in bool) {
	w.t.Helper()
	const annotation = ", annotations: {gatewright.dev/policy: ''}}"
	manifest := strings.Replace(string(read(w.t, w.file)), annotation, "}", 1)
	if in {
		manifest = strings.Replace(manifest, "}", annotation, 1)
	}
	w.save(manifest)
	result, err := Render(w.t.Context(), w.request())
	if err != nil || len(result.Changes) != 2 {
		w.t.Fatalf("render: %v, changes %v", err, result)
	}
	for _, change := range result.Changes {
		if change.After == nil {
			err = os.Remove(change.Path)
		} else {
			err = os.WriteFile(change.Path, change.After, 0o644)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *turns) request() cli.FluxRequest {
	return cli.FluxRequest{Files: []string{w.file}, Sources: []string{"GitRepository/" + w.release + "/charts=" + filepath.Join(root, "testdata/charts")}}
}

// flux applies what is in the files as Flux's controllers do: each under its name
// and by force. It returns what helm-controller would apply.
func (w *turns) flux() string {
	w.t.Helper()
	var hr v2.HelmRelease
	if err := yaml.UnmarshalStrict(read(w.t, w.file), &hr); err != nil {
		w.t.Fatal(err)
	}
	rendered, err := renderChart(w.t.Context(), w.request(), flux.Chart{
		Path: filepath.Join(root, "testdata/charts/platform"), ReleaseName: hr.Name, Namespace: hr.Namespace, Values: hr.GetValues(),
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	stream, err := flux.Steps(&hr, rendered)
	if err != nil {
		w.t.Fatal(err)
	}
	live := w.force("kustomize-controller", string(read(w.t, w.file)), "--validate=strict", "-o", "jsonpath={.metadata.generation}")
	w.force("helm-controller", ours(w.t, stream))
	status := `{"status": {"observedGeneration": ` + live + `, "conditions": [{"type": "Ready", "status": "True", "reason": "UpgradeSucceeded", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	w.Kubectl(w.t, "", "patch", "helmrelease", "edge", "-n", w.release, "--subresource=status", "--type=merge", "-p", status)
	if companion, err := os.ReadFile(flux.CompanionPath(w.file)); err == nil {
		w.force("kustomize-controller", string(companion))
	}
	return ours(w.t, stream)
}

func (w *turns) force(manager, manifest string, more ...string) string {
	w.t.Helper()
	arguments := []string{"apply", "--server-side", "--force-conflicts", "--field-manager=" + manager, "-n", w.release, "-f", "-"}
	return w.Kubectl(w.t, manifest, append(arguments, more...)...)
}

// sweep runs one sweep.
func (w *turns) sweep() {
	w.t.Helper()
	cluster, err := jobs.Connect(w.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	report, err := cluster.Sweep(w.t.Context(), jobs.Options{Grace: time.Hour, Settle: time.Minute, Now: time.Now})
	if err != nil || len(report.Problems) > 0 {
		w.t.Fatalf("sweep: %v, problems %v", err, report.Problems)
	}
}

func (w *turns) gateway() *unstructured.Unstructured {
	w.t.Helper()
	var object unstructured.Unstructured
	if err := json.Unmarshal([]byte(w.Kubectl(w.t, "", "get", "gateway", "edge", "-n", w.release, "-o", "json")), &object); err != nil {
		w.t.Fatal(err)
	}
	return &object
}

// want checks the hostnames of the listeners, and that each has its Certificate.
func (w *turns) want(when string, hostnames ...string) {
	w.t.Helper()
	listeners, _, _ := unstructured.NestedSlice(w.gateway().Object, "spec", "listeners")
	var got []string
	for _, l := range listeners {
		hostname, _, _ := unstructured.NestedString(l.(map[string]any), "hostname")
		got = append(got, hostname)
	}
	slices.Sort(got)
	if diff := cmp.Diff(append([]string{""}, hostnames...), got); diff != "" {
		w.t.Fatalf("%s: listeners (-want +got):\n%s", when, diff)
	}
	certificates := w.Kubectl(w.t, "", "get", "certificates", "-n", w.release, "-o", "jsonpath={.items[*].spec.dnsNames[*]}")
	names := strings.Fields(certificates)
	slices.Sort(names)
	if diff := cmp.Diff(hostnames, names); diff != "" {
		w.t.Fatalf("%s: Certificates (-want +got):\n%s", when, diff)
	}
}

// wantNoDrift compares what lives with what helm-controller would make of it,
// which is how it detects drift.
func (w *turns) wantNoDrift(stream string) {
	w.t.Helper()
	var would struct{ Items []unstructured.Unstructured }
	out := w.force("helm-controller", stream, "--dry-run=server", "-o", "json")
	if err := json.Unmarshal([]byte(out), &would); err != nil {
		w.t.Fatal(err)
	}
	for _, object := range would.Items {
		if object.GetKind() == "Gateway" {
			if diff := cmp.Diff(w.gateway().Object["spec"], object.Object["spec"]); diff != "" {
				w.t.Fatalf("drift (-live +helm-controller):\n%s", diff)
			}
			return
		}
	}
	w.t.Fatalf("no Gateway in %s", out)
}

// TestFluxAndTheSweepInTurns has both apply in turns: first with the sweep alone
// serving, then with the release rendered, then without again. No listener is lost
// on the way there, and nothing changes while nothing has to.
func TestFluxAndTheSweepInTurns(t *testing.T) {
	w := newTurns(t)
	w.flux()
	w.sweep()
	both := []string{"app.example.com", "status.example.com"}
	w.want("the sweep alone", both...)
	w.opt(true)
	var generation int64
	for round := range 10 {
		stream := w.flux()
		w.want(fmt.Sprintf("round %d, Flux", round), both...)
		w.sweep()
		w.want(fmt.Sprintf("round %d, sweep", round), both...)
		w.wantNoDrift(stream)
		if now := w.gateway().GetGeneration(); round > 1 && now != generation {
			t.Fatalf("round %d: generation %d, was %d", round, now, generation)
		}
		generation = w.gateway().GetGeneration()
	}
	w.opt(false)
	w.flux()
	w.sweep()
	w.want("without flux render again", both...)
}
