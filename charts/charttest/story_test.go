package charttest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// story is a Gateway in a namespace of its own, and a release of the chart whose
// sweep looks after it.
type story struct {
	release
	t        *testing.T
	recorder *recorder
	kubelet  clustertest.Kubelet
	infra    string
}

// feature is a set of values. Its policy is what is added to that of the
// Gateway, later what becomes of that once the hostname is gone, dry what is
// added to the values for a run at the end that has all to do again.
type feature struct{ values, policy, later, dry string }

func (f feature) gateway() string {
	if strings.Contains(f.values, "flux: {enabled: true}") {
		return fluxGateway
	}
	return gateway
}

func newStory(t *testing.T) story {
	t.Helper()
	cluster := clustertest.Start(t)
	r := release{cluster, cluster.TryHelm4, cluster.Namespace(t, restricted)}
	t.Cleanup(func() {
		if _, err := r.helm("uninstall", "sweep", "--namespace", r.namespace); err != nil {
			t.Error(err)
		}
	})
	return storyOf(t, r)
}

// storyOf is the story of a release that somebody else uninstalls.
func storyOf(t *testing.T, r release) story {
	t.Helper()
	cluster := r.cluster
	cluster.StartControllerManager(t) // a Pod needs the certificates that it hands out
	clustertest.Eventually(t, func() error {
		_, err := cluster.Client.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
	recorder := newRecorder()
	kubelet := clustertest.Kubelet{Programs: map[string]string{"": builtProgram(t)}, Proxy: cluster.Proxy(t, recorder.wrap)}
	return story{r, t, recorder, kubelet, cluster.Namespace(t)}
}

// builtProgram is what the image holds as /gatewright.
func builtProgram(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/gatewright-full")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run: make build", err)
	}
	return path
}

const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, labels: {}}
spec:
  gatewayClassName: test
  allowedListeners: {namespaces: {from: Same}}
  listeners: [{name: admin, hostname: admin.example.com, port: 8080, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec:
  parentRef: {name: edge}
  listeners: [{name: admin, hostname: more.example.com, port: 8080, protocol: HTTP}]
`

// route asks the Gateway, or the ListenerSet, for a hostname.
func route(name, parent string) string {
	return fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s}
spec:
  parentRefs: [{kind: %s, name: %s}]
  hostnames: [%s.example.com]
`, name, map[string]string{"edge": "Gateway", "more": "ListenerSet"}[parent], parent, name)
}

// fluxGateway is the same Gateway, which a HelmRelease made.
var fluxGateway = strings.Replace(gateway, "labels: {}",
	"labels: {helm.toolkit.fluxcd.io/name: platform, helm.toolkit.fluxcd.io/namespace: NS}", 1) + `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: platform}
spec: {interval: 1m}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}
`

// tell lets the hostnames a and b come, then a and c go while somebody else
// writes to the Gateway, and runs the sweep until nothing is left to do.
func (s story) tell(f feature) {
	s.t.Helper()
	s.installFlux()
	s.values("install", f.values, f.policy)
	s.apply(f.gateway(), route("a", "edge"), route("b", "edge"), route("c", "more"), route("d", "more"))
	s.interfere("gateways", "edge")
	s.interfere("listenersets", "more")
	s.sweep()
	secrets := s.issue()
	s.cluster.Kubectl(s.t, "", "delete", "httproute", "a", "c", "--namespace", s.infra)
	s.values("upgrade", f.values, f.later)
	s.rest()
	if f.dry != "" {
		for _, secret := range secrets {
			s.cluster.Apply(s.t, "cert-manager", s.infra, secret)
		}
		s.sweep() // marks those without a Certificate
		s.values("upgrade", "{"+f.dry+", "+strings.TrimPrefix(f.values, "{"), f.later)
		s.recorder.forget()
		s.sweep()
	}
}

