package jobs

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

const gatewayAPI = "/apis/gateway.networking.k8s.io"

// kindOf is what was read of a kind.
func kindOf(t *testing.T, reading *Reading, name string) KindReading {
	t.Helper()
	i := slices.IndexFunc(reading.Kinds, func(k KindReading) bool { return k.Kind == name })
	if i < 0 {
		t.Fatalf("no %s among the kinds read", name)
	}
	return reading.Kinds[i]
}

// Whatever version serves a kind is read, the preferred one first.
func TestDiscoverVersions(t *testing.T) {
	s := newFakeServer(t, "")
	delete(s.resources, gatewayAPI+"/v1/tlsroutes")
	delete(s.resources, gatewayAPI+"/v1/referencegrants")
	delete(s.resources, gatewayAPI+"/v1/grpcroutes")
	for _, r := range []fakeResource{
		{engine.GatewayGroup, "v1alpha2", "tlsroutes", "TLSRoute", nil},
		{engine.GatewayGroup, "v1alpha3", "tlsroutes", "TLSRoute", nil},
		{engine.GatewayGroup, "v1beta1", "referencegrants", "ReferenceGrant", nil},
		{engine.GatewayGroup, "v1beta1", "httproutes", "HTTPRoute", nil},
		{engine.GatewayGroup, "v1alpha2", "grpcroutes", "GRPCRoute", nil},
	} {
		s.serve(r)
	}
	s.preferred[engine.GatewayGroup] = "v1beta1"
	reading := mustRead(t, s, ReadOptions{})
	got := map[string]string{}
	for _, k := range reading.Kinds {
		if k.Group == engine.GatewayGroup {
			got[k.Kind] = k.Version
		}
	}
	want := map[string]string{"Gateway": "v1", "ListenerSet": "v1", "HTTPRoute": "v1beta1", "ReferenceGrant": "v1beta1",
		"TLSRoute": "v1alpha2", "GRPCRoute": "v1alpha2"}
	if diff := cmp.Diff(want, got); diff != "" || !reading.Snapshot.Complete {
		t.Errorf("complete %v, versions (-want +got):\n%s", reading.Snapshot.Complete, diff)
	}
}

// A kind, and a group, that the server proves not to serve has no objects.
func TestDiscoverNotServed(t *testing.T) {
	s := newFakeServer(t, world)
	delete(s.resources, gatewayAPI+"/v1/tlsroutes")
	for path := range s.resources {
		if strings.HasPrefix(path, "/apis/cert-manager.io/") {
			delete(s.resources, path)
		}
	}
	reading := mustRead(t, s, ReadOptions{})
	if !reading.Snapshot.Complete {
		t.Error("not complete")
	}
	for _, kind := range []string{"TLSRoute", "Certificate", "Issuer"} {
		if k := kindOf(t, reading, kind); k.Served || !k.Complete || k.Err != nil || k.Objects != 0 {
			t.Errorf("%s: %+v", kind, k)
		}
	}
}

// A group of which nothing is known makes its kinds incomplete; what is no
// concern of ours is not even asked.
func TestDiscoverFaults(t *testing.T) {
	for _, path := range []string{gatewayAPI, gatewayAPI + "/v1"} {
		for _, f := range faults {
			if strings.HasPrefix(f.name, "timeout") || path == gatewayAPI && f.name == "404" {
				continue // those are shown by lists, and below
			}
			t.Run(strings.TrimPrefix(path, "/apis/")+" "+f.name, func(t *testing.T) {
				s := newFakeServer(t, world)
				s.fault = at(path, "", f.serve)
				reading := mustRead(t, s, ReadOptions{})
				if reading.Snapshot.Complete || kindOf(t, reading, "Certificate").Objects != 1 {
					t.Errorf("complete %v, Certificates %+v", reading.Snapshot.Complete, kindOf(t, reading, "Certificate"))
				}
				k := kindOf(t, reading, "HTTPRoute")
				if k.Served || k.Complete || k.Err == nil || !strings.Contains(k.Err.Error(), "GET "+path+": ") {
					t.Errorf("HTTPRoute: %+v", k)
				}
			})
		}
	}
}

// "Not found" proves nothing while the server lists the group, or does not say.
func TestDiscoverNotFoundByProxy(t *testing.T) {
	tests := []struct {
		name string
		list http.HandlerFunc // nil: as the server does
		says string
	}{
		{"the server lists it", nil, "lists the group and does not find it"},
		{"the server does not say", failing(503, "ServiceUnavailable", "x"), "503"},
		{"another answer", fixed(`{"kind":"Status"}`), "Status, not APIGroupList"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeServer(t, world)
			s.fault = func(w http.ResponseWriter, r *http.Request, number int) bool {
				if r.URL.Path == gatewayAPI {
					http.Error(w, "404 page not found", http.StatusNotFound)
					return true
				}
				return tt.list != nil && at("/apis", "", tt.list)(w, r, number)
			}
			reading := mustRead(t, s, ReadOptions{})
			if err := kindOf(t, reading, "HTTPRoute").Err; reading.Snapshot.Complete || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("complete %v, error %v", reading.Snapshot.Complete, err)
			}
		})
	}
}

// What other groups do matters to nobody: they are not asked.
func TestDiscoverIgnoresBrokenAggregatedAPI(t *testing.T) {
	s := newFakeServer(t, world)
	s.serve(fakeResource{"metrics.k8s.io", "v1beta1", "pods", "PodMetrics", nil})
	s.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.Contains(r.URL.Path, "metrics") {
			return false
		}
		t.Errorf("request %s", r.URL)
		status(w, 503, "ServiceUnavailable", "the server is currently unable to handle the request")
		return true
	}
	if reading := mustRead(t, s, everything); !reading.Snapshot.Complete {
		t.Error("not complete")
	}
}

func TestTerminating(t *testing.T) {
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	serve := func(t *testing.T) *fakeServer {
		s := newFakeServer(t, "")
		s.resources[crds] = &fakeResource{group: "apiextensions.k8s.io", version: "v1", name: "customresourcedefinitions"}
		for _, name := range definitions[1:] { // the first one does not exist
			meta := map[string]any{"name": name}
			if strings.HasPrefix(name, "httproutes") {
				meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
			}
			s.resources[crds].objects = append(s.resources[crds].objects, map[string]any{"metadata": meta})
		}
		return s
	}
	got, absent, err := serve(t).cluster(t, nil).Terminating(t.Context())
	want := [][]string{{"httproutes.gateway.networking.k8s.io"}, definitions[:1]}
	if diff := cmp.Diff(want, [][]string{got, absent}); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, f := range faults {
		if strings.HasPrefix(f.name, "timeout") {
			continue // shown by lists
		}
		t.Run(f.name, func(t *testing.T) {
			s := serve(t)
			s.fault = at(crds+"/gateways.gateway.networking.k8s.io", "", f.serve)
			_, _, err := s.cluster(t, nil).Terminating(t.Context())
			if err == nil || !strings.Contains(err.Error(), "gateways.gateway.networking.k8s.io: GET ") {
				t.Errorf("error %v", err)
			}
		})
	}
}
