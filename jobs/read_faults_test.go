package jobs

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is an answer that proves nothing.
type fault struct {
	name  string
	serve http.HandlerFunc
	// tries is how often the request is sent before the fault is believed.
	tries int
	// says is a part of the error, and fix what it tells to do.
	says, fix string
}

const again = "run again when the API server answers"

var faults = []fault{
	{"500", failing(500, "InternalError", "etcd is down"), attempts, "500 Internal Server Error: etcd is down", again},
	{"503", failing(503, "ServiceUnavailable", "shutting down"), attempts, "503 Service Unavailable", again},
	{"504 of a proxy", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusGatewayTimeout) }, attempts, "504 Gateway Timeout", again},
	{"429", failing(429, "TooManyRequests", "slow down"), attempts, "429 Too Many Requests", again},
	{"timeout", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, attempts, "no whole answer within", again},
	{"timeout in the body", stallInBody, attempts, "no whole answer within", again},
	{"reset", reset, attempts, "", again},
	{"truncated", truncated, attempts, "cut short", again},
	{"truncated to its stated length", fixed(`{"kind":"HTTPRouteList","items":[{"metadata`), attempts, "cut short", again},
	{"empty", fixed(""), attempts, "cut short", again},
	{"401", failing(401, "Unauthorized", "Unauthorized"), 1, "401 Unauthorized", "give credentials"},
	{"403", failing(403, "Forbidden", `User "sweep" cannot`), 1, `403 Forbidden: User "sweep" cannot`, "grant the verb"},
	{"404", failing(404, "NotFound", "the server could not find the requested resource"), 1, "404 Not Found", "although it says so"},
	{"410", failing(410, "Expired", "too old"), restarts + 1, "410 Gone: too old", "fewer objects change"},
	{"status 200", fixed(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no backend"}`), 1, "no backend", "see what answers"},
	{"wrong kind", fixed(`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`), 1, "v1 PodList, not", "see what answers"},
	{"no kind", fixed(`{}`), 1, "nothing nothing, not", "see what answers"},
	{"null", fixed(`null`), 1, "not the JSON of a list", "see what answers"},
	{"a list of lists", fixed(`[]`), 1, "not the JSON of a list", "see what answers"},
	{"HTML", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in</html>") }, 1, "text/html", "see what answers"},
	{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, 1, "a redirect to /login", "see what answers"},
}

func failing(code int, reason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { status(w, code, reason, message) }
}

func fixed(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}

func reset(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		connection.Close()
	}
}

func truncated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","items":[`)
}

func stallInBody(w http.ResponseWriter, r *http.Request) {
	truncated(w, r)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// lists are the paths that a reading of everything lists, by kind.
var lists = map[string]string{
	"Namespace":      "/api/v1/namespaces",
	"Service":        "/api/v1/services",
	"Secret":         "/api/v1/secrets",
	"Gateway":        "/apis/gateway.networking.k8s.io/v1/gateways",
	"ListenerSet":    "/apis/gateway.networking.k8s.io/v1/listenersets",
	"HTTPRoute":      "/apis/gateway.networking.k8s.io/v1/httproutes",
	"GRPCRoute":      "/apis/gateway.networking.k8s.io/v1/grpcroutes",
	"TLSRoute":       "/apis/gateway.networking.k8s.io/v1/tlsroutes",
	"ReferenceGrant": "/apis/gateway.networking.k8s.io/v1/referencegrants",
	"Certificate":    "/apis/cert-manager.io/v1/certificates",
	"Issuer":         "/apis/cert-manager.io/v1/issuers",
	"ClusterIssuer":  "/apis/cert-manager.io/v1/clusterissuers",
	"Ingress":        "/apis/networking.k8s.io/v1/ingresses",
	"HelmRelease":    "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
}

var neededKinds = []string{"Certificate", "GRPCRoute", "Gateway", "HTTPRoute", "ListenerSet", "Namespace", "ReferenceGrant", "TLSRoute"}

// at puts a fault before every answer of a path, or of a page of it.
func at(path, token string, serve http.HandlerFunc) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path != path || token != "" && r.URL.Query().Get("continue") != token {
			return false
		}
		serve(w, r)
		return true
	}
}

// readWith reads from a server with a fault. Only a test of a timeout is
// impatient: a busy machine makes everybody late.
func readWith(t *testing.T, s *fakeServer, f fault, o ReadOptions) *Reading {
	t.Helper()
	c := s.cluster(t, nil)
	if strings.HasPrefix(f.name, "timeout") {
		c.timeout = 500 * time.Millisecond
	}
	reading, err := c.Read(t.Context(), o)
	if err != nil {
		t.Error(err)
		return newReading()
	}
	return reading
}

// A list that fails in whatever way makes its kind, and if it is needed the
// snapshot, incomplete; all other kinds are read. The error says where, why and
// what to do.
func TestReadFaultOfEachList(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var group sync.WaitGroup // all kinds at once, because some faults take their time
			for kind, path := range lists {
				s := newFakeServer(t, world)
				s.fault = at(path, "", f.serve)
				group.Go(func() {
					reading := readWith(t, s, f, everything)
					// Go's transport repeats a request of its own accord after a reset.
					if got := s.count(path); got != f.tries && f.name != "reset" {
						t.Errorf("%s: %d requests, want %d", kind, got, f.tries)
					}
					checkFaulty(t, reading, kind, path, f)
				})
			}
			group.Wait()
		})
	}
}

func checkFaulty(t *testing.T, reading *Reading, kind, path string, f fault) {
	t.Helper()
	if got, want := reading.Snapshot.Complete, !slices.Contains(neededKinds, kind); got != want {
		t.Errorf("%s: the snapshot is complete: %v, want %v", kind, got, want)
	}
	for _, k := range reading.Kinds {
		if k.Kind != kind {
			if k.Err != nil || !k.Complete || k.Objects == 0 && k.Kind != "HelmRelease" {
				t.Errorf("%s: %s suffers too: %+v", kind, k.Kind, k)
			}
			continue
		}
		if k.Complete || k.Objects != 0 || k.Err == nil {
			t.Errorf("%s: the kind is %+v", kind, k)
			continue
		}
		for _, part := range []string{kind + ": GET " + path + ": ", f.says, f.fix} {
			if !strings.Contains(k.Err.Error(), part) {
				t.Errorf("%s: the error does not say %q:\n%v", kind, part, k.Err)
			}
		}
	}
}

// A fault of the second page takes the first one with it.
func TestReadFaultOfSecondPage(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newFakeServer(t, manyRoutes(501))
			s.fault = at(lists["HTTPRoute"], "500", f.serve)
			reading := readWith(t, s, f, ReadOptions{})
			if reading.Snapshot.Complete || len(reading.Snapshot.Routes) != 0 {
				t.Errorf("complete %v with %d routes", reading.Snapshot.Complete, len(reading.Snapshot.Routes))
			}
		})
	}
}
