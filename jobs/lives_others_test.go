package jobs_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// refusedOf are the hostnames that are refused in the world, with the words.
func (w *world) refusedOf(got *report.Report) map[string]string {
	out := map[string]string{}
	for _, v := range got.Refused {
		if v.Parent.Namespace == w.namespace {
			out[v.Hostname] = v.Message
		}
	}
	return out
}

// byHand edits one field of the second listener as kubectl edit does.
func byHand(field, value string) func(*world) {
	return func(w *world) {
		w.Kubectl(w.t, "", "patch", "gateway", "edge", "-n", w.namespace, "--type=json", "--field-manager=kubectl-edit", "-p",
			`[{"op": "replace", "path": "/spec/listeners/1/`+field+`", "value": `+value+`}]`)
	}
}

// byForce applies fields of our listener by force, as Flux does.
func byForce(fields string) func(*world) {
	return func(w *world) {
		w.Kubectl(w.t, `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge}, spec: {gatewayClassName: test, listeners: [{name: `+
			engine.ListenerName("a.example.com", 443)+`, port: 443, protocol: HTTPS, `+fields+`}]}}`,
			"apply", "--server-side", "--force-conflicts", "--field-manager=helm-controller", "-n", w.namespace, "-f", "-")
	}
}

// editsOfOthers are what somebody else does to our listener of a.example.com.
var editsOfOthers = map[string]struct {
	edit func(*world)
	// says is in the verdict; without it there is none.
	says string
}{
	"who may attach":             {byHand("allowedRoutes/namespaces/from", `"Same"`), `conflict with "kubectl-edit" using gateway.networking.k8s.io/v1 on allowedRoutes.namespaces.from`},
	"the hostname":               {byHand("hostname", `"z.example.com"`), `on hostname`},
	"the port":                   {byHand("port", `8443`), `on port`},
	"the Secret":                 {byHand("tls/certificateRefs", `[{"name": "mine"}]`), `on tls.certificateRefs`},
	"a field that we leave out":  {byHand("allowedRoutes/kinds", `[{"kind": "HTTPRoute"}]`), ""},
	"who may attach, by force":   {byForce(`allowedRoutes: {namespaces: {from: Same}}`), `conflict with "helm-controller" on allowedRoutes.namespaces.from`},
	"the Secret, by force":       {byForce(`tls: {certificateRefs: [{name: mine}]}`), `conflict with "helm-controller" on tls.certificateRefs`},
	"the same as ours, by force": {byForce(`hostname: a.example.com`), ""},
}

// TestSomebodyElseInOurListener: the field that somebody else took keeps its
// value, its hostname is told so, and all other hostnames are added.
func TestSomebodyElseInOurListener(t *testing.T) {
	t.Parallel()
	for name, test := range editsOfOthers {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply("me", strings.Replace(gatewayWithPolicy, "attach:", "httpsPort: 443, attach:", 1)) // Auto follows what lives
			w.apply("me", route("shop", "a.example.com"))
			w.sweep()
			w.issued("a.example.com") // else its listener keeps whatever Secret it has
			test.edit(w)
			edited := w.get("gateway", "edge").Object["spec"].(map[string]any)["listeners"].([]any)[1]
			w.apply("me", route("blog", "b.example.com"))
			got := w.sweep()
			listeners := w.get("gateway", "edge").Object["spec"].(map[string]any)["listeners"].([]any)
			if diff := gocmp.Diff(edited, listeners[1]); diff != "" || len(listeners) != 3 {
				t.Errorf("%d listeners; the one that was edited changed (-before +after):\n%s", len(listeners), diff)
			}
			refused := w.refusedOf(got)
			if says := refused["a.example.com"]; says == "" != (test.says == "") || !strings.Contains(says, test.says) || refused["b.example.com"] != "" {
				t.Errorf("refused: %q, want %q", refused, test.says)
			}
			w.wantQuiet("edge")
			for _, c := range w.sweep().Changes {
				if c.Namespace == w.namespace && c.Outcome == report.Made {
					t.Errorf("the sweep claims to have changed something: %+v", c)
				}
			}
		})
	}
}

// issued says of the Certificate of a hostname that it is ready, as cert-manager
// does.
func (w *world) issued(hostname string) {
	w.t.Helper()
	w.Kubectl(w.t, "", "patch", "certificate", certificateOf("edge", hostname), "-n", w.namespace, "--subresource=status", "--type=merge",
		"-p", `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Ready","message":""}]}}`)
}

