package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// preflight asks the cluster, as somebody who may upgrade release shop, about
// manifests of it.
func (w *world) preflight(manifests ...string) []engine.Finding {
	w.t.Helper()
	return w.preflightAs(w.Config, manifests...)
}

// preflightAs asks as somebody.
func (w *world) preflightAs(config *rest.Config, manifests ...string) []engine.Finding {
	w.t.Helper()
	cluster, err := jobs.Connect(config)
	if err != nil {
		w.t.Fatal(err)
	}
	objects := make([]map[string]any, len(manifests))
	for i, manifest := range manifests {
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(manifest, "NS", w.namespace)), &objects[i]); err != nil {
			w.t.Fatal(err)
		}
	}
	findings, err := cluster.Preflight(w.t.Context(), objects, jobs.Release{Name: "shop", Namespace: w.namespace})
	if err != nil {
		w.t.Fatal(err)
	}
	return findings
}

// chartGateway is the Gateway of a release with the listeners given.
func chartGateway(listeners ...string) string {
	return fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  annotations: {gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: letsencrypt}}'}
spec:
  gatewayClassName: test
  listeners: [%s]
`, strings.Join(append([]string{"{name: http, port: 80, protocol: HTTP}"}, listeners...), ", "))
}

const shopListener = `{name: shop, port: 443, protocol: HTTPS, hostname: a.example.com, tls: {certificateRefs: [{group: "", kind: Secret, name: shop}]}}`

func only(t *testing.T, findings []engine.Finding, code string, words ...string) {
	t.Helper()
	if len(findings) != 1 || findings[0].Code != code {
		t.Fatalf("want one finding %s, got %v", code, findings)
	}
	for _, word := range words {
		if !strings.Contains(findings[0].Message, word) {
			t.Errorf("%q is not in %s", word, findings[0].Message)
		}
	}
}

// TestYieldForAChart: a chart that brings a listener for a hostname of the sweep
// would be refused; the preflight says what to yield, and then it is taken.
func TestYieldForAChart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Settle = 0
	w.apply("helm", chartGateway())
	w.apply("app", route("shop", "a.example.com", "b.example.com"))
	w.sweep()
	only(t, w.preflight(chartGateway(shopListener)), jobs.CodeWouldBeRefused,
		"helm applies", "must be unique", "gatewright sweep --yield "+w.namespace+"/edge:a.example.com, with the --policy and --lease of the CronJob")
	if _, err := w.TryApply("helm", w.namespace, chartGateway(shopListener)); err == nil {
		t.Fatal("the server takes what the preflight says it refuses")
	}

	w.sweep(func(o *jobs.Options) {
		o.Yields = []jobs.Yield{{Gateway: engine.ObjectName{Namespace: w.namespace, Name: "edge"}, Hostname: "a.example.com", For: time.Hour}}
	})
	w.wantListeners("edge", "http", "b.example.com:443")
	w.sweep() // marks the Certificate
	w.wantQuiet("edge")
	if findings := w.preflight(chartGateway(shopListener)); len(findings) != 0 {
		t.Fatal(findings)
	}
	w.apply("helm", chartGateway(shopListener))
	w.later(2 * time.Hour)
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443", "b.example.com:443")
	w.wantQuiet("edge")
}

// TestYieldEnds: a chart that brings nothing gets the listener back.
func TestYieldEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.sweep(func(o *jobs.Options) {
		o.Yields = []jobs.Yield{{Gateway: engine.ObjectName{Namespace: w.namespace, Name: "edge"}, Hostname: "a.example.com", For: time.Hour}}
	})
	w.wantListeners("edge", "http")
	w.sweep() // marks the Certificate
	w.later(59 * time.Minute)
	w.wantQuiet("edge")
	w.later(time.Minute)
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443")
	w.wantQuiet("edge")
}

// TestListenersAtRisk: a release that does not apply takes the sweep's listeners
// with it when it changes its own, and both faces say so before.
func TestListenersAtRisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Kubectl(t, strings.ReplaceAll(chartGateway(), "NS", w.namespace), "create", "-n", w.namespace, "--field-manager=helm", "-f", "-")
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	var found []engine.Finding
	for _, f := range w.sweep().Findings {
		if f.Code == jobs.CodeListenersAtRisk {
			found = append(found, f)
		}
	}
	only(t, found, jobs.CodeListenersAtRisk, "helm writes without server-side apply", "--server-side=true")
	other := strings.ReplaceAll(shopListener, "a.example.com", "c.example.com")
	only(t, w.preflight(chartGateway(other)), jobs.CodeListenersAtRisk, "it takes the sweep's listeners for a.example.com")
	only(t, w.preflight(chartGateway()), jobs.CodeListenersAtRisk, "which this one does not, takes the sweep's listeners for a.example.com")
	if found := w.preflight(chartGateway(shopListener)); len(found) != 0 {
		t.Errorf("the chart serves the hostname itself: %v", found)
	}
}

// TestNotAdoptable: Helm refuses a Certificate that is not its release's, and a
// Gateway of another.
func TestNotAdoptable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	certificate := `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: ` + certificateOf("edge", "a.example.com") + `}
spec: {secretName: x, dnsNames: [a.example.com], issuerRef: {name: x}}
`
	only(t, w.preflight(certificate), jobs.CodeNotAdoptable, "belongs to no release", "--take-ownership")

	for owner, refused := range map[string]bool{"shop": false, "other": true} {
		marked := strings.Replace(chartGateway(), "annotations: {", "annotations: {meta.helm.sh/release-name: "+owner+", meta.helm.sh/release-namespace: NS, ", 1)
		w.apply("helm", strings.ReplaceAll(marked, "name: edge", "name: "+owner))
		found := w.preflight(strings.ReplaceAll(chartGateway(), "name: edge", "name: "+owner))
		if refused {
			only(t, found, jobs.CodeNotAdoptable, "belongs to release "+w.namespace+"/other", "--take-ownership")
		} else if len(found) != 0 {
			t.Error(found)
		}
	}
}

// TestCertificateWouldBeRefused: a chart that takes a Certificate of the sweep over
// with another issuer meets a conflict, unless its release does not apply.
func TestCertificateWouldBeRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, gateway, issuer string
		refused               bool
	}{
		{"another issuer", "applied", "other", true},
		{"the same issuer", "applied", "letsencrypt", false},
		{"another issuer, without server-side apply", "patched", "other", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.gateway == "patched" {
				w.Kubectl(t, strings.ReplaceAll(chartGateway(), "NS", w.namespace), "create", "-n", w.namespace, "--field-manager=helm", "-f", "-")
			} else {
				w.apply("helm", chartGateway())
			}
			w.apply("app", route("shop", "a.example.com"))
			w.sweep()
			name := certificateOf("edge", "a.example.com")
			w.Kubectl(t, "", "annotate", "certificate", name, "-n", w.namespace, "meta.helm.sh/release-name=shop", "meta.helm.sh/release-namespace="+w.namespace)
			w.Kubectl(t, "", "label", "certificate", name, "-n", w.namespace, "app.kubernetes.io/managed-by=Helm")
			certificate := fmt.Sprintf(`
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: %s}
spec: {secretName: %s, dnsNames: [a.example.com], issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: %s}}
`, name, name, c.issuer)
			found := slices.DeleteFunc(w.preflight(chartGateway(), certificate), func(f engine.Finding) bool {
				return !strings.HasPrefix(f.Object, "Certificate ")
			})
			if !c.refused {
				if len(found) != 0 {
					t.Error(found)
				}
				return
			}
			only(t, found, jobs.CodeWouldBeRefused, "helm applies", `conflict with "gatewright": .spec.issuerRef.name`, "change the issuer in one upgrade")
			if _, err := w.TryApply("helm", w.namespace, certificate); err == nil {
				t.Error("the server takes what the preflight says it refuses")
			}
		})
	}
}

// TestPreflightOfHandWritten: what somebody wrote by hand is given back.
func TestPreflightOfHandWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("kubectl-edit", strings.ReplaceAll(chartGateway(), "letsencrypt", "mine"))
	next := chartGateway()
	only(t, w.preflight(next), jobs.CodeWouldBeRefused, `conflict with "kubectl-edit"`, "What kubectl-edit wrote has to be given back", "--force-conflicts")
}

// TestMissingRightToWrite: who may not write is told what to grant.
func TestMissingRightToWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("app", route("shop", "a.example.com"))
	cluster, err := jobs.Connect(w.as(rest.AnonymousClientConfig(w.Config), jobs.Options{DryRun: report.DryRunClient}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := cluster.Sweep(t.Context(), jobs.Options{Now: time.Now})
	if err != nil || len(r.Problems) != 1 || !strings.HasSuffix(r.Problems[0].Message, "; grant the verb patch on certificates.cert-manager.io in the namespace "+w.namespace+", by a Role or a ClusterRole") {
		t.Errorf("%v %v", err, r.Problems)
	}
	if _, _, err := cluster.Lock(t.Context(), engine.ObjectName{Namespace: w.namespace, Name: "sweep"}, "me", 0); err == nil || !strings.Contains(err.Error(), "; grant the verb ") {
		t.Errorf("the Lease: %v", err)
	}
}

// TestPreflightForbidden: who may only read is told which right is missing, not
// that the server would refuse; an admission policy that forbids does refuse.
func TestPreflightForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	nobody := rest.AnonymousClientConfig(w.Config)
	reader := w.as(nobody, jobs.Options{DryRun: report.DryRunClient})
	only(t, w.preflightAs(reader, chartGateway(shopListener)), jobs.CodePreflightForbidden,
		"the verb patch on gateways.gateway.networking.k8s.io in the namespace "+w.namespace)
	writer := w.as(nobody, jobs.Options{})
	only(t, w.preflightAs(writer, strings.ReplaceAll(chartGateway(), "edge", "new")), jobs.CodePreflightForbidden,
		"the verb create on gateways.gateway.networking.k8s.io")
	w.apply("me", `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: mine}, spec: {secretName: x, dnsNames: [a.example.com], issuerRef: {name: x}}}`)
	only(t, w.preflightAs(reader, `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: mine}}`), jobs.CodePreflightForbidden,
		"the verb get on certificates.cert-manager.io")

	w.forbid("a.example.com", "Forbidden")
	found := w.preflight(strings.ReplaceAll(chartGateway(shopListener), "edge", "new"))
	only(t, found, jobs.CodeWouldBeRefused, "that name is not for you")
	if !jobs.Blocks(found[0]) || !jobs.Blocks(engine.Finding{Code: jobs.CodePreflightForbidden, Severity: engine.Warning}) ||
		jobs.Blocks(engine.Finding{Code: jobs.CodeListenersAtRisk, Severity: engine.Warning}) {
		t.Error("what blocks an upgrade")
	}
}
