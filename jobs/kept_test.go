package jobs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// A Gateway or ListenerSet whose policy cannot be obeyed waits for somebody: it
// is a problem, also for Flux, and an Event on the object, the same one in each
// run. All else is done, and a run for other Gateways has no problem.
func TestKeptAsIs(t *testing.T) {
	t.Parallel()
	w := newTelling(t)
	w.features = append(w.features, withFlux) // where the server has HelmReleases
	w.apply("me", route("shop", "a.example.com"))
	for _, broken := range []struct{ name, policy, says string }{
		{"yaml", "issuerRef: {", "annotation gatewright.dev/policy"},
		{"value", "certificates: Nonsense", "certificates is \"Nonsense\""},
		{"sense", "certificates: Wildcard", "needs apex"},
	} {
		t.Run(broken.name, func(t *testing.T) {
			w.t = t
			policy, err := json.Marshal(broken.policy)
			if err != nil {
				t.Fatal(err)
			}
			w.apply("me", `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: broken, labels: {helm.toolkit.fluxcd.io/name: infra, helm.toolkit.fluxcd.io/namespace: flux}, annotations: {gatewright.dev/policy: `+string(policy)+`}}, spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP}]}}`)
			w.wantKept("Gateway", "broken", broken.says)
			r := w.sweep(func(o *jobs.Options) {
				o.Gateways = []engine.ObjectName{{Namespace: w.namespace, Name: "edge"}}
			})
			if got := w.events(); len(got) != 0 || r.Result != report.Done {
				t.Errorf("a run for another Gateway is %s, and tells\n%s", r.Result, strings.Join(got, "\n"))
			}
		})
	}
	w.t = t
	w.wantListeners("edge", "http", "a.example.com:443")
}

// wantKept says that a sweep tells of a parent that is kept as it is.
func (w *world) wantKept(kind, name, says string) {
	w.t.Helper()
	var r *report.Report
	for run := range 2 {
		var err error
		if r, err = w.trySweep(); err != nil {
			w.t.Fatal(err)
		}
		object := kind + " " + w.namespace + "/" + name
		if r.Result != report.Partial || len(r.Problems) != 1 || r.Problems[0].Object != object || !strings.Contains(r.Problems[0].Message, says) {
			w.t.Fatalf("run %d is %s:\n%s", run, r.Result, lines(r))
		}
		if r.HelmReleases[object] != "flux/infra" {
			w.t.Errorf("HelmReleases: %v", r.HelmReleases)
		}
	}
	if r.Events.Known != 1 || r.Events.Written != 0 {
		w.t.Errorf("Events in the second run: %+v", r.Events)
	}
	for _, got := range w.events() {
		if strings.HasPrefix(got, "Warning KeptAsIs "+kind+"/"+name+": ") && strings.Contains(got, says) {
			return
		}
	}
	w.t.Errorf("no Event KeptAsIs on %s %s", kind, name)
}
