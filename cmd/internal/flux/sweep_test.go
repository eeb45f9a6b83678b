package flux

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux"
	"github.com/gatewright/gatewright/flux/facetest"
	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender"
)

// byHand is what the sweep needs beside a chart to give it the same.
var byHand = map[string]string{
	// A render adds the grant beside the Certificate, by the will of who owns the
	// release. The sweep asks for the will of who owns the namespace.
	"certificates": `---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: edge-pay-tls-a3abe006f107-grant, namespace: TEAM, labels: {gatewright.dev/for: edge}}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: RELEASE}]
  to: [{group: "", kind: Secret, name: pay-tls}]
`,
}

// TestFacesOfTheSweep applies each chart as it is to the real API server, sweeps,
// and compares what is there with what the post-renderer gives. No chart of
// testdata is different, but for what byHand holds: none leaves a Gateway without
// listeners, and none gives a hostname to one namespace (hostnameOwnership),
// where the sweep knows more than a render.
func TestFacesOfTheSweep(t *testing.T) {
	charts, err := facetest.Charts(root)
	if err != nil {
		t.Fatal(err)
	}
	isolate(t)
	env := clustertest.Start(t)
	for _, chart := range charts {
		t.Run(chart, func(t *testing.T) {
			release, team := env.Namespace(t), env.Namespace(t)
			rendered, err := renderChart(t.Context(), cli.FluxRequest{}, flux.Chart{
				Path: filepath.Join(root, "testdata/charts", chart), ReleaseName: facetest.Release, Namespace: release,
				Values: map[string]any{"teamNamespace": team},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			env.Apply(t, "helm", release, ours(t, rendered.Manifests)+strings.NewReplacer("RELEASE", release, "TEAM", team).Replace(byHand[chart]))
			cluster, err := jobs.Connect(env.Config)
			if err != nil {
				t.Fatal(err)
			}
			report, err := cluster.Sweep(t.Context(), jobs.Options{Grace: time.Hour, Settle: time.Minute, Now: time.Now, Services: true})
			if err != nil || len(report.Problems) > 0 {
				t.Fatalf("sweep: %v, problems %v", err, report.Problems)
			}
			var live strings.Builder
			for _, namespace := range []string{release, team} {
				live.WriteString("---\n" + env.Kubectl(t, "", "get", "gateways,listenersets,certificates,referencegrants,httproutes", "-n", namespace, "-o", "yaml"))
			}
			want, err := facetest.Want(root, chart)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(faceOf(t, []byte(live.String())).String(), release, facetest.Namespace)
			if diff := cmp.Diff(want, strings.ReplaceAll(got, team, "payments")); diff != "" {
				t.Errorf("post-render (-), sweep (+):\n%s", diff)
			}
		})
	}
}

var matters = regexp.MustCompile(`gateway\.networking\.k8s\.io/|cert-manager\.io/|kind: Service\n`)

// ours returns the objects of a stream that matter here, without their Lists.
func ours(t *testing.T, stream []byte) string {
	t.Helper()
	var out strings.Builder
	for _, document := range postrender.Documents(stream) {
		if !matters.Match(document) {
			continue
		}
		var value struct {
			Kind  string
			Items []map[string]any
		}
		if err := yaml.Unmarshal(document, &value); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(value.Kind, "List") {
			out.WriteString("---\n" + string(document) + "\n")
		}
		for _, item := range value.Items {
			text, err := yaml.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("---\n" + string(text))
		}
	}
	return out.String()
}
