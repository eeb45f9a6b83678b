package notify

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

func swept() *report.Report {
	r := report.New(time.Now(), report.Write)
	change := func(gateway, hostname string, action engine.Action, outcome report.Outcome, reason string) {
		r.Changes = append(r.Changes, report.Change{Kind: engine.KindGateway, Namespace: "infra", Name: gateway, Listener: "l-" + hostname,
			Hostname: hostname, Action: action, Outcome: outcome, Reason: reason})
	}
	change("edge", "b.example.com", engine.Add, report.Made, "")
	change("edge", "a.example.com", engine.Remove, report.Made, "")
	change("edge", "c.example.com", engine.Add, report.Refused, "no 100%")
	change("edge", "d.example.com", engine.Remove, report.Held, "later")
	change("by-hand", "e.example.com", engine.Add, report.Made, "")
	r.Problems = []report.Problem{{Object: "Gateway infra/edge", Message: "too many"}}
	r.HelmReleases = map[string]string{"Gateway infra/edge": "flux-system/platform"}
	return r
}

func TestEvents(t *testing.T) {
	want := []Event{
		{"flux-system/platform", "Gateway", "infra/edge", false, "a.example.com: removed\nb.example.com: added"},
		{"flux-system/platform", "Gateway", "infra/edge", true, "c.example.com: not added: no 100%\ntoo many"},
	}
	if diff := cmp.Diff(want, Events(swept())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	dry := swept()
	dry.DryRun = report.DryRunClient
	if got := Events(dry); got != nil {
		t.Errorf("a dry run has events: %v", got)
	}
}

// TestSend posts to a receiver, which gets well-formed events of Flux.
func TestSend(t *testing.T) {
	var mu sync.Mutex
	var got []map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var event map[string]any
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		got = append(got, event)
	}))
	defer server.Close()
	if err := Send(server.URL, Events(swept())); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%d events", len(got))
	}
	release := map[string]any{"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "namespace": "flux-system", "name": "platform"}
	gateway := map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "namespace": "infra", "name": "edge"}
	for i, want := range []map[string]any{
		{"severity": "info", "reason": ReasonListeners, "message": "Gateway infra/edge\na.example.com: removed\nb.example.com: added"},
		{"severity": "error", "reason": ReasonAttention, "message": "Gateway infra/edge\nc.example.com: not added: no 100%\ntoo many"},
	} {
		want["involvedObject"], want["relatedObject"], want["reportingController"] = release, gateway, "gatewright"
		for field, value := range want {
			if diff := cmp.Diff(value, got[i][field]); diff != "" {
				t.Errorf("event %d, %s (-want +got):\n%s", i, field, diff)
			}
		}
	}
}

// TestUnreachable: what does not answer, or refuses, costs little and is said.
func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "refusing": closed.Addr().String()} {
		start := time.Now()
		err := Send("http://"+address, Events(swept()))
		if err == nil || !strings.Contains(err.Error(), "2 of 2 events were not sent") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 2*patience {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}
