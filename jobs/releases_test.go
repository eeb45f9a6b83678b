package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// released is a Gateway as a program writes it: with the marks of a release, or
// without. Of what it renders, the Certificate is not there yet.
func released(name, marks string) string {
	hostname := "rendered." + name + ".example.com"
	listener, secret := engine.ListenerName(hostname, 443), engine.CertificateName(engine.KindGateway, name, hostname)
	return fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: %[1]s
  %[2]s
    gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: le}, attach: {from: All}}'
    gatewright.dev/rendered: '{"version": "v1alpha1", "listeners": ["%[3]s"]}'
spec:
  gatewayClassName: test
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: %[3]s, port: 443, protocol: HTTPS, hostname: %[4]s, tls: {certificateRefs: [{group: "", kind: Secret, name: %[5]s}]}}
`, name, marks, listener, hostname, secret)
}

const (
	helmMarks = "labels: {app.kubernetes.io/managed-by: Helm}\n  annotations:\n    meta.helm.sh/release-name: shop\n    meta.helm.sh/release-namespace: NS"
	noMarks   = "annotations:"
)

// TestHelmByOtherNames: Helm within another program writes under the name of
// that. What it renders beside its Gateway is left to it, nothing is removed
// while it may be at work, and its next upgrade is known to replace listeners.
func TestHelmByOtherNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	writers := []struct {
		gateway, manager, marks string
		applies                 bool
		isHelm, atRisk          bool
	}{
		{"named", "helm", noMarks, false, true, true},
		{"terraform", "terraform-provider-helm_v2.17.0_x5", helmMarks, false, true, true},
		{"upgraded", "terraform-provider-helm_v3.0.1_x5", noMarks, false, true, true},
		{"program", "deployer", helmMarks, false, true, true},
		{"applying", "deployer", helmMarks, true, true, false},
		{"stranger", "deployer", noMarks, false, false, false},
		{"adopted", "kubectl-create", helmMarks, false, false, false},
	}
	for _, c := range writers {
		manifest := strings.ReplaceAll(released(c.gateway, c.marks), "NS", w.namespace)
		if c.applies {
			w.apply(c.manager, manifest)
		} else {
			w.Kubectl(t, manifest, "create", "-n", w.namespace, "--field-manager="+c.manager, "-f", "-")
		}
		w.apply("app", strings.ReplaceAll(route(c.gateway, "rendered."+c.gateway+".example.com", "more."+c.gateway+".example.com"), "name: edge", "name: "+c.gateway))
	}
	first := w.sweep()
	w.later(time.Hour)
	w.sweep() // makes the Certificates that were left to Helm
	for _, c := range writers {
		w.apply("app", strings.ReplaceAll(route(c.gateway, "rendered."+c.gateway+".example.com"), "name: edge", "name: "+c.gateway))
	}
	w.sweep()
	w.later(24 * time.Hour)
	w.options.Settle = 48 * time.Hour
	last := w.sweep(func(o *jobs.Options) { o.DryRun = report.DryRunClient })
	for _, c := range writers {
		certificate := changeOf(first, engine.CertificateName(engine.KindGateway, c.gateway, "rendered."+c.gateway+".example.com"))
		if left := certificate.Outcome == report.Held && strings.HasPrefix(certificate.Reason, c.manager+" wrote"); left != c.isHelm {
			t.Errorf("%s: its Certificate is left to it: %v, want %v: %+v", c.gateway, left, c.isHelm, certificate)
		}
		removal := changeOf(last, c.gateway)
		if held := removal.Outcome == report.Held && strings.HasPrefix(removal.Reason, c.manager+" wrote"); held != c.isHelm {
			t.Errorf("%s: its removal is held: %v, want %v: %+v", c.gateway, held, c.isHelm, removal)
		}
		found := slices.ContainsFunc(last.Findings, func(f engine.Finding) bool {
			return f.Code == jobs.CodeListenersAtRisk && strings.HasSuffix(f.Object, "/"+c.gateway) && strings.HasPrefix(f.Message, c.manager+" writes")
		})
		if found != c.atRisk {
			t.Errorf("%s: found at risk: %v, want %v", c.gateway, found, c.atRisk)
		}
	}
}

// changeOf is the change of the object of a name.
func changeOf(r *report.Report, name string) report.Change {
	i := slices.IndexFunc(r.Changes, func(c report.Change) bool { return c.Name == name })
	if i < 0 {
		return report.Change{}
	}
	return r.Changes[i]
}
