package jobs

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A list that the server forgot begins anew, and nothing of the first try stays.
func TestReadBeginsExpiredListAnew(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"410":     failing(410, "Expired", "too old"),
		"another": fixed(`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"resourceVersion":"2000"},"items":[]}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t, manyRoutes(501))
			expired := 0
			s.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.URL.Query().Get("continue") == "" || expired == restarts {
					return false
				}
				expired++
				serve(w, r)
				return true
			}
			reading := mustRead(t, s, ReadOptions{})
			if n := len(reading.Snapshot.Routes); !reading.Snapshot.Complete || n != 501 {
				t.Errorf("complete %v with %d routes, want 501", reading.Snapshot.Complete, n)
			}
			if n := s.count(lists["HTTPRoute"]); n != 2*(restarts+1) {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// An empty page may have another one behind it.
func TestReadFollowsEmptyPage(t *testing.T) {
	s := newFakeServer(t, world)
	empty := fixed(`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"resourceVersion":"1000","continue":"0"},"items":[]}`)
	s.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path != lists["HTTPRoute"] || r.URL.Query().Get("continue") != "" {
			return false
		}
		empty(w, r)
		return true
	}
	reading := mustRead(t, s, ReadOptions{})
	if n := len(reading.HTTPRoutes); !reading.Snapshot.Complete || n != 1 {
		t.Errorf("complete %v with %d routes of ours, want 1", reading.Snapshot.Complete, n)
	}
}

// Lists that are none of the server's are not believed.
func TestReadRefusesOddLists(t *testing.T) {
	list := func(metadata, items string) http.HandlerFunc {
		return fixed(`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","metadata":` + metadata + `,"items":` + items + `}`)
	}
	tests := []struct {
		name  string
		serve http.HandlerFunc
		says  string
	}{
		{"ends early", list(`{"remainingItemCount":3}`, "[]"), "3 more items remain"},
		{"same page forever", list(`{"continue":"x"}`, "[]"), "forever"},
		{"items are null", list(`{}`, "null"), "no items"},
		{"an item without a name", list(`{}`, `[{"metadata":{"namespace":"app"}}]`), "no name"},
		{"an item of another kind", list(`{}`, `[{"kind":"Pod","metadata":{"name":"x","namespace":"app"}}]`), "an item is Pod"},
		{"an item without a namespace", list(`{}`, `[{"metadata":{"name":"x"}}]`), `has the namespace ""`},
		{"an item that is no object", list(`{}`, `["x"]`), "cannot unmarshal"},
		{"a null item", list(`{}`, `[null]`), "no name"},
		{"an item that is not what the API says", list(`{}`, `[{"metadata":{"name":"x","namespace":"app"},"spec":{"hostnames":"a"}}]`), "HTTPRoute app/x"},
		{"another version", fixed(`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1beta1","metadata":{},"items":[]}`), "v1beta1 HTTPRouteList, not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeServer(t, world)
			s.fault = at(lists["HTTPRoute"], "", tt.serve)
			reading := mustRead(t, s, ReadOptions{})
			err := kindOf(t, reading, "HTTPRoute").Err
			if reading.Snapshot.Complete || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("complete %v, error %v; want one that says %q", reading.Snapshot.Complete, err, tt.says)
			}
		})
	}
}

// A namespaced list that answers with objects from elsewhere is not believed.
func TestReadRefusesItemOfOtherNamespace(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = at("/apis/gateway.networking.k8s.io/v1/namespaces/infra/httproutes", "",
		fixed(`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"x","namespace":"app"}}]}`))
	if reading := mustRead(t, s, ReadOptions{Namespaces: []string{"infra"}}); reading.Snapshot.Complete {
		t.Error("complete")
	}
}

// One namespace of several that may not be read makes the kind incomplete; what
// the others hold is read.
func TestReadForbiddenInOneNamespace(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = at("/apis/gateway.networking.k8s.io/v1/namespaces/other/httproutes", "", failing(403, "Forbidden", "no"))
	reading := mustRead(t, s, ReadOptions{Namespaces: []string{"app", "other", "infra"}})
	if reading.Snapshot.Complete || len(reading.Snapshot.Routes) != 4 {
		t.Errorf("complete %v with %d routes, want 4", reading.Snapshot.Complete, len(reading.Snapshot.Routes))
	}
	if err := kindOf(t, reading, "HTTPRoute").Err; err == nil || !strings.Contains(err.Error(), "httproutes.gateway.networking.k8s.io by a Role in the namespace other") {
		t.Errorf("error %v", err)
	}
}

// A 404 that does not name the namespace comes from something before the server.
func TestReadNamespaceNotFoundByProxy(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = at("/api/v1/namespaces/app", "", failing(404, "NotFound", "no route"))
	if reading := mustRead(t, s, ReadOptions{Namespaces: []string{"app"}}); reading.Snapshot.Complete {
		t.Error("complete")
	}
}

// What passes is waited for, as long as the server asks.
func TestReadTriesAgain(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = func(w http.ResponseWriter, r *http.Request, number int) bool {
		if r.URL.Path != lists["HTTPRoute"] || number >= attempts {
			return false
		}
		if number == 2 {
			w.Header().Set("Retry-After", "7")
		}
		if number == 3 {
			w.Header().Set("Retry-After", "86400")
		}
		status(w, 429, "TooManyRequests", "slow down")
		return true
	}
	var waits []time.Duration
	reading, err := s.cluster(t, &waits).Read(t.Context(), ReadOptions{})
	if err != nil || !reading.Snapshot.Complete {
		t.Fatalf("complete %v, %v", reading.Snapshot.Complete, err)
	}
	if diff := cmp.Diff([]time.Duration{firstDelay, 7 * time.Second, maxDelay}, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// A cancelled reading ends at once and gives nothing.
func TestReadCancelled(t *testing.T) {
	s := newFakeServer(t, world)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped by the user")
	s.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == lists["HTTPRoute"] {
			cancel(stop)
			<-r.Context().Done()
		}
		return false
	}
	reading, err := s.cluster(t, nil).Read(ctx, ReadOptions{})
	if reading != nil || !errors.Is(err, stop) {
		t.Errorf("reading %v, error %v", reading, err)
	}
}