// TestAdmissionPolicy: of two new hostnames a policy of the cluster refuses one;
// the other is added, and the one has the words of the policy as its verdict.
func TestAdmissionPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("test", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-evil-NS}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [gateway.networking.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [gateways]}]}
  validations:
  - expression: "!object.spec.listeners.exists(l, has(l.hostname) && l.hostname.startsWith('evil.'))"
    message: no evil hostnames here
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-evil-NS}
spec: {policyName: no-evil-NS, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}}}
`)
	t.Cleanup(func() {
		w.Kubectl(t, "", "delete", "validatingadmissionpolicybinding/no-evil-"+w.namespace, "validatingadmissionpolicy/no-evil-"+w.namespace)
	})
	clustertest.Eventually(t, func() error { // the server takes its time to obey a policy
		_, err := w.TryKubectl(strings.Replace(gatewayWithPolicy, "port: 80, protocol: HTTP", "port: 80, protocol: HTTP, hostname: evil.example.com", 1),
			"apply", "--server-side", "--dry-run=server", "--field-manager=me", "-n", w.namespace, "-f", "-")
		if err == nil {
			return errors.New("the policy is not obeyed yet")
		}
		return nil
	})
	w.apply("me", route("shop", "evil.example.com", "good.example.com"))
	for range 2 {
		got := w.sweep()
		w.wantListeners("edge", "http", "good.example.com:443")
		if refused := w.refusedOf(got); len(refused) != 1 || !strings.Contains(refused["evil.example.com"], "no evil hostnames here") {
			t.Errorf("refused: %q", refused)
		}
	}
	w.wantQuiet("edge")
}

// TestListenerOfSomebodyElse: a listener that another manager made is that one's,
// even with the name that we would give, and never becomes ours.
func TestListenerOfSomebodyElse(t *testing.T) {
	t.Parallel()
	for name, listener := range map[string]string{
		"another name": "auto-1",
		"our name":     engine.ListenerName("a.example.com", 443),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply("me", gatewayWithPolicy)
			w.Kubectl(t, "", "patch", "gateway", "edge", "-n", w.namespace, "--type=json", "--field-manager=controller", "-p",
				`[{"op": "add", "path": "/spec/listeners/-", "value": {"name": "`+listener+`", "port": 443, "protocol": "HTTPS", "hostname": "a.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}, "tls": {"certificateRefs": [{"name": "theirs"}]}}}]`)
			w.apply("me", route("shop", "a.example.com", "b.example.com"))
			got := w.sweep()
			w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
			if refused := w.refusedOf(got); len(refused) != 0 {
				t.Errorf("refused: %q", refused)
			}
			for _, entry := range w.get("gateway", "edge").GetManagedFields() {
				if entry.Manager == engine.FieldManager && strings.Contains(string(entry.FieldsV1.GetRawBytes()), `"`+listener+`\"`) {
					t.Error("we own their listener")
				}
			}
			if w.get("certificate", certificateOf("edge", "a.example.com")) != nil {
				t.Error("there is a Certificate that nobody uses")
			}
			w.wantQuiet("edge")
			w.Kubectl(t, "", "delete", "httproute/shop", "-n", w.namespace)
			for range 3 {
				w.sweep()
				w.later(25 * time.Hour)
			}
			w.wantListeners("edge", "http", "a.example.com:443")
		})
	}
}

// TestChangeBetweenReadAndWrite: what somebody writes after the sweep read the
// Gateway, and before it writes, is not written over; the sweep reads again.
func TestChangeBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com", "b.example.com"))
	meanwhile := sync.OnceFunc(func() {
		w.Kubectl(t, "", "patch", "gateway", "edge", "-n", w.namespace, "--type=json", "--field-manager=controller", "-p",
			`[{"op": "add", "path": "/spec/listeners/-", "value": {"name": "mine", "port": 443, "protocol": "HTTPS", "hostname": "a.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}, "tls": {"certificateRefs": [{"name": "mine"}]}}}]`)
	})
	w.config = clustertest.Wrapped(w.config, func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if call := clustertest.ParseCall(req); call.Writes() && call.Resource == "gateways" {
				meanwhile()
			}
			return next.RoundTrip(req)
		})
	})
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
	w.sweep() // marks the Certificate that was written before the change
	w.wantQuiet("edge")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestSecretsAreLeftAlone: who may list Secrets may read them, so the sweep asks
// for none unless a policy says what becomes of them.
func TestSecretsAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var recorder clustertest.Recorder
	w.config = clustertest.Wrapped(w.config, recorder.Wrap)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	w.Kubectl(t, "", "delete", "httproute/shop", "-n", w.namespace)
	for range 3 {
		w.sweep()
		w.later(25 * time.Hour)
	}
	w.wantListeners("edge", "http")
	calls := recorder.Calls()
	if i := slices.IndexFunc(calls, func(c clustertest.Call) bool { return c.Resource == "secrets" }); i >= 0 || len(calls) == 0 {
		t.Errorf("of %d requests one is for Secrets", len(calls))
	}
}

// TestMarkLeavesTheRest: the mark of a stale Certificate leaves its spec and its
// labels as they are.
func TestMarkLeavesTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	before := w.get("certificate", certificateOf("edge", "a.example.com"))
	w.Kubectl(t, "", "delete", "httproute/shop", "-n", w.namespace)
	w.sweep()
	w.later(25 * time.Hour)
	for range 2 {
		w.sweep()
	}
	after := w.get("certificate", certificateOf("edge", "a.example.com"))
	if after.GetAnnotations()["gatewright.dev/stale-since"] == "" {
		t.Fatal("the Certificate is not marked")
	}
	if diff := gocmp.Diff([]any{before.Object["spec"], before.GetLabels()}, []any{after.Object["spec"], after.GetLabels()}); diff != "" {
		t.Errorf("the mark changed more (-before +after):\n%s", diff)
	}
	if !slices.ContainsFunc(after.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "gatewright-state" && strings.Contains(entry.FieldsV1.GetRawString(), "stale-since")
	}) {
		t.Error("the mark is not of a field manager of its own")
	}
}

// TestSomebodyElseInOurCertificate: a Certificate whose spec somebody edits is
// theirs as well from then on: it keeps its values, and stays.
func TestSomebodyElseInOurCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	name := certificateOf("edge", "a.example.com")
	w.Kubectl(t, "", "patch", "certificate", name, "-n", w.namespace, "--type=merge", "--field-manager=kubectl-edit", "-p", `{"spec": {"issuerRef": {"name": "mine"}}}`)
	w.wantQuiet("edge")
	w.apply("me", route("shop", "b.example.com"))
	for range 4 {
		w.sweep()
		w.later(25 * time.Hour)
	}
	w.wantListeners("edge", "http", "b.example.com:443")
	edited := w.get("certificate", name)
	if edited == nil {
		t.Fatal("the Certificate is gone")
	}
	if issuer := edited.Object["spec"].(map[string]any)["issuerRef"].(map[string]any)["name"]; issuer != "mine" {
		t.Errorf("the issuer is %v", issuer)
	}
}
