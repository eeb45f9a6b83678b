package engine

import (
	"regexp"
	"strings"
	"testing"
)

// The names below are on clusters: they never change. A change here renames
// live listeners and orders new certificates.
func TestNamesAreStable(t *testing.T) {
	long := strings.Repeat("x", 60) + "." + strings.Repeat("y", 60) + ".example.com"
	tests := []struct{ name, got, want string }{
		{"listener", ListenerName("a.example.com", 443), "https-a-example-com-88c33b572c81"},
		{"listener on another port", ListenerName("a.example.com", 8443), "https-a-example-com-9d4c427f725c"},
		{"wildcard listener", ListenerName("*.apps.example.com", 443), "https-wildcard-apps-example-com-21fddc6ef78d"},
		{"host called wildcard", ListenerName("wildcard.apps.example.com", 443), "https-wildcard-apps-example-com-dd309584dff5"},
		{"long listener", ListenerName(long, 443), "https-" + strings.Repeat("x", 44) + "-a36297bd28e3"},
		{"plain listener of a hostname", plainHostName("a.example.com", 80), "http-a-example-com-f56acfef8618"},
		{"certificate", CertificateName(KindGateway, "edge", "a.example.com"), "edge-a-example-com-90fac53406be-tls"},
		{"certificate of a ListenerSet", CertificateName(KindListenerSet, "edge", "a.example.com"), "edge-a-example-com-0e65020cf00f-tls"},
		{"certificate of a long Gateway", CertificateName(KindGateway, strings.Repeat("g", 70), "a.example.com"), "gggggggggggggggggggggg-a-example-com-41fb846618d0-tls"},
		{"grant", grantName(KindGateway, "edge", "web-tls"), "edge-web-tls-330bd52d09f7-grant"},
		{"redirect", redirectName("edge"), "edge-https-146a2d1472f4-redirect"},
		{"label", ForLabel("edge"), "edge"},
		{"long label", ForLabel(strings.Repeat("g.", 40) + "g"), strings.Repeat("g-", 24) + "g-ef3b4a96ee4c"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got, test.want)
		}
	}
}

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// FuzzNames: whatever the hostname, its names are valid labels of at most 63
// characters, stable, and differ where the hostnames or parents differ.
func FuzzNames(f *testing.F) {
	f.Add("a.example.com", "a-example.com", "edge", 443, 8443)
	f.Add("*.example.com", "wildcard.example.com", "edge.v1", 443, 443)
	f.Add("A.Example.COM.", "bücher.example", strings.Repeat("g", 253), 1, 65535)
	f.Add(strings.Repeat("a", 63)+"."+strings.Repeat("b", 63)+".c", strings.Repeat("a", 63)+"."+strings.Repeat("b", 62)+".c", "g", 80, 443)
	f.Fuzz(func(t *testing.T, rawA, rawB, gateway string, portA, portB int) {
		a, errA := NormalizeHostname(rawA)
		b, errB := NormalizeHostname(rawB)
		if errA != nil || errB != nil || !validPort(portA) || !validPort(portB) {
			t.Skip("not two hostnames and ports")
		}
		if again, err := NormalizeHostname(a); err != nil || again != a {
			t.Fatalf("NormalizeHostname is not idempotent: %q becomes %q, %v", a, again, err)
		}
		if checkName(gateway) != nil {
			gateway = "edge"
		}
		names := []string{
			ListenerName(a, portA), CertificateName(KindGateway, gateway, a), CertificateName(KindListenerSet, gateway, a),
			grantName(KindGateway, gateway, CertificateName(KindGateway, gateway, a)), redirectName(gateway),
		}
		for i, name := range names {
			if len(name) > maxName || !dnsLabel.MatchString(name) {
				t.Fatalf("%q is not a DNS label", name)
			}
			for _, other := range names[:i] {
				if name == other {
					t.Fatalf("%q names two things", name)
				}
			}
		}
		if label := ForLabel(gateway); len(label) > maxName {
			t.Fatalf("label %q is too long", label)
		}
		if (a == b && portA == portB) != (ListenerName(a, portA) == ListenerName(b, portB)) {
			t.Fatalf("listener names of %s:%d and %s:%d", a, portA, b, portB)
		}
		if (a == b) != (CertificateName(KindGateway, gateway, a) == CertificateName(KindGateway, gateway, b)) {
			t.Fatalf("certificate names of %s and %s", a, b)
		}
	})
}
