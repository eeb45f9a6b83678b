package clustertest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Call is a request as the API server's authorizer sees it.
type Call struct {
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Resource    string // empty for discovery and other paths
	Subresource string
	Namespace   string
	Name        string
	Path        string
	Query       url.Values
}

var requestInfo = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// ParseCall says what a request asks for.
func ParseCall(r *http.Request) Call {
	call := Call{Verb: strings.ToLower(r.Method), Path: r.URL.Path, Query: r.URL.Query()}
	info, err := requestInfo.NewRequestInfo(r)
	if err != nil {
		return call // the server refuses it too
	}
	call.Verb = info.Verb
	if info.IsResourceRequest {
		call.Group, call.Resource, call.Subresource = info.APIGroup, info.Resource, info.Subresource
		call.Namespace, call.Name = info.Namespace, info.Name
	}
	return call
}

// Writes says whether the request changes something. What remains are reads:
// discovery too, dry runs, and questions about rights, which are creates by
// their verb.
func (c Call) Writes() bool {
	asks := slices.Contains([]string{"get", "list", "watch", "head"}, c.Verb)
	return !asks && !c.Query.Has("dryRun") && c.Group != "authorization.k8s.io"
}

// Reads is the opposite of Writes.
func (c Call) Reads() bool { return !c.Writes() }

// String is short: "list gateways.gateway.networking.k8s.io infra/edge".
func (c Call) String() string {
	if c.Resource == "" {
		return c.Verb + " " + c.Path
	}
	name := c.Resource
	if c.Group != "" {
		name += "." + c.Group
	}
	if c.Subresource != "" {
		name += "/" + c.Subresource
	}
	return strings.TrimSuffix(strings.TrimSuffix(c.Verb+" "+name+" "+c.Namespace+"/"+c.Name, "/"), " ")
}

// Recorder writes down the requests that pass through it.
type Recorder struct {
	mu    sync.Mutex
	calls []Call
}

// Wrap is for rest.Config.Wrap and for Proxy.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		r.mu.Lock()
		r.calls = append(r.calls, ParseCall(req))
		r.mu.Unlock()
		return next.RoundTrip(req)
	})
}

// Calls returns the requests so far, in order.
func (r *Recorder) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Reset forgets the requests so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// Wrapped returns a copy of the configuration whose requests pass through the
// wrappers, the first one outermost.
func Wrapped(config *rest.Config, wrappers ...func(http.RoundTripper) http.RoundTripper) *rest.Config {
	config = rest.CopyConfig(config)
	for _, wrap := range slices.Backward(wrappers) {
		config.Wrap(wrap)
	}
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
