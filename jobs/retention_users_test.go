package jobs_test

import (
	"strings"
	"testing"
	"time"
)

// secretUsers are objects by the first label of a hostname, whose Secret each
// names as SECRET; nothing else names that.
func (w *world) secretUsers() map[string]string {
	w.t.Helper()
	other := w.Namespace(w.t)
	listener := `listeners: [{name: own, hostname: own.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: SECRET, namespace: NS}]}}]`
	w.apply("me", "{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: all}, spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: "+other+"}], to: [{group: '', kind: Secret}]}}")
	ingress := func(metadata, spec string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {" + metadata + "}, spec: {" + spec + "defaultBackend: {service: {name: x, port: {number: 80}}}}}"
	}
	issuer := func(kind, name, spec string) string {
		return "{apiVersion: cert-manager.io/v1, kind: " + kind + ", metadata: {name: " + name + "}, spec: {" + spec + "}}"
	}
	gateway := func(metadata, spec string) string {
		return "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {" + metadata + "}, spec: {gatewayClassName: test, " + spec + "}}"
	}
	plain := "listeners: [{name: http, port: 80, protocol: HTTP}]"
	w.t.Cleanup(func() { w.Kubectl(w.t, "", "delete", "clusterissuer", w.namespace, "--ignore-not-found") })
	return map[string]string{
		"ingress":            ingress("name: x", "tls: [{secretName: SECRET}], "),
		"ingress-annotation": ingress("name: annotated, annotations: {nginx.ingress.kubernetes.io/auth-tls-secret: NS/SECRET}", ""),
		"gateway":            gateway("name: second", listener),
		"gateway-elsewhere":  gateway("name: third, namespace: "+other, listener),
		"gateway-client":     gateway("name: fourth", plain+", tls: {backend: {clientCertificateRef: {name: SECRET}}}"),
		"listenerset":        "{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: set}, spec: {parentRef: {name: second}, " + listener + "}}",
		"certificate":        "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: mine}, spec: {secretName: SECRET, dnsNames: [x.example.com], issuerRef: {group: cert-manager.io, kind: Issuer, name: ca}}}",
		"ca":                 issuer("Issuer", "ca", "ca: {secretName: SECRET}"),
		"cluster-ca":         issuer("ClusterIssuer", "NS", "ca: {secretName: SECRET}"),
		"account":            issuer("Issuer", "acme", "acme: {server: 'https://acme.example.com', privateKeySecretRef: {name: SECRET}, solvers: []}"),
		"binding":            issuer("Issuer", "eab", "acme: {server: 'https://acme.example.com', externalAccountBinding: {keyID: k, keySecretRef: {name: SECRET, key: k}}, privateKeySecretRef: {name: x}, solvers: []}"),
		"solver":             issuer("Issuer", "dns", "acme: {server: 'https://acme.example.com', privateKeySecretRef: {name: x}, solvers: [{dns01: {cloudflare: {apiTokenSecretRef: {name: SECRET, key: token}}}}]}"),
		"vault-token":        issuer("Issuer", "token", "vault: {server: 'https://v.example.com', path: pki, auth: {tokenSecretRef: {name: SECRET, key: token}}}"),
		"vault-client":       issuer("Issuer", "client", "vault: {server: 'https://v.example.com', path: pki, clientCertSecretRef: {name: SECRET}, auth: {tokenSecretRef: {name: x, key: token}}}"),
		"venafi":             issuer("Issuer", "tpp", "venafi: {zone: z, tpp: {url: 'https://t.example.com', credentialsRef: {name: SECRET}}}"),
		"venafi-cloud":       issuer("Issuer", "cloud", "venafi: {zone: z, cloud: {apiTokenSecretRef: {name: SECRET, key: token}}}"),
	}
}

// A Secret stays, and is not even marked, while anything names it. Each of the
// objects is the only one that does.
func TestSecretsInUseStay(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	users := w.secretUsers()
	for name, manifest := range users {
		w.apply(issuing, issued(name+".example.com"))
		w.apply("me", strings.ReplaceAll(manifest, "SECRET", certificateOf("edge", name+".example.com")))
	}
	w.apply(issuing, issued("free.example.com"))
	for range 3 {
		w.sweep()
		w.later(100 * time.Hour)
	}
	for name := range users {
		if hostname := name + ".example.com"; !w.secret(hostname) || w.marked(hostname) {
			t.Errorf("%s names its Secret, which is gone or marked", name)
		}
	}
	if w.secret("free.example.com") {
		t.Error("the Secret that nothing names is still there")
	}
}

// A Certificate stays, and is not even marked, while anything names its Secret:
// cert-manager may take that with it.
func TestCertificatesInUseStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.MaxRemovals = 100
	w.apply("me", gatewayWithPolicy)
	users := w.secretUsers()
	hostnames := []string{"free.example.com"}
	for name := range users {
		hostnames = append(hostnames, name+".example.com")
	}
	w.apply("me", route("shop", hostnames[:9]...)+"---"+route("more", hostnames[9:]...))
	w.sweep()
	for name, manifest := range users {
		w.apply("me", strings.ReplaceAll(manifest, "SECRET", certificateOf("edge", name+".example.com")))
	}
	w.Kubectl(t, "", "delete", "httproute", "shop", "more", "-n", w.namespace)
	for range 4 { // listeners, then Certificates
		w.sweep()
		w.later(25 * time.Hour)
	}
	w.wantListeners("edge", "http")
	for name := range users {
		c := w.get("certificate", certificateOf("edge", name+".example.com"))
		if c == nil || c.GetAnnotations()["gatewright.dev/stale-since"] != "" {
			t.Errorf("%s names the Secret of its Certificate, which is gone or marked", name)
		}
	}
	if w.get("certificate", certificateOf("edge", "free.example.com")) != nil {
		t.Error("the Certificate whose Secret nothing names is still there")
	}
}
