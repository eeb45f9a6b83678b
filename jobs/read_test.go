package jobs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

var everything = ReadOptions{Services: true, Secrets: true, Ingresses: true}

func mustRead(t testing.TB, s *fakeServer, o ReadOptions) *Reading {
	t.Helper()
	reading, err := s.cluster(t, nil).Read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return reading
}

// kindLines shows each kind in a line.
func kindLines(reading *Reading) []string {
	var lines []string
	for _, k := range reading.Kinds {
		line := fmt.Sprintf("%s %s/%s objects=%d pages=%d", k.Kind, k.Group, k.Version, k.Objects, k.Pages)
		if !k.Served {
			line = fmt.Sprintf("%s %s not served", k.Kind, k.Group)
		}
		if !k.Complete {
			line += " incomplete"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestReadEverything(t *testing.T) {
	reading := mustRead(t, newFakeServer(t, world), everything)
	want := []string{
		"Namespace /v1 objects=2 pages=1",
		"Secret /v1 objects=1 pages=1",
		"Service /v1 objects=1 pages=1",
		"Certificate cert-manager.io/v1 objects=1 pages=1",
		"ClusterIssuer cert-manager.io/v1 objects=1 pages=1",
		"Issuer cert-manager.io/v1 objects=1 pages=1",
		"GRPCRoute gateway.networking.k8s.io/v1 objects=1 pages=1",
		"Gateway gateway.networking.k8s.io/v1 objects=1 pages=1",
		"HTTPRoute gateway.networking.k8s.io/v1 objects=2 pages=1",
		"ListenerSet gateway.networking.k8s.io/v1 objects=1 pages=1",
		"ReferenceGrant gateway.networking.k8s.io/v1 objects=1 pages=1",
		"TLSRoute gateway.networking.k8s.io/v1 objects=1 pages=1",
		"HelmRelease helm.toolkit.fluxcd.io/v2 objects=1 pages=1",
		"Ingress networking.k8s.io/v1 objects=1 pages=1",
	}
	if diff := cmp.Diff(want, kindLines(reading)); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	s := reading.Snapshot
	got := fmt.Sprint(s.Complete, len(s.Gateways), len(s.ListenerSets), len(s.Routes), len(s.Grants), len(s.Certificates),
		len(s.Issuers), len(s.Namespaces), len(s.Services), len(s.Secrets))
	if want := "true 1 1 4 1 1 2 2 1 1"; got != want {
		t.Errorf("snapshot has %s, want %s", got, want)
	}
	if diff := cmp.Diff(map[string]string{"cert-manager.io/certificate-name": "cert"}, s.Secrets[0].Annotations); diff != "" {
		t.Errorf("annotations of the Secret (-want +got):\n%s", diff)
	}
	if got := s.Namespaces[1].Labels["team"]; got != "infra" {
		t.Errorf("label of the namespace is %q, want infra", got)
	}
}

func TestReadLiveObjects(t *testing.T) {
	reading := mustRead(t, newFakeServer(t, world), everything)
	edge := engine.ObjectName{Namespace: "infra", Name: "edge"}
	cert := engine.ObjectName{Namespace: "infra", Name: "cert"}
	secret := engine.ObjectName{Namespace: "infra", Name: "cert-tls"}
	parent := reading.Gateways[edge]
	if parent == nil || parent.Object.GetUID() != "u-edge" || parent.Object.GetResourceVersion() != "7" {
		t.Fatalf("the Gateway is %+v", parent)
	}
	if len(parent.Managed) != 1 || parent.Managed[0].Manager != "gatewright" || !strings.Contains(parent.Managed[0].FieldsV1.String(), "https-a") {
		t.Errorf("managedFields are %+v", parent.Managed)
	}
	if parent.Object.GetManagedFields() != nil || parent.Object.Object["status"] != nil || parent.Object.GetAnnotations()[lastApplied] != "" {
		t.Errorf("the Gateway keeps what nobody needs: %v", parent.Object.Object)
	}
	tests := []struct {
		name string
		got  any
		want any
	}{
		{"certificate", reading.Certificates[cert], Identity{UID: "u-cert", ResourceVersion: "9",
			Annotations: map[string]string{"gatewright.dev/unused-since": "2026-01-01T00:00:00Z"}}},
		{"routes", reading.HTTPRoutes, map[engine.ObjectName]Identity{{Namespace: "infra", Name: "edge-redirect"}: {UID: "u-redirect"}}},
		{"grants", len(reading.Grants), 1},
		{"listener sets", len(reading.ListenerSets), 1},
		{"secrets", reading.Secrets, map[engine.ObjectName]Identity{secret: {UID: "u-secret"}}},
		{"ingresses", reading.IngressSecrets, map[engine.ObjectName]string{secret: "Ingress infra/old"}},
		{"releases", reading.HelmReleases, map[engine.ObjectName]HelmReleaseState{
			{Namespace: "flux-system", Name: "edge"}: {Suspended: true, Reconciling: true, Ready: "False"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Only what is asked for is requested, and Secrets only by their metadata.
func TestReadAsksForNoMore(t *testing.T) {
	s := newFakeServer(t, strings.ReplaceAll(world, "helm.toolkit.fluxcd.io/name: edge", "x: y"))
	mustRead(t, s, ReadOptions{})
	for _, r := range s.requests {
		for _, word := range []string{"secrets", "services", "ingresses", "helm", "networking.k8s.io/v1/ing"} {
			if strings.Contains(r, word) {
				t.Errorf("request %s, which nobody asked for", r)
			}
		}
	}
}

// The route on item 501 is read like the first one.
func TestReadFollowsPages(t *testing.T) {
	s := newFakeServer(t, manyRoutes(1201))
	var seen []int
	reading := mustRead(t, s, ReadOptions{Progress: func(kind string, objects int) {
		if kind == engine.KindHTTPRoute {
			seen = append(seen, objects)
		}
	}})
	if diff := cmp.Diff([]int{500, 1000, 1201}, seen); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if n := len(reading.Snapshot.Routes); n != 1201 || reading.Snapshot.Routes[500].Hostnames[0] != "h00501.example.com" {
		t.Errorf("%d routes", n)
	}
	if n := s.count(lists["HTTPRoute"]); n != 3 {
		t.Errorf("%d requests for 3 pages", n)
	}
	for _, r := range s.requests {
		if strings.Contains(r, "resourceVersion") {
			t.Errorf("request %s names a resourceVersion, which a stale cache may answer", r)
		}
	}
}

func TestReadNamespaces(t *testing.T) {
	s := newFakeServer(t, world)
	reading := mustRead(t, s, ReadOptions{Namespaces: []string{"app", "gone"}})
	if !reading.Snapshot.Complete {
		t.Error("not complete for the namespaces")
	}
	got := fmt.Sprint(len(reading.Snapshot.Gateways), len(reading.Snapshot.Routes), len(reading.Snapshot.Namespaces))
	if want := "0 3 1"; got != want {
		t.Errorf("read %s, want %s", got, want)
	}
	for path := range s.counts {
		isList := strings.Contains(path, "/v1/") && !strings.Contains(path, "/namespaces/") && !strings.Contains(path, "clusterissuers")
		if isList {
			t.Errorf("request for %s, which a namespaced role does not permit", path)
		}
	}
}
