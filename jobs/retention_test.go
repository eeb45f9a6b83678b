package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// issuing is the field manager of cert-manager's controller that writes Secrets.
const issuing = "cert-manager-certificates-issuing"

// newRetention is a world whose policy file has secretRetention for its
// namespace.
func newRetention(t *testing.T, retention string) *world {
	t.Helper()
	w := newWorld(t, withRetention)
	file, err := engine.ParsePolicyFile("policy.yaml", fmt.Appendf(nil,
		"{apiVersion: gatewright.dev/v1alpha1, kind: Policy, gateways: [{match: {namespace: %s}, secretRetention: %s}]}", w.namespace, retention))
	if err != nil {
		t.Fatal(err)
	}
	w.options.Policies.File = file
	w.apply("me", gatewayWithPolicy)
	return w
}

// issued is a Secret as cert-manager writes it for the Certificate of a hostname
// of Gateway edge, without owner; more is added to its metadata.
func issued(hostname string, more ...string) string {
	name := certificateOf("edge", hostname)
	return fmt.Sprintf(`
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata:
  name: %s
  labels: {gatewright.dev/for: edge, controller.cert-manager.io/fao: "true"}
  annotations: {cert-manager.io/certificate-name: %s, cert-manager.io/alt-names: %s, cert-manager.io/common-name: ""}
  %s
data: {tls.crt: YQ==, tls.key: YQ==}
`, name, name, hostname, strings.Join(more, "\n  "))
}

func (w *world) secret(hostname string) bool {
	w.t.Helper()
	return w.get("secret", certificateOf("edge", hostname)) != nil
}

// marked says whether the Secret of a hostname carries the mark.
func (w *world) marked(hostname string) bool {
	w.t.Helper()
	return w.get("secret", certificateOf("edge", hostname)).GetAnnotations()["gatewright.dev/stale-since"] != ""
}

// whyHeld is what the report says of the Secret of a hostname that waits.
func whyHeld(r *report.Report, hostname string) string {
	for _, c := range r.Changes {
		if c.Kind == "Secret" && c.Name == certificateOf("edge", hostname) && c.Outcome == report.Held {
			return c.Reason
		}
	}
	return ""
}

// Listener, Certificate and Secret go in this order, each in a run of its own.
func TestSecretGoesLast(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	w.apply(issuing, issued("a.example.com"))
	w.wantQuiet("edge")
	w.Kubectl(t, "", "delete", "httproute", "shop", "-n", w.namespace)
	w.sweep() // marks the listener
	w.later(24 * time.Hour)
	w.sweep() // removes it
	w.wantListeners("edge", "http")
	w.sweep() // marks the Certificate
	w.later(24 * time.Hour)
	w.sweep() // removes it
	if w.get("certificate", certificateOf("edge", "a.example.com")) != nil || !w.secret("a.example.com") || w.marked("a.example.com") {
		t.Fatal("want the Certificate gone, and its Secret there without a mark")
	}
	if why := whyHeld(w.sweep(), "a.example.com"); !strings.Contains(why, "goes after "+w.now.Add(24*time.Hour).UTC().Format(time.RFC3339)) || !w.marked("a.example.com") {
		t.Fatalf("the Secret is not marked: %q", why)
	}
	w.later(24*time.Hour - time.Minute)
	w.wantQuiet("edge")
	w.later(time.Minute)
	w.sweep()
	if w.secret("a.example.com") {
		t.Fatal("the Secret is still there")
	}
	w.wantQuiet("edge")
}

// Without the key, and with Keep, no Secret is asked for or removed.
func TestSecretsAreKeptByDefault(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Keep")
	record := &clustertest.Recorder{}
	w.config = rest.CopyConfig(w.config)
	w.config.Wrap(record.Wrap)
	w.apply(issuing, issued("a.example.com"))
	for range 3 {
		w.sweep()
		w.later(1000 * time.Hour)
	}
	if !w.secret("a.example.com") {
		t.Error("the Secret is gone")
	}
	for _, call := range record.Calls() {
		if call.Resource == "secrets" || call.Resource == "pods" {
			t.Errorf("%s, without need", call)
		}
	}
}

