package jobs_test

import (
	"encoding/json"
	"strings"

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
	r.sweep()
	r.quiet()
}

// annotators are the field managers that own an annotation of the Gateway.
func (r *release) annotators(annotation string) string {
	r.t.Helper()
	var out []string
	for _, entry := range r.live("Gateway", r.name).GetManagedFields() {
		var fields struct {
			Metadata struct {
				Annotations map[string]any `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			r.t.Fatal(err)
		}
		if fields.Metadata.Annotations["f:"+annotation] != nil {
			out = append(out, entry.Manager)
		}
	}
	return strings.Join(out, ", ")
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
	r.quiet()
	issuer := r.certificate("a.example.com").Object["spec"].(map[string]any)["issuerRef"].(map[string]any)["name"]
	if issuer != "other" {
		r.t.Errorf("the issuer that Git asks for is %v", issuer)
	}
}
