package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// asMay lets the sweep run as a ServiceAccount that may do everything but to the
// core group, of which the rules, a YAML flow list, speak.
func (w *world) asMay(core string) {
	w.t.Helper()
	name := w.namespace + "-" + strings.ToLower(strings.ReplaceAll(w.t.Name(), "/", "-"))
	w.apply("me", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sweep}}")
	w.apply("me", fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
- {apiGroups: [gateway.networking.k8s.io, cert-manager.io, networking.k8s.io, apiextensions.k8s.io, apps], resources: ["*"], verbs: ["*"]}
- {apiGroups: [""], resources: [namespaces], verbs: [list]}
%[2]s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: sweep, namespace: NS}]
`, name, core))
	w.t.Cleanup(func() { w.Kubectl(w.t, "", "delete", "clusterrole/"+name, "clusterrolebinding/"+name) })
	w.config = w.As(w.t, w.namespace, "sweep")
}

// Without a right, the sweep does all else, removes no Secret and says why, and
// the run counts as done.
func TestRetentionWithoutRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, says string }{
		"nothing":   {"", `cannot list resource "secrets"`},
		"no patch":  {`- {apiGroups: [""], resources: [secrets, pods], verbs: [list, delete]}`, `cannot patch resource "secrets"`},
		"no delete": {`- {apiGroups: [""], resources: [secrets, pods], verbs: [list, patch]}`, `cannot delete resource "secrets"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRetention(t, "Delete")
			if w.granted("{}"); c.rules != "" {
				w.asMay(c.rules)
			}
			w.apply(issuing, issued("a.example.com"))
			w.apply("me", route("shop", "b.example.com"))
			w.sweep()
			w.wantListeners("edge", "http", "b.example.com:443")
			w.later(100 * time.Hour)
			r := w.sweep()
			if !w.secret("a.example.com") || r.Result != report.Done {
				t.Fatalf("the Secret is gone, or the result %s is not done", r.Result)
			}
			said := false
			for _, f := range r.Findings {
				said = said || f.Code == jobs.CodeSecretsKept && strings.Contains(f.Message, c.says)
			}
			if !said {
				t.Errorf("no finding says %q: %+v", c.says, r.Findings)
			}
		})
	}
}

// Pods that cannot be read may use the Secret.
func TestRetentionWithoutPods(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.asMay(`- {apiGroups: [""], resources: [secrets], verbs: [list, patch, delete]}`)
	w.apply(issuing, issued("a.example.com"))
	w.sweep()
	w.later(100 * time.Hour)
	r := w.sweep()
	if why := whyHeld(r, "a.example.com"); !w.secret("a.example.com") || !strings.Contains(why, `cannot list resource "pods"`) || r.Result != report.Done {
		t.Errorf("%s: held by %q", r.Result, why)
	}
}

// What may name a Secret and cannot be read keeps all of them, in the first look
// and in the second.
func TestRetentionNeedsEveryRead(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"secrets", "pods", "issuers", "clusterissuers", "ingresses", "certificates", "gateways", "listenersets"} {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprintf("%s %d", resource, nth), func(t *testing.T) {
				w := newRetention(t, "Delete")
				w.apply(issuing, issued("a.example.com"))
				w.sweep()
				w.later(100 * time.Hour)
				fault := &clustertest.Fault{Kind: clustertest.Status403, Nth: nth, Match: func(c clustertest.Call) bool {
					return c.Resource == resource && c.Verb == "list"
				}}
				w.config = rest.CopyConfig(w.config)
				w.config.Wrap(fault.Wrap)
				_, _ = w.trySweep() // a failed read of a needed kind is an error
				if !w.secret("a.example.com") || fault.Hits() != 1 {
					t.Fatalf("the Secret is gone, after %d faults", fault.Hits())
				}
				w.sweep()
				if w.secret("a.example.com") {
					t.Error("the Secret is still there after a run without faults")
				}
			})
		}
	}
}

// The Secret is removed in the very version that was read: one that cert-manager
// writes at the time stays.
func TestRetentionKeepsWhatChanges(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply(issuing, issued("a.example.com"))
	w.sweep()
	w.later(100 * time.Hour)
	once := false
	w.config = rest.CopyConfig(w.config)
	record := &clustertest.Fault{Nth: 1 << 30, Match: func(c clustertest.Call) bool {
		if c.Verb == "delete" && c.Resource == "secrets" && !once {
			once = true
			w.apply(issuing, issued("a.example.com", "finalizers: []")+"stringData: {more: x}\n")
		}
		return false
	}}
	w.config.Wrap(record.Wrap)
	r := w.sweep()
	if why := whyHeld(r, "a.example.com"); !once || !w.secret("a.example.com") || !strings.Contains(why, "it changed") {
		t.Errorf("held by %q", why)
	}
	w.sweep()
	if w.secret("a.example.com") {
		t.Error("the Secret is still there")
	}
}
