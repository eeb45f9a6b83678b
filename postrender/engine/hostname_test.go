package engine

import (
	"strings"
	"testing"
)

func TestNormalizeHostname(t *testing.T) {
	tests := []struct{ raw, want, err string }{
		{raw: "a.example.com", want: "a.example.com"},
		{raw: "API.Example.COM.", want: "api.example.com"},
		{raw: "*.Example.com", want: "*.example.com"},
		{raw: "localhost", want: "localhost"},
		{raw: "Bücher.example", want: "xn--bcher-kva.example"},
		{raw: "*.bücher.example", want: "*.xn--bcher-kva.example"},
		{raw: "xn--bcher-kva.example", want: "xn--bcher-kva.example"},
		{raw: "a--b.example.com", want: "a--b.example.com"},
		{raw: strings.Repeat("a", 63) + ".x", want: strings.Repeat("a", 63) + ".x"},
		{raw: "", err: "is empty"},
		{raw: ".", err: "is empty"},
		{raw: "*.", err: "wildcard"},
		{raw: "*", err: "wildcard"},
		{raw: "*.*.x", err: "wildcard"},
		{raw: "a.*.x", err: "wildcard"},
		{raw: "*a.x", err: "wildcard"},
		{raw: "a..x", err: "empty label"},
		{raw: "a.x..", err: "empty label"},
		{raw: "-a.x", err: "dash"},
		{raw: "a-.x", err: "dash"},
		{raw: "_x.example.com", err: "character"},
		{raw: "a b.example.com", err: "character"},
		{raw: "a.example.com\r", err: "character"},
		{raw: "a.example.com:443", err: "character"},
		{raw: "192.0.2.1", err: "IP address"},
		{raw: "2001:db8::1", err: "IP address"},
		{raw: "1.2.3", err: "number"},
		{raw: strings.Repeat("a", 64) + ".x", err: "63"},
		{raw: strings.Repeat("a.", 126) + "aa", err: "253"},
		{raw: "*." + strings.Repeat("a.", 125) + "aa", err: "253"},
	}
	for _, test := range tests {
		got, err := NormalizeHostname(test.raw)
		switch {
		case test.err == "" && err != nil:
			t.Errorf("NormalizeHostname(%q): %v", test.raw, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("NormalizeHostname(%q) = %q, %v; want an error with %q", test.raw, got, err, test.err)
		case got != test.want:
			t.Errorf("NormalizeHostname(%q) = %q, want %q", test.raw, got, test.want)
		}
	}
}

// TestCovers follows the examples of the Gateway API's page on hostnames.
func TestCovers(t *testing.T) {
	tests := []struct {
		pattern, hostname         string
		covers, intersects, below bool
	}{
		{"", "a.example.com", true, true, false},
		{"", "*.example.com", true, true, false},
		{"a.example.com", "a.example.com", true, true, false},
		{"a.example.com", "b.example.com", false, false, false},
		{"*.example.com", "a.example.com", true, true, true},
		{"*.example.com", "b.a.example.com", true, true, false},
		{"*.example.com", "example.com", false, false, false},
		{"*.example.com", "*.example.com", true, true, true},
		{"*.com", "*.example.com", true, true, false},
		{"*.foo.example.com", "*.example.com", false, true, false},
		{"a.example.com", "*.example.com", false, true, false},
		{"*.ample.com", "a.example.com", false, false, false},
		{"*.com", "*.org", false, false, false},
	}
	for _, test := range tests {
		if got := Covers(test.pattern, test.hostname); got != test.covers {
			t.Errorf("Covers(%q, %q) = %v", test.pattern, test.hostname, got)
		}
		if got := intersects(test.pattern, test.hostname); got != test.intersects {
			t.Errorf("intersects(%q, %q) = %v", test.pattern, test.hostname, got)
		}
		if got := intersects(test.hostname, test.pattern); got != test.intersects {
			t.Errorf("intersects(%q, %q) = %v", test.hostname, test.pattern, got)
		}
		if got := oneLabelBelow(test.pattern, test.hostname); got != test.below {
			t.Errorf("oneLabelBelow(%q, %q) = %v", test.pattern, test.hostname, got)
		}
	}
}
