package clustertest_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

const issuers = `
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: self}, spec: {selfSigned: {}}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: ca}
spec: {secretName: ca, isCA: true, commonName: ca, issuerRef: {group: cert-manager.io, kind: Issuer, name: self}}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: ca}, spec: {ca: {secretName: ca}}}
`

// Both kinds of issuers sign: a self-signed Certificate, and one by a CA.
func TestCertificatesBecomeReady(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartCertManager(t)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "test", namespace, issuers+`
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: a}
spec: {secretName: a-tls, dnsNames: [a.example.com], issuerRef: {group: cert-manager.io, kind: Issuer, name: ca}}
`)
	cluster.Kubectl(t, "", "wait", "-n", namespace, "certificate/ca", "certificate/a", "--for=condition=Ready", "--timeout=60s")
	secret, err := cluster.Client.CoreV1().Secrets(namespace).Get(t.Context(), "a-tls", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(secret.Data["tls.crt"]) == 0 || len(secret.Data["tls.key"]) == 0 || len(secret.OwnerReferences) != 0 {
		t.Errorf("the Secret holds %d entries and has owners %v", len(secret.Data), secret.OwnerReferences)
	}
}

// With the flag a Secret belongs to its Certificate, and without it not: the
// later test of the two gets what it asks for.
func TestCertificateOwnsItsSecret(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartCertManager(t, "--enable-certificate-owner-ref")
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "test", namespace, issuers)
	cluster.Kubectl(t, "", "wait", "-n", namespace, "certificate/ca", "--for=condition=Ready", "--timeout=60s")
	secret, err := cluster.Client.CoreV1().Secrets(namespace).Get(t.Context(), "ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].Kind != "Certificate" {
		t.Errorf("owners: %v, want the Certificate", secret.OwnerReferences)
	}
}

// The gateway shim makes a Certificate of an annotated Gateway.
func TestGatewayShim(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartCertManager(t)
	namespace := cluster.Namespace(t)
	cluster.Apply(t, "test", namespace, `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, annotations: {cert-manager.io/issuer: self}}
spec:
  gatewayClassName: any
  listeners:
  - name: https
    hostname: a.example.com
    port: 443
    protocol: HTTPS
    tls: {certificateRefs: [{name: a-tls}]}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: self}, spec: {selfSigned: {}}}
`)
	clustertest.Eventually(t, func() error {
		_, err := cluster.TryKubectl("", "get", "certificate", "a-tls", "-n", namespace)
		return err
	})
	cluster.Kubectl(t, "", "wait", "-n", namespace, "certificate/a-tls", "--for=condition=Ready", "--timeout=60s")
}

// An object goes when its owner is gone, and a namespace when it is deleted.
func TestControllerManagerCleansUp(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartControllerManager(t)
	namespace := cluster.Namespace(t)
	owner := cluster.Apply(t, "test", namespace, gateway)[0]
	cluster.Apply(t, "test", namespace, fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences: [{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: edge, uid: %s}]
`, owner.GetUID()))
	cluster.Kubectl(t, "", "delete", "gateway", "edge", "-n", namespace)
	clustertest.Eventually(t, func() error {
		_, err := cluster.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "owned", metav1.GetOptions{})
		return wantNotFound(err)
	})
	cluster.Kubectl(t, "", "create", "namespace", "goes-away")
	cluster.Kubectl(t, "", "delete", "namespace", "goes-away", "--timeout=60s")
}

func wantNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("got %v, want not found", err)
}
