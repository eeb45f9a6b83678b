package jobs_test

import (
	"strings"
	"testing"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestBesideTheShim: on a Gateway that cert-manager's gateway-shim serves, the
// sweep adds listeners, the shim makes their Certificates, and neither undoes what
// the other does.
func TestBesideTheShim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.StartCertManager(t)
	w.apply("me", "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: self}, spec: {selfSigned: {}}}")
	w.apply("me", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, annotations: {cert-manager.io/issuer: self, gatewright.dev/policy: "attach: {from: All}"}}
spec: {gatewayClassName: test, listeners: [{name: http, port: 80, protocol: HTTP}]}
`)
	w.apply("app", route("shop", "a.example.com"))
	w.sweep()
	w.wantListeners("edge", "http", "a.example.com:443")
	name := certificateOf("edge", "a.example.com")
	w.Kubectl(t, "", "wait", "-n", w.namespace, "certificate", "--all", "--for=create", "--timeout=60s")
	w.Kubectl(t, "", "wait", "-n", w.namespace, "certificate/"+name, "--for=condition=Ready", "--timeout=60s")
	certificate := w.get("certificate", name)
	if owners := certificate.GetOwnerReferences(); len(owners) != 1 || owners[0].Kind != engine.KindGateway {
		t.Errorf("the Certificate's owners are %v, want the Gateway alone", owners)
	}
	for _, field := range certificate.GetManagedFields() {
		if strings.HasPrefix(field.Manager, engine.FieldManager) {
			t.Errorf("the sweep wrote the Certificate: %s", field.FieldsV1)
		}
	}
	w.sweep()
	w.wantQuiet("edge")
	if after := w.get("certificate", name); after.GetUID() != certificate.GetUID() || after.GetGeneration() != certificate.GetGeneration() {
		t.Error("the Certificate was made again, or changed")
	}
}
