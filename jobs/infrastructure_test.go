package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// madeFor are the objects that an implementation makes for a Gateway of the
// namespace.
func madeFor(gateway string) string {
	meta := fmt.Sprintf("metadata: {name: %[1]s-infra, labels: {gateway.networking.k8s.io/gateway-name: %[1]s}}", gateway)
	return strings.Join([]string{
		"{apiVersion: apps/v1, kind: Deployment, " + meta + ", spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: example.com/c}]}}}}",
		"{apiVersion: v1, kind: Service, " + meta + ", spec: {ports: [{port: 80}]}}",
		"{apiVersion: v1, kind: ServiceAccount, " + meta + "}",
	}, "\n---\n")
}

// binding is a ClusterRoleBinding of ServiceAccounts.
func (w *world) binding(name string, accounts ...string) string {
	w.t.Helper()
	name = w.namespace + "-" + name
	for i, account := range accounts {
		accounts[i] = "{kind: ServiceAccount, namespace: NS, name: " + account + "}"
	}
	w.apply("me", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: "+name+"}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: ["+strings.Join(accounts, ", ")+"]}")
	w.t.Cleanup(func() { w.Kubectl(w.t, "", "delete", "clusterrolebinding/"+name) })
	return name
}

// orphans are the findings about infrastructure in the namespace: the object and
// the beginning of what is said.
func (w *world) orphans(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Code == jobs.CodeInfrastructureOrphan && strings.Contains(f.Object+f.Message, w.namespace) {
			said, _, _ := strings.Cut(f.Message, ",")
			out = append(out, strings.ReplaceAll(f.Object+": "+said, w.namespace, "NS"))
		}
	}
	return out
}

func newInfrastructure(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.options.Infrastructure = true
	w.apply("me", gatewayWithPolicy)
	w.apply("me", madeFor("edge"))
	w.apply("me", madeFor("gone"))
	return w
}

// What was made for a Gateway that is gone is reported, and stays.
func TestInfrastructureOrphans(t *testing.T) {
	t.Parallel()
	w := newInfrastructure(t)
	if got := w.orphans(w.sweep()); got != nil {
		t.Errorf("what is this new may be for a Gateway that was not read: %q", got)
	}
	w.later(time.Hour)
	want := []string{
		"Deployment NS/gone-infra: it was made for Gateway NS/gone",
		"Service NS/gone-infra: it was made for Gateway NS/gone",
		"ServiceAccount NS/gone-infra: it was made for Gateway NS/gone",
	}
	r := w.sweep()
	if diff := cmp.Diff(want, w.orphans(r)); diff != "" || r.Result != report.Done || r.Writes != 0 {
		t.Errorf("%s, %d writes; orphans (-want +got):\n%s", r.Result, r.Writes, diff)
	}
	for _, kind := range []string{"deployment", "service", "serviceaccount"} {
		if w.get(kind, "gone-infra") == nil {
			t.Errorf("the %s is gone", kind)
		}
	}
	w.apply("me", strings.Replace(gatewayWithPolicy, "name: edge", "name: "+strings.Repeat("long-", 14)+"x", 1))
	if got := w.orphans(w.sweep()); got != nil {
		t.Errorf("they may be for a Gateway whose name is too long for a label: %q", got)
	}
}

// A ClusterRoleBinding that Gateways share names those of its ServiceAccounts
// that are gone; one that is none of theirs is left alone.
func TestInfrastructureSubjects(t *testing.T) {
	t.Parallel()
	w := newInfrastructure(t)
	w.Kubectl(t, "", "delete", "deployment,service,serviceaccount", "gone-infra", "-n", w.namespace)
	shared := strings.ReplaceAll(w.binding("shared", "edge-infra", "gone-infra"), w.namespace, "NS")
	w.binding("alone", "gone-infra")
	w.binding("foreign", "some", "other")
	w.binding("whole", "edge-infra", "edge-infra")
	w.later(time.Hour)
	want := []string{"ClusterRoleBinding " + shared + ": its subject ServiceAccount NS/gone-infra is gone"}
	if diff := cmp.Diff(want, w.orphans(w.sweep())); diff != "" {
		t.Errorf("orphans (-want +got):\n%s", diff)
	}
}

// A kind that cannot be read is said, and costs nothing else.
func TestInfrastructureUnread(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"deployments", "services", "serviceaccounts", "clusterrolebindings"} {
		t.Run(resource, func(t *testing.T) {
			w := newInfrastructure(t)
			w.apply("me", route("shop", "a.example.com"))
			w.later(time.Hour)
			fault := &clustertest.Fault{Kind: clustertest.Status403, Match: func(c clustertest.Call) bool {
				return c.Resource == resource && c.Verb == "list"
			}}
			w.config = rest.CopyConfig(w.config)
			w.config.Wrap(fault.Wrap)
			r := w.sweep()
			w.wantListeners("edge", "http", "a.example.com:443")
			unread := slices.IndexFunc(r.Findings, func(f engine.Finding) bool {
				return f.Code == jobs.CodeInfrastructureUnread && strings.EqualFold(f.Object, resource) && strings.Contains(f.Message, "forbidden")
			})
			if unread < 0 || r.Result != report.Done || fault.Hits() != 1 {
				t.Errorf("%s, %d faults: %+v", r.Result, fault.Hits(), r.Findings)
			}
			want := 3
			if resource != "clusterrolebindings" {
				want = 2
			}
			if got := w.orphans(r); len(got) != want {
				t.Errorf("%d orphans, want %d: %q", len(got), want, got)
			}
		})
	}
}

// Without the option nothing of it is asked for; with it, metadata alone, and
// Without the option nothing of it is asked for; with it, each kind is listed once.
func TestInfrastructureRequests(t *testing.T) {
	t.Parallel()
	w := newInfrastructure(t)
	record := &clustertest.Recorder{}
	w.config = rest.CopyConfig(w.config)
	w.config.Wrap(record.Wrap)
	kinds := []string{"deployments", "services", "serviceaccounts", "clusterrolebindings"}
	asked := func() (calls []string) {
		for _, c := range record.Calls() {
			if slices.Contains(kinds, c.Resource) {
				calls = append(calls, c.Verb+" "+c.Resource)
			}
		}
		record.Reset()
		return calls
	}
	w.sweep(func(o *jobs.Options) { o.Infrastructure = false })
	if got := asked(); got != nil {
		t.Errorf("without the option: %q", got)
	}
	w.sweep()
	got := asked()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"list clusterrolebindings", "list deployments", "list serviceaccounts", "list services"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
