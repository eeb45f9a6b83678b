package jobs_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// release is a release of the chart, with a Gateway of its name. Releases that
// are tested at the same time share namespaces, and each sweeps only its Gateway.
type release struct {
	*world
	how       helm
	name      string
	team      string // the namespace of other people
	installed bool
	flux      flux
	// environment is what Helm runs with besides.
	environment []string
}

// lands are the namespaces that the releases of one way share.
type lands struct {
	*world
	how  helm
	team string
}

func newLands(t *testing.T, how helm) *lands {
	t.Helper()
	w := newWorld(t, withRedirects, withFlux)
	postRenderer.install(t, w.Env)
	return &lands{w, how, w.Namespace(t)}
}

// release is a release that is not installed yet.
func (l *lands) release(t *testing.T, name string) *release {
	w := *l.world
	w.t = t
	r := &release{world: &w, how: l.how, team: l.team, name: name}
	r.options.Gateways = []engine.ObjectName{{Namespace: r.namespace, Name: name}}
	return r
}

// eachHelm runs a test in each way that a chart gets into a cluster, all at once.
func eachHelm(t *testing.T, ways []helm, test func(*testing.T, *lands)) {
	t.Helper()
	for _, how := range ways {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			test(t, newLands(t, how))
		})
	}
}

// sweep runs a sweep of the release's Gateway, which has no problems.
func (r *release) sweep(change ...func(*jobs.Options)) *report.Report {
	r.t.Helper()
	got := r.sweepWithProblems(change...)
	for _, p := range got.Problems {
		r.t.Errorf("problem of %s: %s", p.Object, p.Message)
	}
	return got
}

// sweepWithProblems leaves out of the report what is of others.
func (r *release) sweepWithProblems(change ...func(*jobs.Options)) *report.Report {
	r.t.Helper()
	got, err := r.trySweep(change...)
	if err != nil {
		r.t.Fatalf("sweep: %v", err)
	}
	own := func(object string) bool {
		ours := object + "-" // the Gateway, or an object beside it
		return strings.Contains(ours, " "+r.namespace+"/"+r.name+"-") || strings.Contains(ours, " "+r.team+"/"+r.name+"-")
	}
	got.Problems = slices.DeleteFunc(got.Problems, func(p report.Problem) bool { return !own(p.Object) })
	got.Findings = slices.DeleteFunc(got.Findings, func(f engine.Finding) bool { return !own(f.Object) })
	got.Refused = slices.DeleteFunc(got.Refused, func(v engine.Verdict) bool {
		return v.Parent.Name != r.name || v.Parent.Namespace != r.namespace
	})
	return got
}

// quiet says that a sweep has nothing to write.
func (r *release) quiet() {
	r.t.Helper()
	before := r.live("Gateway", r.name)
	if got := r.sweep(); got.Writes != 0 {
		r.t.Fatalf("a sweep with nothing to do wrote %d objects: %s", got.Writes, lines(got))
	}
	after := r.live("Gateway", r.name)
	if before != nil && before.GetResourceVersion() != after.GetResourceVersion() {
		r.t.Fatal("a sweep with nothing to do changed the Gateway")
	}
}

// other applies, as somebody who has nothing to do with the release, a route of
// its Gateway with hostnames; without any it is deleted.
func (r *release) other(hostnames ...string) {
	r.t.Helper()
	name := r.name + "-other"
	if len(hostnames) == 0 {
		client := r.Dynamic.Resource(resources["httproute"]).Namespace(r.team)
		if err := client.Delete(r.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	r.Apply(r.t, "me", r.team, r.named(fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s}
spec: {parentRefs: [{name: EDGE, namespace: NS}], hostnames: [%s]}
`, name, strings.Join(hostnames, ", "))))
}

// has says which listeners the Gateway has, by hostname or by name.
func (r *release) has(want ...string) {
	r.t.Helper()
	var got []string
	for _, l := range listenersOf(r.live("Gateway", r.name)) {
		hostname, _ := l["hostname"].(string)
		got = append(got, cmp.Or(hostname, l["name"].(string)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := gocmp.Diff(want, got); diff != "" {
		r.t.Fatalf("listeners (-want +got):\n%s", diff)
	}
}

func listenersOf(gateway *unstructured.Unstructured) []map[string]any {
	var out []map[string]any
	if gateway != nil {
		list, _, _ := unstructured.NestedSlice(gateway.Object, "spec", "listeners")
		for _, l := range list {
			out = append(out, l.(map[string]any))
		}
	}
	return out
}

// listener is the live listener of a hostname, or nil.
func (r *release) listener(hostname string) map[string]any {
	r.t.Helper()
	for _, l := range listenersOf(r.live("Gateway", r.name)) {
		if l["hostname"] == hostname {
			return l
		}
	}
	return nil
}

// certificate is the live Certificate of a hostname, or nil.
func (r *release) certificate(hostname string) *unstructured.Unstructured {
	r.t.Helper()
	return r.live("Certificate", certificateOf(r.name, hostname))
}

// issuer is the one that the Certificate of a hostname names.
func (r *release) issuer(hostname string) string {
	r.t.Helper()
	name, _, err := unstructured.NestedString(r.certificate(hostname).Object, "spec", "issuerRef", "name")
	if err != nil {
		r.t.Fatal(err)
	}
	return name
}

// live is an object of the release's namespace, or nil.
func (r *release) live(kind, name string) *unstructured.Unstructured {
	r.t.Helper()
	return r.get(strings.ToLower(kind), name)
}
