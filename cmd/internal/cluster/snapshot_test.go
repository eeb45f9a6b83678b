package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

const release = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, annotations: {gatewright.dev/policy: "issuerRef: {kind: ClusterIssuer, name: le}"}}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec: {hostnames: [shop.example.com], parentRefs: [{name: edge}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: lost}
spec: {hostnames: [lost.example.com], parentRefs: [{name: absent}]}
`

// run runs a command line, as gatewright-full does.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), args, strings.NewReader(stdin), &out, &errs, cli.Program{Snapshot: Snapshot})
	return out.String(), errs.String(), code
}

// What snapshot writes of a real cluster, plan takes for the whole of it.
func TestSnapshotRealServer(t *testing.T) {
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "helm", namespace, release)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	arguments := []string{"snapshot", "--kubeconfig", env.Kubeconfig, "--namespaces", namespace}

	toFile, errs, code := run(t, "", append(arguments, "-o", file)...)
	if code != 0 || toFile != "" || errs != "" {
		t.Fatalf("exit code %d, stdout %q, stderr %q", code, toFile, errs)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, _, _ := run(t, "", arguments...)
	if diff := cmp.Diff(string(data), written); diff != "" {
		t.Errorf("snapshot (-file +stdout):\n%s", diff)
	}
	plan, errs, code := run(t, "", "plan", "-f", file, "-o", "json")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, stderr %q", code, errs)
	}
	piped, _, _ := run(t, written, "plan", "-o", "json", "-f", "-")
	if diff := cmp.Diff(strings.ReplaceAll(plan, file, "stdin"), piped); diff != "" {
		t.Errorf("plan (-file +stdin):\n%s", diff)
	}
	for _, want := range []string{`"hostname": "shop.example.com"`, "NoMatchingParent"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan does not say %s:\n%s", want, plan)
		}
	}
}

// Without the right to list, the error names it and nothing is written.
func TestSnapshotForbidden(t *testing.T) {
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "test", namespace, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: nobody}")
	config := env.As(t, namespace, "nobody")
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, config.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	text := strings.NewReplacer("SERVER", config.Host, "CA", ca, "TOKEN", config.BearerToken).Replace(`
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "SERVER", certificate-authority: CA}}]
users: [{name: a, user: {token: TOKEN}}]
`)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := run(t, "", "snapshot", "--kubeconfig", kubeconfig)
	const want = "grant the verb list on httproutes.gateway.networking.k8s.io by a ClusterRole"
	if code != 1 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 8 {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, out, errs)
	}
}

// A namespace that does not exist is told, on stderr and in the plan of the file.
func TestSnapshotNoSuchNamespace(t *testing.T) {
	env := clustertest.Start(t)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	_, errs, code := run(t, "", "snapshot", "--kubeconfig", env.Kubeconfig, "--namespaces", "nonexist", "-o", file)
	const want = "gatewright: warning: Namespace nonexist: it was to be read and does not exist; correct --namespaces (namespaces in the chart's values)\n"
	if code != 0 || errs != want {
		t.Errorf("exit code %d, stderr (-want +got):\n%s", code, cmp.Diff(want, errs))
	}
	plan, errs, code := run(t, "", "plan", "-f", file)
	if code != 0 || errs != "" || !strings.Contains(plan, "NoSuchNamespace") {
		t.Errorf("exit code %d, stderr %q, plan:\n%s", code, errs, plan)
	}
}

// What a server does not serve is told by the plan of its snapshot.
func TestPlanNotServed(t *testing.T) {
	const file = `
apiVersion: gatewright.dev/v1alpha1
kind: Snapshot
kinds:
- {group: cert-manager.io, kind: Certificate, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: GRPCRoute, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: Gateway, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: HTTPRoute, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: ListenerSet, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: ReferenceGrant, served: false, complete: true, objects: 0}
- {group: gateway.networking.k8s.io, kind: TLSRoute, served: false, complete: true, objects: 0}
- {kind: Namespace, version: v1, served: true, complete: true, objects: 0}
`
	plan, errs, code := run(t, file, "plan", "-f", "-")
	for _, want := range []string{"NotServed", "serves no Gateways and no HTTPRoutes", "install cert-manager"} {
		if code != 0 || errs != "" || !strings.Contains(plan, want) {
			t.Fatalf("exit code %d, stderr %q, want %q in\n%s", code, errs, want, plan)
		}
	}
	if code := func() int { _, _, code := run(t, file, "plan", "-f", "-", "--strict=findings"); return code }(); code != 3 {
		t.Errorf("--strict=findings: exit code %d", code)
	}
}
