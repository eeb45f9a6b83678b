package jobs_test

import (
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// otherCases are about others who write, too.
var otherCases = []ownershipCase{
	{
		name:  "policy-is-input",
		shows: "a policy that somebody annotates by hand is in nobody's way: the render writes what it was given into another annotation, and the sweep writes neither",
		run:   policyIsInput,
	},
	{
		name:  "one-namespace",
		shows: "a listener that the sweep narrowed to one namespace is taken over where the chart's claim is of that namespace; the chart of another is refused where upgrades apply unforced",
		run:   oneNamespace,
	},
	{
		name:  "chart-listener-changed-by-hand",
		shows: "what somebody forces into a listener of the chart is between that one and Helm; the sweep writes neither value",
		run:   chartListenerChangedByHand,
	},
	{
		name:  "companion-of-git",
		shows: "Helm deletes a Certificate that it rendered once, even if Git applies it by now; the sweep makes it again, Git takes it over, and the sweep leaves it to Git",
		ways:  func(how helm) bool { return how.major != 0 },
		run:   companionOfGit,
	},
	{
		name:  "release-in-a-configmap",
		shows: "the sweep and the next upgrade do as always where Helm keeps its releases in ConfigMaps",
		ways:  unforced,
		run: func(r *release) {
			r.environment = []string{"HELM_DRIVER=configmap"}
			sweepFirstChartLater(r)
			if got := r.Kubectl(r.t, "", "get", "secret,configmap", "-n", r.namespace, "-l", "owner=helm,name="+r.name, "-o", "name"); strings.Contains(got, "secret/") || !strings.Contains(got, "configmap/") {
				r.t.Errorf("Helm keeps the release in %q", got)
			}
		},
	},
}

func policyIsInput(r *release) {
	put := func(values, issuer string) {
		r.t.Helper()
		if err := r.put(chart, values, r.rendering("--issuer=ClusterIssuer/"+issuer)...); err != nil {
			r.t.Fatal(err)
		}
	}
	put(`{policy: null, routes: {shop: [a.example.com]}}`, "tests")
	r.Kubectl(r.t, "", "annotate", "gateway", r.name, "-n", r.namespace, engine.AnnotationPolicy+"={attach: {from: All}}")
	r.other("x.example.com")
	r.sweep()
	r.has("http", "a.example.com", "x.example.com")
	put(`{policy: null, routes: {shop: [a.example.com]}, note: next}`, "next")
	r.sweep()
	r.has("http", "a.example.com", "x.example.com")
	if got := r.annotation(engine.AnnotationPolicy); got != "{attach: {from: All}}" {
		r.t.Errorf("the policy is %s", got)
	}
	if got := r.annotation(engine.AnnotationRendered); !strings.Contains(got, `"next"`) {
		r.t.Errorf("rendered is %s", got)
	}
	if got := r.annotators(engine.AnnotationPolicy); got != "kubectl-annotate" {
		r.t.Errorf("the policy is written by %s", got)
	}
	if got := r.annotators(engine.AnnotationRendered); got != r.manager() {
		r.t.Errorf("rendered is written by %s", got)
	}
	r.settle()
	r.quiet()
}

func companionOfGit(r *release) {
	fromGit := func(issuer string) {
		r.t.Helper()
		r.Kubectl(r.t, r.named(`
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: `+certificateOf(r.name, "a.example.com")+`
  labels: {gatewright.dev/for: EDGE, kustomize.toolkit.fluxcd.io/name: infra, kustomize.toolkit.fluxcd.io/namespace: flux-system}
spec:
  secretName: `+certificateOf(r.name, "a.example.com")+`
  dnsNames: [a.example.com]
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: `+issuer+`}
`), "apply", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller", "-n", r.namespace, "-f", "-")
	}
	r.upgrade(withA)
	fromGit("tests")
	r.quiet()
	r.bare(`{routes: {shop: [a.example.com]}, note: bare}`)
	if r.certificate("a.example.com") != nil {
		r.t.Error("Helm leaves by now what Git applies; say so in the docs")
	}
	r.sweep()
	r.has("http", "a.example.com")
	if r.certificate("a.example.com") == nil {
		r.t.Fatal("the sweep made no Certificate")
	}
	fromGit("other")
	r.settle()
	r.quiet()
	if issuer := r.issuer("a.example.com"); issuer != "other" {
		r.t.Errorf("Git asks for another issuer than %s", issuer)
	}
}

func oneNamespace(r *release) {
	const one = `policy: {hostnameOwnership: OneNamespace}`
	r.upgrade(`{routes: {}, ` + one + `}`)
	r.Apply(r.t, "me", r.namespace, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: EDGE-hand}, spec: {parentRefs: [{name: EDGE}], hostnames: [same.example.com]}}`))
	r.other("theirs.example.com")
	r.sweep()
	r.has("http", "same.example.com", "theirs.example.com")
	same, theirs := r.listener("same.example.com"), r.listener("theirs.example.com")

	r.upgrade(`{routes: {shop: [same.example.com]}, ` + one + `}`)
	if diff := gocmp.Diff(same, r.listener("same.example.com")); diff != "" {
		r.t.Errorf("the listener changed (-sweep's +chart's):\n%s", diff)
	}
	r.settle()
	r.quiet()

	err := r.tryUpgrade(`{routes: {shop: [same.example.com, theirs.example.com]}, ` + one + `}`)
	if r.refuses(err, "allowedRoutes.namespaces") {
		if diff := gocmp.Diff(theirs, r.listener("theirs.example.com")); diff != "" {
			r.t.Errorf("the listener changed all the same (-before +after):\n%s", diff)
		}
	}
	refused := map[string]string{}
	for _, v := range r.sweep().Refused {
		refused[v.Namespace] = v.Hostname + " " + v.Reason
	}
	loser := r.team
	if !r.how.patches && !r.how.forced {
		loser = r.namespace // the chart's route
	}
	if diff := gocmp.Diff(map[string]string{loser: "theirs.example.com " + engine.ReasonHostnameConflict}, refused); diff != "" {
		r.t.Errorf("refused (-want +got):\n%s", diff)
	}
	r.later(25 * time.Hour)
	r.quiet()
	r.holders(map[string]engine.Holder{"same.example.com": {Namespace: r.namespace}, "theirs.example.com": {Namespace: r.team}})
}

// holders says who holds which hostnames.
func (r *release) holders(want map[string]engine.Holder) {
	r.t.Helper()
	state, err := engine.ParseState(r.annotation(engine.AnnotationState))
	if err != nil {
		r.t.Fatal(err)
	}
	if diff := gocmp.Diff(want, state.Holders); diff != "" {
		r.t.Errorf("holders (-want +got):\n%s", diff)
	}
}

func chartListenerChangedByHand(r *release) {
	r.upgrade(withA)
	name := engine.ListenerName("a.example.com", 443)
	r.Kubectl(r.t, r.named(`{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: EDGE}, spec: {gatewayClassName: test, listeners: [{name: `+name+`, port: 8443, protocol: HTTPS}]}}`),
		"apply", "--server-side", "--force-conflicts", "--field-manager=somebody", "-n", r.namespace, "-f", "-")
	r.settle()
	r.quiet()
	err := r.tryUpgrade(`{routes: {shop: [a.example.com]}, note: next}`)
	port, want := r.listener("a.example.com")["port"], int64(8443)
	if r.how.forced {
		want = 443
	}
	if port != want {
		r.t.Errorf("the port is %v, want %d", port, want)
	}
	if unforcedApply := !r.how.forced && !r.how.patches; unforcedApply != (err != nil) {
		r.t.Errorf("the upgrade: %v", err)
	} else if err != nil && !strings.Contains(err.Error(), `conflict with "somebody"`) {
		r.t.Error(err)
	}
	r.settle()
	r.quiet()
}