// A vanished Certificate may come back: the time begins anew with every absence.
func TestSecretRetentionTime(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "{after: 336h}")
	w.apply(issuing, issued("a.example.com"))
	w.sweep()
	w.later(time.Minute)
	w.wantQuiet("edge")
	w.later(335 * time.Hour)
	w.wantQuiet("edge")
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	if w.marked("a.example.com") {
		t.Fatal("the claim came back, and the mark is still there")
	}
	w.wantQuiet("edge")
	w.Kubectl(t, "", "delete", "httproute", "shop", "-n", w.namespace)
	for range 4 { // listener, then Certificate
		w.sweep()
		w.later(24 * time.Hour)
	}
	w.sweep()
	w.later(335 * time.Hour)
	w.wantQuiet("edge")
	if !w.secret("a.example.com") {
		t.Fatal("the Secret went before its time")
	}
	w.later(2 * time.Hour)
	w.sweep()
	if w.secret("a.example.com") {
		t.Fatal("the Secret is still there")
	}
}

// Only what cert-manager issued, here, for a Certificate of ours is ever touched.
func TestForeignSecretsStay(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply(issuing, issued("ours.example.com"))
	w.apply(issuing, strings.ReplaceAll(issued("a.example.com"), "gatewright.dev/for: edge, ", "")) // no mark of ours
	w.apply("me", strings.ReplaceAll(issued("b.example.com"), "cert-manager.io/", "example.com/"))  // made by hand
	w.apply("reflector", issued("c.example.com"))                                                   // a copy, with all metadata
	w.apply(issuing, strings.Replace(issued("d.example.com"), "certificate-name: edge", "certificate-name: my", 1))
	w.apply(issuing, strings.ReplaceAll(issued("e.example.com"), certificateOf("edge", "e.example.com"), "wild-tls"))
	w.apply(issuing, strings.Replace(issued("f.example.com"), "fao: ", `next-private-key: "true", controller.cert-manager.io/fao: `, 1))
	w.apply(issuing, strings.Replace(issued("f.example.com"), "controller.cert-manager.io/fao", "cert-manager.io/next-private-key", 1))
	w.apply(issuing, issued("g.example.com", `ownerReferences: [{apiVersion: cert-manager.io/v1, kind: Certificate, name: gone, uid: 00000000-0000-0000-0000-000000000001, controller: true}]`))
	w.apply("cert-manager-issuers", "{apiVersion: v1, kind: Secret, metadata: {name: account, labels: {gatewright.dev/for: edge}}, data: {tls.key: YQ==}}")
	before := w.secrets()
	for range 3 {
		w.sweep()
		w.later(100 * time.Hour)
	}
	want := slices.DeleteFunc(before, func(s string) bool { return strings.HasPrefix(s, certificateOf("edge", "ours.example.com")) })
	if got := w.secrets(); !slices.Equal(got, want) {
		t.Errorf("Secrets now:\n%s\nwant, untouched:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// secrets lists "name version" of the Secrets in the namespace.
func (w *world) secrets() []string {
	w.t.Helper()
	out := w.Kubectl(w.t, "", "get", "secrets", "-n", w.namespace, "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	return strings.Split(strings.TrimSpace(out), "\n")
}

// Pods are asked last, and only where a Secret would go.
func TestSecretsOfPodsStay(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply("me", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}") // no Pod without
	container := "{name: c, image: example.com/c"
	specs := map[string]string{
		"volume":    "{volumes: [{name: v, secret: {secretName: SECRET}}], containers: [" + container + "}]}",
		"projected": "{volumes: [{name: v, projected: {sources: [{secret: {name: SECRET}}]}}], containers: [" + container + "}]}",
		"env":       "{containers: [" + container + ", env: [{name: KEY, valueFrom: {secretKeyRef: {name: SECRET, key: tls.key}}}]}]}",
		"envfrom":   "{containers: [" + container + "}], initContainers: [{name: i, image: example.com/c, envFrom: [{secretRef: {name: SECRET}}]}]}",
		"pull":      "{imagePullSecrets: [{name: SECRET}], containers: [" + container + "}]}",
	}
	for name, spec := range specs {
		w.apply(issuing, issued(name+".example.com"))
		w.apply("me", "{apiVersion: v1, kind: Pod, metadata: {name: "+name+"}, spec: "+
			strings.Replace(spec, "SECRET", certificateOf("edge", name+".example.com"), 1)+"}")
	}
	w.apply(issuing, issued("free.example.com"))
	w.sweep()
	w.later(100 * time.Hour)
	report := w.sweep()
	for name := range specs {
		if why := whyHeld(report, name+".example.com"); !w.secret(name+".example.com") || why != "Pod "+w.namespace+"/"+name+" uses it" {
			t.Errorf("%s: held by %q", name, why)
		}
	}
	if w.secret("free.example.com") {
		t.Error("the Secret that no Pod uses is still there")
	}
	w.wantQuiet("edge")
}