// rest runs the sweep until it has nothing to do.
func (s story) rest() {
	s.t.Helper()
	for range 8 {
		if strings.Contains(s.sweep().Stdout, `"writes": 0`) {
			return
		}
	}
	s.t.Error("the sweep does not come to rest")
}

// values installs or upgrades the release, and returns what Helm prints.
func (s story) values(command, values, policy string) string {
	s.t.Helper()
	values = strings.ReplaceAll(strings.TrimSuffix(values, "}"), "NS", s.infra)
	if !strings.HasSuffix(strings.TrimSpace(values), ",") && values != "{" {
		values += ","
	}
	return s.put(s.t, command, fmt.Sprintf(`%s suspend: true, grace: 0s, settle: 0s, extraArgs: [--yes], policy: [{match: {namespace: %s},
		issuerRef: {kind: ClusterIssuer, name: letsencrypt}%s}]}`, values, s.infra, policy))
}

func (s story) apply(manifests ...string) {
	s.t.Helper()
	for _, manifest := range manifests {
		s.cluster.Apply(s.t, "people", s.infra, strings.ReplaceAll(manifest, "NS", s.infra))
	}
}

// sweep runs the CronJob's Pod once, as the Job controller would make it.
func (s story) sweep() clustertest.PodRun {
	s.t.Helper()
	run := s.runPod(s.cronJob(s.t).Spec.JobTemplate.Spec.Template)
	if run.Code != 0 {
		s.t.Fatalf("the sweep ends with %d:\n%s%s", run.Code, run.Stdout, run.Stderr)
	}
	return run
}

func (s story) runPod(template corev1.PodTemplateSpec) clustertest.PodRun {
	s.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "sweep-", Labels: template.Labels}, Spec: template.Spec}
	if _, err := s.cluster.Client.CoreV1().Pods(s.namespace).Create(s.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	return s.cluster.RunPod(s.t, s.kubelet, s.namespace, "app.kubernetes.io/instance=sweep")
}

// interfere makes the next write to an object come too late.
func (s story) interfere(resource, name string) {
	s.recorder.before("patch "+resource+".gateway.networking.k8s.io", func() {
		if _, err := s.cluster.TryKubectl("", "annotate", resource, name, "--namespace", s.infra, "note=x"); err != nil {
			s.t.Error(err)
		}
	})
}

// issue does what cert-manager does for each Certificate: it makes the Secret. It
// returns what it made.
func (s story) issue() []string {
	s.t.Helper()
	var list unstructured.UnstructuredList
	out := s.cluster.Kubectl(s.t, "", "get", "certificates", "--namespace", s.infra, "-o", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		s.t.Fatal(err)
	}
	var made []string
	for _, certificate := range list.Items {
		secret := corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("x")}}
		secret.APIVersion, secret.Kind = "v1", "Secret"
		secret.Name, _, _ = unstructured.NestedString(certificate.Object, "spec", "secretName")
		secret.Annotations = map[string]string{"cert-manager.io/certificate-name": certificate.GetName()}
		secret.Labels, _, _ = unstructured.NestedStringMap(certificate.Object, "spec", "secretTemplate", "labels")
		text, err := json.Marshal(secret)
		if err != nil {
			s.t.Fatal(err)
		}
		s.cluster.Apply(s.t, "cert-manager", s.infra, string(text))
		made = append(made, string(text))
	}
	return made
}

// installFlux defines HelmReleases, as far as the sweep looks at them.
func (s story) installFlux() {
	s.t.Helper()
	s.cluster.Apply(s.t, "people", "", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: helmreleases.helm.toolkit.fluxcd.io}
spec:
  group: helm.toolkit.fluxcd.io
  names: {kind: HelmRelease, listKind: HelmReleaseList, plural: helmreleases, singular: helmrelease}
  scope: Namespaced
  versions:
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`)
	s.cluster.Kubectl(s.t, "", "wait", "--for=condition=Established", "crd/helmreleases.helm.toolkit.fluxcd.io")
}
