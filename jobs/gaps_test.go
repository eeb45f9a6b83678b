package jobs_test

import (
	"net/http"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// gapsOf are "CODE object" of the findings about what is not there.
func gapsOf(findings []engine.Finding) []string {
	var out []string
	for _, f := range findings {
		if slices.Contains([]string{engine.CodeNotServed, engine.CodeNoSuchNamespace, jobs.CodeNoSuchGateway}, f.Code) {
			out = append(out, f.Code+" "+f.Object)
		}
	}
	return out
}

// lacking lets a server not serve a kind of a group, in no version.
func lacking(group, kind string) func(http.RoundTripper) http.RoundTripper {
	return rewritten("/apis/"+group+"/v*", func(answer map[string]any) {
		list, _ := answer["resources"].([]any)
		answer["resources"] = slices.DeleteFunc(list, func(r any) bool { return r.(map[string]any)["kind"] == kind })
	})
}

// A sweep that has nothing to do because definitions are missing, or because a
// name matches nothing, says so; it is no failure, since they may come.
func TestGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	if got := gapsOf(w.sweep().Findings); len(got) > 0 {
		t.Fatalf("a cluster that has all: %v", got)
	}
	const gatewayGroup, certGroup = "gateway.networking.k8s.io", "cert-manager.io"
	plain := w.config
	for _, tt := range []struct {
		name   string
		wrap   []func(http.RoundTripper) http.RoundTripper
		change func(*jobs.Options)
		want   []string
	}{
		{"no Gateways", []func(http.RoundTripper) http.RoundTripper{lacking(gatewayGroup, "Gateway")}, nil, []string{"NotServed API group " + gatewayGroup}},
		{"no HTTPRoutes", []func(http.RoundTripper) http.RoundTripper{lacking(gatewayGroup, "HTTPRoute")}, nil, []string{"NotServed API group " + gatewayGroup}},
		{"nothing", []func(http.RoundTripper) http.RoundTripper{lacking(gatewayGroup, "Gateway"), lacking(gatewayGroup, "HTTPRoute"), lacking(certGroup, "Certificate")}, nil,
			[]string{"NotServed API group " + certGroup, "NotServed API group " + gatewayGroup}},
		{"no TLSRoutes, which the standard channel has not", []func(http.RoundTripper) http.RoundTripper{lacking(gatewayGroup, "TLSRoute")}, nil, nil},
		{"a Gateway that is not there", nil, func(o *jobs.Options) {
			o.Gateways = []engine.ObjectName{{Namespace: w.namespace, Name: "edge"}, {Namespace: w.namespace, Name: "nope"}}
		}, []string{"NoSuchGateway Gateway " + w.namespace + "/nope"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.t, w.config = t, clustertest.Wrapped(plain, tt.wrap...)
			if tt.change == nil {
				tt.change = func(*jobs.Options) {}
			}
			r := w.sweep(tt.change)
			if got := gapsOf(r.Findings); !slices.Equal(got, tt.want) || r.Result != report.Done {
				t.Errorf("%s with %v, want %v", r.Result, got, tt.want)
			}
		})
	}
}

// What cannot be made for want of a definition says so.
func TestGapsOfCertificates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("me", gatewayWithPolicy)
	w.apply("me", route("shop", "a.example.com"))
	w.config = clustertest.Wrapped(w.config, lacking("cert-manager.io", "Certificate"))
	r, err := w.trySweep()
	if err != nil || len(r.Problems) != 1 || r.Problems[0].Message != "the server serves no Certificates; the finding NotServed says what to install" {
		t.Errorf("%v\n%s", err, lines(r))
	}
	w.wantListeners("edge", "http")
}

// The same of namespaces, and of a Gateway in one that is not read.
func TestGapsOfNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config = rest.CopyConfig(w.Config) // the chart grants nothing in a namespace that is not there
	w.config.BearerToken = "none, the client certificate counts"
	w.apply("me", gatewayWithPolicy)
	r := w.sweep(func(o *jobs.Options) {
		o.Namespaces = []string{w.namespace, "nonexist"}
		o.Gateways = []engine.ObjectName{{Namespace: w.namespace, Name: "edge"}, {Namespace: "other", Name: "edge"}}
	})
	want := []string{"NoSuchNamespace Namespace nonexist", "NoSuchGateway Gateway other/edge"}
	if got := gapsOf(r.Findings); !slices.Equal(got, want) || r.Result != report.Done {
		t.Errorf("%s with %v, want %v", r.Result, got, want)
	}
}

// A preflight without definitions says so, and asks about nothing of them.
func TestGapsOfPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := clustertest.Wrapped(w.Config, lacking("gateway.networking.k8s.io", "Gateway"))
	only(t, w.preflightAs(config, chartGateway()), engine.CodeNotServed, "no Gateways", "install the CRDs of Gateway API")
}
