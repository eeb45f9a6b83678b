package jobs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

// sampleCharts are charts that install by themselves, with the name of their
// Gateway and how many Certificates they get.
var sampleCharts = map[string]struct {
	gateway      string
	certificates int
}{
	chart:                            {"sample", 2},
	"../testdata/charts/allinone":    {"web", 4},
	"../testdata/charts/umbrella":    {"sample-edge", 2},
	"../testdata/charts/listenerset": {"edge", 4},
	"../testdata/charts/lists":       {"edge", 2},
}

// clusterCA are ClusterIssuers that sign, of the names that the charts ask for.
const clusterCA = `
{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: self}, spec: {selfSigned: {}}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: ca, namespace: cert-manager}
spec: {secretName: ca, isCA: true, commonName: ca, issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: self}}
---
{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: letsencrypt}, spec: {ca: {secretName: ca}}}
`

// signing starts cert-manager with an issuer that signs, for this test.
func signing(t *testing.T) {
	t.Helper()
	env := clustertest.Start(t)
	t.Cleanup(func() { // after cert-manager has ended
		env.Kubectl(t, "", "delete", "clusterissuer/self", "clusterissuer/letsencrypt")
		env.Kubectl(t, "", "delete", "certificates,certificaterequests,secrets", "--all", "-n", clustertest.CertManagerNamespace)
	})
	env.StartCertManager(t)
	env.Apply(t, "test", "", clusterCA)
}

// TestInstallThenSweep: what a chart gets by the post-renderer is issued by
// cert-manager, and there is nothing left to do for the sweep.
func TestInstallThenSweep(t *testing.T) {
	t.Parallel()
	signing(t)
	for path := range sampleCharts {
		// What Helm reads, go test must see, or it takes an old result for a new chart.
		if err := os.CopyFS(t.TempDir(), os.DirFS(path)); err != nil {
			t.Fatal(err)
		}
		ways := helms
		if path != chart {
			ways = []helm{helms[0], helms[2]} // the charts differ, the ways less
		}
		for _, how := range ways {
			t.Run(fmt.Sprint(path[strings.LastIndex(path, "/")+1:], "/", how.name), func(t *testing.T) {
				t.Parallel()
				installThenSweep(newLands(t, how).release(t, "sample"), path)
			})
		}
	}
}

func installThenSweep(r *release, path string) {
	want := sampleCharts[path]
	r.Apply(r.t, "test", r.namespace, "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: ca}, spec: {selfSigned: {}}}")
	r.options.Gateways = []engine.ObjectName{{Namespace: r.namespace, Name: want.gateway}}
	err := r.put(path, `{note: "", routes: {shop: [a.example.com, b.example.com]}, policy: {issuerRef: {kind: ClusterIssuer, name: letsencrypt}}}`, r.rendering()...)
	if err != nil {
		r.t.Fatal(err)
	}
	certificates := strings.Fields(r.Kubectl(r.t, "", "wait", "-n", r.namespace, "certificate", "-l", engine.LabelFor, "--for=condition=Ready", "--timeout=90s", "-o", "name"))
	if len(certificates) != want.certificates {
		r.t.Errorf("%d Certificates, want %d: %q", len(certificates), want.certificates, certificates)
	}
	versions := func() string {
		return r.Kubectl(r.t, "", "get", "gateways,listenersets,httproutes,referencegrants", "-n", r.namespace, "-o",
			`jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	before := versions()
	var recorder clustertest.Recorder
	r.config = clustertest.Wrapped(r.config, recorder.Wrap)
	got := r.sweepWithProblems()
	if got.Writes != 0 || len(got.Changes) != 0 || len(got.Problems) != 0 {
		r.t.Errorf("the sweep has something to do: %s", lines(got))
	}
	for _, call := range recorder.Calls() {
		if call.Writes() {
			r.t.Errorf("the sweep asked the server to write: %s", call)
		}
	}
	if after := versions(); after != before {
		r.t.Errorf("objects changed; before:\n%s\nafter:\n%s", before, after)
	}
	r.name = want.gateway
	r.Apply(r.t, "me", r.namespace, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: late}, spec: {parentRefs: [{name: EDGE}], hostnames: [late.example.com]}}`))
	r.sweep()
	if r.listener("late.example.com") == nil {
		r.t.Error("the sweep does not serve a route that came later")
	}
}

// TestSecretOutlivesItsCertificate: a hostname that the chart drops while another
// release uses it loses its Certificate with the upgrade. The sweep makes it
// again, and what was issued is still good.
func TestSecretOutlivesItsCertificate(t *testing.T) {
	t.Parallel()
	signing(t)
	const signed = `policy: {issuerRef: {kind: ClusterIssuer, name: letsencrypt}}`
	r := newLands(t, helms[0]).release(t, "edge")
	issued := func() string {
		t.Helper()
		name := certificateOf("edge", "a.example.com")
		r.Kubectl(t, "", "wait", "-n", r.namespace, "certificate", name, "--for=condition=Ready", "--timeout=90s")
		return r.Kubectl(t, "", "get", "secret", name, "-n", r.namespace, "-o", `jsonpath={.data.tls\.crt}`)
	}
	r.upgrade(`{routes: {shop: [a.example.com]}, ` + signed + `}`)
	before, certificate := issued(), r.certificate("a.example.com").GetUID()
	r.other("a.example.com")
	r.upgrade(`{routes: {}, ` + signed + `}`)
	r.sweep()
	if after := issued(); before == "" || after != before {
		t.Error("it was issued anew")
	}
	if r.certificate("a.example.com").GetUID() == certificate {
		t.Error("Helm leaves the Certificate by now")
	}
}
