package jobs_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// world is a namespace of the real API server, and a clock for the sweep and the
// server.
type world struct {
	*clustertest.Env
	t         *testing.T
	namespace string
	now       time.Time
	options   jobs.Options
	// config is that of the sweep, which runs as the chart's ServiceAccount: the
	// token is added when it runs, see [world.as].
	config *rest.Config
	// features of the chart that no option tells of.
	features []string
}

func newWorld(t *testing.T, features ...string) *world {
	t.Helper()
	env := clustertest.Start(t)
	w := &world{Env: env, t: t, namespace: env.Namespace(t), now: time.Now(), features: features}
	w.config = clustertest.Wrapped(rest.AnonymousClientConfig(env.Config), w.noneRefused)
	w.options = jobs.Options{Grace: 24 * time.Hour, Settle: 10 * time.Minute}
	return w
}

// later moves the clocks of the sweep and of the server.
func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }

// trySweep runs one sweep.
func (w *world) trySweep(change ...func(*jobs.Options)) (*report.Report, error) {
	w.t.Helper()
	o := w.options
	o.Now = func() time.Time { return w.now }
	for _, f := range change {
		f(&o)
	}
	cluster, err := jobs.Connect(clustertest.Wrapped(w.as(w.config, o), dated(w.now)))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := cluster.Sweep(w.t.Context(), o)
	data, _ := r.JSON()
	if null := regexp.MustCompile(`(?m)^ *".*": null,?$`).Find(data); null != nil {
		w.t.Errorf("the report has %s, where those who read it want a list", null)
	}
	return r, err
}

// dated sets the server's clock, as its answers show it.
func dated(now time.Time) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && response.Header.Get("Date") != "" {
				response.Header.Set("Date", now.UTC().Format(http.TimeFormat))
			}
			return response, err
		})
	}
}

func (w *world) sweep(change ...func(*jobs.Options)) *report.Report {
	w.t.Helper()
	report, err := w.trySweep(change...)
	if err != nil {
		w.t.Fatalf("sweep: %v", err)
	}
	for _, p := range report.Problems {
		w.t.Errorf("problem of %s: %s", p.Object, p.Message)
	}
	return report
}

// apply applies manifests by a field manager; NS stands for the namespace.
func (w *world) apply(manager, manifest string) {
	w.t.Helper()
	w.Apply(w.t, manager, w.namespace, strings.ReplaceAll(manifest, "NS", w.namespace))
}

// resources are those that the tests look at.
var resources = map[string]schema.GroupVersionResource{
	"gateway":        {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"},
	"listenerset":    {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "listenersets"},
	"httproute":      {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "httproutes"},
	"grpcroute":      {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "grpcroutes"},
	"tlsroute":       {Group: "gateway.networking.k8s.io", Version: "v1", Resource: "tlsroutes"},
	"certificate":    {Group: "cert-manager.io", Version: "v1", Resource: "certificates"},
	"secret":         {Version: "v1", Resource: "secrets"},
	"deployment":     {Group: "apps", Version: "v1", Resource: "deployments"},
	"service":        {Version: "v1", Resource: "services"},
	"serviceaccount": {Version: "v1", Resource: "serviceaccounts"},
}

// get returns an object of the namespace, or nil.
func (w *world) get(kind, name string) *unstructured.Unstructured {
	w.t.Helper()
	object, err := w.Dynamic.Resource(resources[kind]).Namespace(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && resources[kind].Resource != "" {
		return nil
	}
	if err != nil {
		w.t.Fatalf("%s %s: %v", kind, name, err)
	}
	return object
}

// listeners returns "hostname:port" or the name of each listener of a Gateway,
// sorted.
func (w *world) listeners(gateway string) []string {
	w.t.Helper()
	object := w.get("gateway", gateway)
	if object == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(object.Object, "spec", "listeners")
	var out []string
	for _, item := range list {
		l := item.(map[string]any)
		if hostname, _ := l["hostname"].(string); hostname != "" {
			out = append(out, fmt.Sprintf("%s:%v", hostname, l["port"]))
		} else {
			out = append(out, l["name"].(string))
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) wantListeners(gateway string, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, w.listeners(gateway)); diff != "" {
		w.t.Fatalf("listeners of %s (-want +got):\n%s", gateway, diff)
	}
}

// wantQuiet says that a sweep writes nothing and moves no generation.
func (w *world) wantQuiet(gateways ...string) {
	w.t.Helper()
	before := map[string]string{}
	for _, g := range gateways {
		before[g] = w.get("gateway", g).GetResourceVersion()
	}
	if report := w.sweep(); report.Writes != 0 {
		w.t.Fatalf("a sweep with nothing to do wrote %d objects: %s", report.Writes, lines(report))
	}
	for _, g := range gateways {
		if after := w.get("gateway", g).GetResourceVersion(); after != before[g] {
			w.t.Fatalf("a sweep with nothing to do changed %s", g)
		}
	}
}

// lines prints the changes of a report.
func lines(r *report.Report) string {
	var b strings.Builder
	for _, c := range r.Changes {
		fmt.Fprintf(&b, "%s %s %s %s: %s\n", c.Outcome, c.Action, c.Name, c.Hostname, c.Reason)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "problem %s: %s\n", p.Object, p.Message)
	}
	return b.String()
}

const gatewayWithPolicy = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  annotations:
    gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: letsencrypt}, attach: {from: All}}'
spec:
  gatewayClassName: test
  listeners: [{name: http, port: 80, protocol: HTTP}]
`

// route is an HTTPRoute of Gateway edge with hostnames.
func route(name string, hostnames ...string) string {
	return fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s}
spec:
  parentRefs: [{name: edge, namespace: NS}]
  hostnames: [%s]
`, name, strings.Join(hostnames, ", "))
}

func certificateOf(gateway, hostname string) string {
	return engine.CertificateName(engine.KindGateway, gateway, hostname)
}
