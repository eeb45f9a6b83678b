package jobs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
)

// TestPreflightAsksWhatHelmWrites: the items of a List and other served versions
// are asked for as they are, and what only has the name of one of our kinds, is a
// hook, or has no name is not.
func TestPreflightAsksWhatHelmWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("helm", chartGateway())
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	of := func(version, gateway string) string {
		return strings.Replace(gateway, "io/v1\n", "io/"+version+"\n", 1)
	}
	in := func(gateway string) string {
		return "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(gateway), "\n", "\n  ")
	}
	certificate := "{name: " + certificateOf("edge", "a.example.com")
	for _, c := range []struct{ name, manifest, refused string }{
		{"a version that the server converts from", of("v1beta1", chartGateway()), ""},
		{"a clash in that version", of("v1beta1", chartGateway(shopListener)), "must be unique"},
		{"a version that is not served", of("v1alpha2", chartGateway()), "could not find the requested resource"},
		{"in a List", in(chartGateway()), ""},
		{"a clash in a List", in(chartGateway(shopListener)), "must be unique"},
		{"a clash in a List in a List", in(in(chartGateway(shopListener))), "must be unique"},
		{"a Gateway of Istio", "{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: edge}, spec: {selector: {app: a}, servers: []}}", ""},
		{"a Certificate of Knative", "{apiVersion: networking.internal.knative.dev/v1alpha1, kind: Certificate, metadata: " + certificate + "}, spec: {}}", ""},
		{"a hook", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: " + certificate + ", annotations: {helm.sh/hook: pre-upgrade}}, spec: {}}", ""},
		{"without a name", strings.Replace(chartGateway(), "name: edge", "generateName: edge-", 1), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := w.preflight(c.manifest)
			if c.refused != "" {
				only(t, found, jobs.CodeWouldBeRefused, c.refused)
			} else if len(found) != 0 {
				t.Error(found)
			}
		})
	}
}

// TestPreflightMarks: an admission policy that asks for the marks of a release
// sees them, as it will in the upgrade.
func TestPreflightMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := w.namespace + "-marked"
	w.apply("me", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: `+name+`}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules: [{apiGroups: [gateway.networking.k8s.io], apiVersions: ["*"], resources: [gateways], operations: [CREATE, UPDATE]}]
  validations:
  - expression: "object.metadata.?labels['app.kubernetes.io/managed-by'] == optional.of('Helm') && object.metadata.?annotations['meta.helm.sh/release-name'] == optional.of('shop')"
    message: not of a release
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: `+name+`}
spec: {policyName: `+name+`, validationActions: [Deny]}
`)
	t.Cleanup(func() {
		w.Kubectl(t, "", "delete", "validatingadmissionpolicybinding/"+name, "validatingadmissionpolicy/"+name)
	})
	clustertest.Eventually(t, func() error {
		if _, err := w.TryApply("probe", w.namespace, chartGateway()); err == nil {
			return errors.New("the admission policy is not in force yet")
		}
		return nil
	})
	if found := w.preflight(strings.ReplaceAll(chartGateway(), "edge", "new")); len(found) != 0 {
		t.Error(found)
	}
}
