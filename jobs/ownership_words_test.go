package jobs_test

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/postrender/engine"
)

// wordsCases are about upgrades that are refused in words that jobs/README.md
// explains, and about what it says to do.
var wordsCases = []ownershipCase{
	{
		name:  "no-place-left",
		shows: "an upgrade that brings more than there are places is refused where upgrades apply, the preflight says so before, and what it says to yield makes room",
		run:   func(r *release) { noPlaceLeft(r, "w.example.com", "x.example.com") },
	},
	{
		name:  "no-place-left-and-others-wait",
		shows: "a place that a yield makes free is for the chart, and not for the next hostname that waits for one",
		run: func(r *release) {
			noPlaceLeft(r, "w.example.com", "x.example.com", "y.example.com", "z.example.com")
		},
	},
	{
		name:  "gateway-of-nobody",
		shows: "Helm does not take a Gateway and the Certificate that the sweep made for it over before somebody tells it to, the preflight says so before, and the sweep has nothing to do afterwards",
		ways:  distinct,
		run:   gatewayOfNobody,
	},
	{
		name:  "policy-of-the-chart-changed-by-hand",
		shows: "a policy of the chart that somebody overwrites is between that one and Helm; the sweep does as the Gateway says, and writes no policy",
		ways:  distinct,
		run:   policyChangedByHand,
	},
}

// foreseen is what the preflight finds about the next version of the chart.
func (r *release) foreseen(values string) []engine.Finding {
	r.t.Helper()
	var objects []map[string]any
	for _, object := range r.rendered(values) {
		objects = append(objects, object.Object)
	}
	cluster, err := jobs.Connect(r.Config)
	if err != nil {
		r.t.Fatal(err)
	}
	findings, err := cluster.Preflight(r.t.Context(), objects, jobs.Release{Name: r.name, Namespace: r.namespace})
	if err != nil {
		r.t.Fatal(err)
	}
	var own []engine.Finding
	for _, f := range findings {
		if strings.Contains(f.Object+"-", "/"+r.name+"-") {
			own = append(own, f)
		}
	}
	return own
}

