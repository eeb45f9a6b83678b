package jobs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// read is one read of a sweep: the nth request of a path, first pages and later
// ones counted apart.
type read struct {
	path  string
	later bool
	nth   int
}

func (r read) String() string {
	page := ""
	if r.later {
		page = ", not the first page"
	}
	return fmt.Sprintf("%s%s, no. %d", r.path, page, r.nth)
}

func (r read) matches(c clustertest.Call) bool {
	return c.Reads() && c.Path == r.path && c.Query.Has("continue") == r.later
}

// readsOf returns all reads among calls, sorted.
func readsOf(calls []clustertest.Call) []read {
	counts := map[read]int{}
	var out []read
	for _, c := range calls {
		if c.Reads() {
			kind := read{path: c.Path, later: c.Query.Has("continue")}
			counts[kind]++
			out = append(out, read{kind.path, kind.later, counts[kind]})
		}
	}
	slices.SortFunc(out, func(a, b read) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(strconv.FormatBool(a.later), strconv.FormatBool(b.later)), a.nth-b.nth)
	})
	return out
}

// spares says which of the things that are due may go although a read proves
// nothing: what the read has nothing to do with. None is the answer for all but a
// few.
func (r read) spares(due []string) []string {
	switch {
	// An issuer or Ingress may name the Secret of a Certificate.
	case strings.HasSuffix(r.path, "issuers"), strings.Contains(r.path, "/networking.k8s.io"):
		return without(due, "Certificate")
	case strings.Contains(r.path, "helm.toolkit.fluxcd.io"): // its HelmRelease may be suspended
		return without(due, "listener gone-flux.example.com of flux")
	}
	return nil
}

func without(list []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.HasPrefix(s, prefix) })
}

// transport is a round tripper made of a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// smallPages lets the server answer some lists in pages of a few objects.
func smallPages(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		resource := clustertest.ParseCall(r).Resource
		if query := r.URL.Query(); query.Has("limit") && (resource == "httproutes" || resource == "certificates") {
			query.Set("limit", "8")
			r = r.Clone(r.Context())
			r.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(r)
	})
}

// disturbance makes a read go wrong, once or from then on.
type disturbance struct {
	read
	fault string
	lasts bool
}

func (d disturbance) String() string {
	often := "once"
	if d.lasts {
		often = "lasting"
	}
	return fmt.Sprintf("%s, %s at GET %s", d.fault, often, d.read)
}

// statusOK is a fault that the package clustertest does not know: a proxy's idea
// of an error.
const statusOK = "status with 200"

// wrap returns the round tripper of the fault, and how often it struck.
func (d disturbance) wrap() (wrap func(http.RoundTripper) http.RoundTripper, hits func() int) {
	times := 1
	if d.lasts {
		times = -1
	}
	if d.fault == statusOK {
		return answer200(d.read, times)
	}
	f := &clustertest.Fault{Kind: clustertest.FaultKind(d.fault), Match: d.matches, Nth: d.nth, Times: times}
	if d.lasts && f.Kind == clustertest.EmptyContinue {
		f.Match = func(c clustertest.Call) bool { return c.Path == d.path && c.Reads() } // each page after it, too
	}
	return f.Wrap, f.Hits
}

func answer200(r read, times int) (wrap func(http.RoundTripper) http.RoundTripper, hits func() int) {
	var mutex sync.Mutex
	matched, struck := 0, 0
	strikes := func(c clustertest.Call) bool {
		mutex.Lock()
		defer mutex.Unlock()
		if !r.matches(c) {
			return false
		}
		matched++
		if matched < r.nth || times > 0 && struck == times {
			return false
		}
		struck++
		return true
	}
	wrap = func(next http.RoundTripper) http.RoundTripper {
		return transport(func(request *http.Request) (*http.Response, error) {
			if !strikes(clustertest.ParseCall(request)) {
				return next.RoundTrip(request)
			}
			body := []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no backend","code":503}`)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: request}, nil
		})
	}
	return wrap, func() int { mutex.Lock(); defer mutex.Unlock(); return struck }
}

// disturbances are all faults of all reads. An empty page is a fault of lists.
func disturbances(reads []read) []disturbance {
	var out []disturbance
	for _, r := range reads {
		for _, kind := range append(slices.Clone(clustertest.ReadFaults), statusOK) {
			isNamed := strings.Contains(r.path, "/customresourcedefinitions/") || path.Dir(r.path) == "/api/v1/namespaces"
			isList := !isNamed && (strings.Count(r.path, "/") > 3 || strings.HasPrefix(r.path, "/api/v1/"))
			if kind == clustertest.EmptyContinue && !isList {
				continue
			}
			out = append(out, disturbance{r, string(kind), true}, disturbance{r, string(kind), false})
		}
	}
	return out
}
