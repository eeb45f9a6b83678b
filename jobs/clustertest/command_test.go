package clustertest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

var gatewayKind = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}

const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: any
  listeners:
  - {name: http, port: 80, protocol: HTTP}
`

func TestApplyAndKubectl(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t, "team=a")
	live := cluster.Apply(t, "one", namespace, "---\n"+gateway+"---\n")
	if len(live) != 1 || live[0].GetNamespace() != namespace || live[0].GetGeneration() != 1 {
		t.Errorf("got %v, want one Gateway in %s", live, namespace)
	}
	_, err := cluster.TryApply("two", namespace, strings.Replace(gateway, "port: 80", "port: 81", 1))
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one"`) {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := cluster.Kubectl(t, "", "get", "gateway", "edge", "-n", namespace, "-o", "jsonpath={.spec.listeners[*].port}"); got != "80" {
		t.Errorf("the port is %q", got)
	}
	if got := cluster.Kubectl(t, gateway, "apply", "--dry-run=client", "-f", "-", "-o", "name"); !strings.Contains(got, "edge") {
		t.Errorf("kubectl did not read its input: %q", got)
	}
	_, err = cluster.TryKubectl("", "get", "gateway", "none", "-n", namespace)
	if err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("got %v, want what kubectl said", err)
	}
	if got := cluster.Kubectl(t, "", "get", "namespace", "-l", "team=a", "-o", "name"); got != "namespace/"+namespace+"\n" {
		t.Errorf("labelled namespaces: %q", got)
	}
}

// The kinds of Flux are served when they are defined, and the server refuses what
// their definitions do not know.
func TestDefineFlux(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.DefineFlux(t)
	namespace := cluster.Namespace(t)
	release := "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a}, spec: {interval: 1m, suspend: true, chartRef: {kind: OCIRepository, name: a}}, status: {observedGeneration: 3}}"
	live := cluster.Apply(t, "test", namespace, release)[0]
	status, _ := live.Object["status"].(map[string]any) // is applied apart, and has a default
	if status["observedGeneration"] != int64(-1) || live.Object["spec"].(map[string]any)["suspend"] != true {
		t.Errorf("got %v", live.Object)
	}
	if out := cluster.Kubectl(t, "", "get", "helmreleases,helmrepositories,kustomizations,alerts", "-n", namespace, "-o", "name"); !strings.HasSuffix(out, "/a\n") {
		t.Errorf("got %q", out)
	}
	for wrong, says := range map[string]string{
		strings.Replace(release, "interval: 1m, ", "", 1):                "spec.interval",
		strings.Replace(release, "kind: OCIRepository", "kind: X", 1):    "Unsupported value",
		strings.Replace(release, "suspend: true, ", "suspended: 1, ", 1): "suspended",
	} {
		if _, err := cluster.TryApply("test", namespace, wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s\nerror %v, want one that says %s", wrong, err, says)
		}
	}
}

// What a test leaves behind must not be in the way of others, with or without a
// controller manager.
func TestNamespaceIsRemoved(t *testing.T) {
	cluster := clustertest.Start(t)
	var namespace string
	t.Run("inner", func(t *testing.T) {
		namespace = cluster.Namespace(t)
		cluster.Apply(t, "test", namespace, gateway)
	})
	out := cluster.Kubectl(t, "", "get", "gateways", "-n", namespace, "-o", "name")
	if out != "" {
		t.Errorf("left: %s", out)
	}
	if _, err := cluster.TryApply("test", namespace, gateway); err == nil {
		t.Error("the namespace still takes new objects")
	}
}

// writeChart writes a chart with one Gateway and returns its folder.
func writeChart(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":             "{apiVersion: v2, name: edge, version: 0.1.0}",
		"templates/gateway.yaml": gateway,
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestHelms(t *testing.T) {
	cluster := clustertest.Start(t)
	for name, helm := range map[string]func(testing.TB, ...string) string{"3": cluster.Helm3, "4": cluster.Helm4} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster.Namespace(t)
			if got := helm(t, "version", "--short"); !strings.HasPrefix(got, "v"+name+".") {
				t.Errorf("version %s", got)
			}
			helm(t, "install", "r", writeChart(t), "--namespace", namespace)
			if got := helm(t, "list", "--namespace", namespace, "--short"); got != "r\n" {
				t.Errorf("releases: %q", got)
			}
		})
	}
}

func TestAsServiceAccount(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "test", namespace, `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: `+namespace+`}]
`)
	client, err := kubernetes.NewForConfig(cluster.As(t, namespace, "reader"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("what it may do: %v", err)
	}
	_, err = client.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:"+namespace+":reader") {
		t.Errorf("what it may not do: got %v, want forbidden", err)
	}
}
