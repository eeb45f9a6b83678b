package jobs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unprintable returns the first rune of a text that could steer a terminal, or
// stand for something else than it shows; a line's end is none where it is allowed.
func unprintable(text string, lines bool) string {
	for _, r := range text {
		if !unicode.IsPrint(r) && !(lines && r == '\n') {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// What a tenant writes is repeated in reports and Events, and breaks none of
// them: no character of it steers a terminal, and nothing is longer than it may
// be.
func TestTenantsTextIsHarmless(t *testing.T) {
	t.Parallel()
	c := newTenancy(t, "", "listenersets")
	nasty := []string{
		`"\x1b[2J\x1b]0;owned\x07.t.example.com"`, `"a\u009b31m.t.example.com"`, `"\u202egnp.t.example.com"`, `"\u200bx.t.example.com"`,
		`"line\nbreak"`, `"tab\there"`, `"del\x7f"`, `"null\x00"`, `"quote\"}],\"result\":\"done"`, `"<script>"`, `"%s%n%d"`, `"{{ .Values }}"`,
	}
	c.does(certificateFor("names", onEdge, nasty...))
	c.does(certificateFor("long", onEdge, `"`+strings.Repeat("é.", 50_000)+`"`))
	c.does(certificateFor("gateway", `gatewright.dev/gateway: "PLATFORM/\x1b[31mx\u009b"`, "x.t.example.com"))
	c.does(certificateFor("alias", `gateway-cert-operator.io/gateway-name: "\x1b[31m", gateway-cert-operator.io/gateway-namespace: "a\nb"`, "x.t.example.com"))
	c.does(certificateFor("port", onEdge+`, gatewright.dev/listener-port: "\x1b[31m`+strings.Repeat("9", 10_000)+`"`, "port.t.example.com"))
	c.does(strings.Replace(certificateFor("secret", onEdge, "secret.t.example.com"), "secretName: secret", `secretName: "../\x1b[31m\u202e"`, 1))
	c.does(strings.Replace(certificateFor("address", onEdge), "dnsNames: []", `ipAddresses: ["\x1b[31m", "\u202e1"]`, 1))
	c.does(setOf("set", `gatewright.dev/policy: '{"\u001b[31m": 1}', gatewright.dev/state: "\x1b[31m"`, harmless))
	r, err := c.trySweep(eventsOn)
	if err != nil {
		t.Fatal(err)
	}
	c.quiet(r)
	data, err := r.JSON()
	if err != nil || !json.Valid(data) || unprintable(string(data), true) != "" {
		t.Errorf("%v: the report is broken, or holds %s", err, unprintable(string(data), true))
	}
	last := r.Termination()
	if !json.Valid(last) || len(last) > 4096 || unprintable(string(last), false) != "" {
		t.Errorf("the termination message has %d bytes and holds %q: %s", len(last), unprintable(string(last), false), last)
	}
	if len(data) > 200_000 {
		t.Errorf("the report has %d bytes", len(data))
	}
	events, err := c.Client.CoreV1().Events(c.tenant).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(events.Items) < 3 || r.Events.Failed > 0 {
		t.Errorf("%d Events, %d failed: %s", len(events.Items), r.Events.Failed, r.Events.Error)
	}
	for _, e := range events.Items {
		if u := unprintable(e.Message, false); u != "" || len(e.Message) > 1024 {
			t.Errorf("an Event of %d bytes holds %s: %q", len(e.Message), u, e.Message)
		}
	}
}
