package jobs_test

import (
	"strings"
	"testing"
	"time"
)

// With cert-manager itself: what it issued, and leaves behind, goes; what belongs
// to its Certificate is the garbage collector's, and one that goes on its own is
// no error.
func TestRetentionWithCertManager(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.StartCertManager(t)
	w.apply("me", "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: self}, spec: {selfSigned: {}}}")
	w.apply("me", strings.ReplaceAll(gatewayWithPolicy, "kind: ClusterIssuer, name: letsencrypt", "kind: Issuer, name: self"))
	w.apply("me", route("shop", "a.example.com"))
	w.sweep()
	name := certificateOf("edge", "a.example.com")
	w.Kubectl(t, "", "wait", "-n", w.namespace, "certificate/"+name, "--for=condition=Ready", "--timeout=60s")
	w.wantQuiet("edge")
	w.Kubectl(t, "", "delete", "httproute/shop", "-n", w.namespace)
	for range 4 {
		w.sweep()
		w.later(24 * time.Hour)
	}
	if w.get("certificate", name) != nil || !w.secret("a.example.com") {
		t.Fatal("want the Certificate gone and its Secret there")
	}
	w.sweep()
	if !w.marked("a.example.com") {
		t.Fatal("the Secret is not marked")
	}
	w.later(24 * time.Hour)
	w.sweep()
	if w.secret("a.example.com") {
		t.Fatal("the Secret is still there")
	}
	w.wantQuiet("edge")
}

// A name of a Certificate that cert-manager works on is claimed by it.
func TestSecretOfIssuingCertificateStays(t *testing.T) {
	t.Parallel()
	w := newRetention(t, "Delete")
	w.apply(issuing, issued("a.example.com"))
	w.sweep()
	w.later(100 * time.Hour)
	name := certificateOf("edge", "a.example.com")
	w.apply("me", "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: "+name+"}, spec: {secretName: other, dnsNames: [a.example.com], issuerRef: {group: cert-manager.io, kind: Issuer, name: ca}}}")
	w.sweep()
	if !w.secret("a.example.com") || w.marked("a.example.com") {
		t.Error("the Secret is gone or marked beside a Certificate of its name")
	}
}
