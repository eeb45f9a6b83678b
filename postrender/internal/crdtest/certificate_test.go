package crdtest

import (
	"fmt"
	"strings"
	"testing"
)

const certificateBase = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a-tls, namespace: infra}, spec: {%s}}`

// certificate is a manifest of a Certificate that has what it must have, and
// more.
func certificate(more string) string {
	return fmt.Sprintf(certificateBase, `secretName: a-tls, dnsNames: [a.example.com],
issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letsencrypt}, `+more)
}

func TestCertificates(t *testing.T) {
	issuer := "issuerRef: {name: i}"
	tests := []refusal{
		{"complete", certificate(""), ""},
		{"no secretName", fmt.Sprintf(certificateBase, "dnsNames: [a.example.com], "+issuer), "spec.secretName: Required value"},
		{"secretName with a wildcard", fmt.Sprintf(certificateBase, `secretName: "*.x", dnsNames: [a.example.com], `+issuer),
			"spec.secretName: Invalid value"},
		{"no issuer", fmt.Sprintf(certificateBase, "secretName: s, dnsNames: [a.example.com]"), "spec.issuerRef: Required value"},
		{"issuer without name", fmt.Sprintf(certificateBase, "secretName: s, dnsNames: [a.example.com], issuerRef: {kind: Issuer}"),
			"spec.issuerRef.name: Required value"},
		{"unknown kind of issuer", fmt.Sprintf(certificateBase, "secretName: s, dnsNames: [a.example.com], issuerRef: {kind: Vault, name: i}"),
			"spec.issuerRef.kind: Unsupported value"},
		{"kind of another group", fmt.Sprintf(certificateBase,
			"secretName: s, dnsNames: [a.example.com], issuerRef: {group: awspca.cert-manager.io, kind: AWSPCAIssuer, name: i}"), ""},
		{"no names", fmt.Sprintf(certificateBase, "secretName: s, "+issuer), "a Certificate needs a name"},
		{"long commonName", certificate("commonName: " + strings.Repeat("a", 65)), "spec.commonName: Too long"},
		{"an hour", certificate("duration: 1h, renewBefore: 5m"), ""},
		{"under an hour", certificate("duration: 59m"), "spec.duration: Invalid value"},
		{"duration in days", certificate("duration: 90d"), "unknown unit"},
		{"renewal too late", certificate("renewBefore: 4m59s"), "spec.renewBefore: Invalid value"},
		{"renewal before the start", certificate("duration: 24h, renewBefore: 24h"), "spec.renewBefore: Invalid value"},
		{"renewal past the default duration", certificate("renewBefore: 2160h"), "spec.renewBefore: Invalid value"},
		{"renewal twice", certificate("renewBefore: 24h, renewBeforePercentage: 33"), "excludes renewBefore"},
		{"percentage of 100", certificate("duration: 2160h, renewBeforePercentage: 100"), "spec.renewBeforePercentage: Invalid value"},
		{"no history", certificate("revisionHistoryLimit: 0"), "spec.revisionHistoryLimit"},
		{"ECDSA key", certificate("privateKey: {algorithm: ECDSA, size: 384}"), ""},
		{"RSA key too small", certificate("privateKey: {size: 1024}"), "spec.privateKey.size: Invalid value"},
		{"ECDSA key of no curve", certificate("privateKey: {algorithm: ECDSA, size: 2048}"), "spec.privateKey.size: Invalid value"},
		{"unknown usage", certificate("usages: [tls]"), `spec.usages[0]: Unsupported value: "tls"`},
		{"secretTemplate", certificate("secretTemplate: {labels: {x: v}, annotations: {example.com/x: v}}"), ""},
		{"bad label in secretTemplate", certificate(`secretTemplate: {labels: {x: "a b"}}`), "spec.secretTemplate.labels"},
		{"cert-manager's annotation in secretTemplate", certificate(`secretTemplate: {annotations: {cert-manager.io/x: v}}`),
			"is cert-manager's own"},
		{"unknown field", certificate("dnsName: x"), "unknown fields: spec.dnsName"},
		{"garbage in dnsNames: known gap", strings.Replace(certificate(""), "[a.example.com]", `[A_.*, A_.*]`, 1), ""},
	}
	checkAll(t, tests, Check)
}

func TestIssuable(t *testing.T) {
	names := func(names string) string { return strings.Replace(certificate(""), "[a.example.com]", names, 1) }
	tests := []refusal{
		{"one name", certificate(""), ""},
		{"apex and wildcard", names(`[example.com, "*.example.com"]`), ""},
		{"two labels under a wildcard", names(`["*.example.com", a.b.example.com]`), ""},
		{"covered by a wildcard", names(`["*.example.com", www.example.com]`), "is covered by"},
		{"twice", names(`[a.example.com, a.example.com]`), "is there twice"},
		{"upper case", names(`[A.example.com]`), "RFC 1123"},
		{"trailing dot", names(`[a.example.com.]`), "RFC 1123"},
		{"long label", names(`[` + strings.Repeat("a", 64) + `.example.com]`), "no more than 63"},
		{"wildcard in the middle", names(`["a.*.example.com"]`), "RFC 1123"},
		{"IP", names(`[1.2.3.4]`), "is an IP address"},
		{"commonName of its own", certificate("commonName: b.example.com"), "is not among the dnsNames"},
		{"another kind", gateway(plain), ""},
	}
	checkAll(t, tests, issuable)
}