// rendered is what the chart becomes by the post-renderer.
func (r *release) rendered(values string) []*unstructured.Unstructured {
	r.t.Helper()
	out, err := r.command(append([]string{"template", r.name, chart, "--values", r.valuesFile(values)}, r.rendering()...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(out, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			r.t.Fatal(err)
		}
		if object.Object != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

func noPlaceLeft(r *release, others ...string) {
	r.upgrade(manyHostnames(53)) // and http: 54
	r.other(others...)
	r.sweep()
	count := func(want int) {
		r.t.Helper()
		if got := len(listenersOf(r.live("Gateway", r.name))); got != want {
			r.t.Errorf("%d listeners, want %d", got, want)
		}
	}
	count(56)
	next := manyHostnames(62) // and http, and two of the sweep: 65
	if r.how.patches {
		only(r.t, r.foreseen(next), jobs.CodeListenersAtRisk, "the sweep's listeners for w.example.com, x.example.com")
		r.upgrade(next)
		count(63)
		r.sweep()
		count(63)
		return
	}
	yield := "gatewright sweep --yield " + r.namespace + "/" + r.name + ":"
	foreseen := r.foreseen(next)
	only(r.t, foreseen, jobs.CodeWouldBeRefused, "spec.listeners: Too many: 65: must have at most 64 items", "2 of its listeners are the sweep's", yield)
	if len(others) == 2 { // nobody waits; an upgrade that fails may leave its routes there, which then wait
		if err := r.tryUpgrade(next); err == nil || !strings.Contains(err.Error(), "spec.listeners: Too many: 65: must have at most 64 items") {
			r.t.Fatalf("the upgrade: %v", err)
		}
	}
	_, hostname, _ := strings.Cut(foreseen[0].Message, yield)
	hostname, _, _ = strings.Cut(hostname, ", with the --policy and --lease of the CronJob")
	gateway := r.options.Gateways[0]
	r.sweep(func(o *jobs.Options) {
		o.Yields = []jobs.Yield{{Gateway: gateway, Hostname: hostname, For: time.Hour}}
	})
	r.upgrade(next)
	count(64)
	r.settle()
	count(64)
	r.quiet()
}

func gatewayOfNobody(r *release) {
	r.Apply(r.t, "me", r.namespace, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: EDGE, annotations: {gatewright.dev/policy: '`+policyOf("tests")+`'}},
		spec: {gatewayClassName: test, listeners: [{name: http, port: 80, protocol: HTTP}]}}`))
	r.other("a.example.com")
	r.sweep()
	r.has("http", "a.example.com")
	was := r.certificate("a.example.com")
	if of := was.GetAnnotations()["meta.helm.sh/release-name"]; of != "" {
		r.t.Errorf("the Certificate is marked as that of release %s", of)
	}

	only(r.t, r.foreseen(withA), jobs.CodeNotAdoptable, "belongs to no release", "--take-ownership")
	var args []string
	if r.how.major != 0 {
		err := r.tryUpgrade(withA)
		if err == nil || !strings.Contains(err.Error(), "exists and cannot be imported into the current release: invalid ownership metadata") {
			r.t.Fatalf("the install: %v", err)
		}
		r.has("http", "a.example.com")
		args = []string{"--take-ownership"}
	}
	r.upgrade(withA, args...)
	r.has("http", "a.example.com")
	r.settle()
	r.has("http", "a.example.com")
	r.quiet()
	now := r.certificate("a.example.com")
	if now.GetUID() != was.GetUID() {
		r.t.Error("the Certificate was made anew")
	}
	r.upgrade(`{routes: {shop: [a.example.com]}, note: next}`) // which needs nothing special any more
	r.quiet()
	r.has("http", "a.example.com")
}

// policyOf is a policy of an issuer, as the chart writes it.
func policyOf(issuer string) string {
	return `{"attach":{"from":"All"},"issuerRef":{"kind":"ClusterIssuer","name":"` + issuer + `"}}`
}

func (r *release) annotateByHand() {
	r.t.Helper()
	r.Kubectl(r.t, "", "annotate", "--overwrite", "gateway", r.name, "-n", r.namespace, engine.AnnotationPolicy+"="+policyOf("hand"))
}

// conflictsByHand is an upgrade that an unforced apply refuses for the policy
// that somebody annotated, and says whether it did.
func (r *release) conflictsByHand(values string) bool {
	r.t.Helper()
	if !r.how.patches && !r.how.forced {
		only(r.t, r.foreseen(values), jobs.CodeWouldBeRefused, `conflict with "kubectl-annotate"`, "What kubectl-annotate wrote has to be given back: put it into the chart alone")
	}
	err := r.tryUpgrade(values)
	if r.how.patches || r.how.forced {
		if err != nil {
			r.t.Fatal(err)
		}
		return false
	}
	if err == nil || !strings.Contains(err.Error(), `conflict with "kubectl-annotate"`) || !strings.Contains(err.Error(), engine.AnnotationPolicy) {
		r.t.Fatalf("the upgrade: %v", err)
	}
	return true
}

// follows says which policy the Gateway has, and that the sweep goes by it.
func (r *release) follows(issuer string) {
	r.t.Helper()
	r.settle()
	r.has("http", "a.example.com", "x.example.com")
	if got := r.annotation(engine.AnnotationPolicy); got != policyOf(issuer) {
		r.t.Errorf("the policy is %q, want that of issuer %s", got, issuer)
	}
	if x := r.issuer("x.example.com"); x != issuer {
		r.t.Errorf("the issuer of x, which is the sweep's, is %s, want %s", x, issuer)
	}
}

func policyChangedByHand(r *release) {
	r.upgrade(withA)
	r.other("x.example.com")
	r.sweep()
	r.annotateByHand()
	r.follows("hand")
	if a := r.issuer("a.example.com"); a != "tests" {
		r.t.Errorf("the issuer of a, which is the release's, is %s", a)
	}

	// The chart has what it had: a patch has nothing to say about that.
	r.conflictsByHand(`{routes: {shop: [a.example.com]}, note: next}`)
	if r.how.forced {
		r.follows("tests")
	} else {
		r.follows("hand")
	}

	// The chart changes its mind, too.
	r.annotateByHand()
	if r.conflictsByHand(`{routes: {shop: [a.example.com]}, note: next, policy: ` + policyOf("next") + `}`) {
		r.follows("hand")
	} else {
		r.follows("next")
	}

	// It drops its policy: who applies leaves what is another's.
	r.annotateByHand()
	r.bare(`{routes: {shop: [a.example.com]}, note: next, policy: null}`)
	left := policyOf("hand")
	if r.how.patches {
		left = ""
	}
	if got := r.annotation(engine.AnnotationPolicy); got != left {
		r.t.Errorf("the policy is %q, want %q", got, left)
	}
	r.settle()
	r.quiet()
}
