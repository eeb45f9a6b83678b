package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// fakeServer answers GET requests for discovery, lists and objects as an API
// server does, and lets a test put faults before the answers.
type fakeServer struct {
	*httptest.Server
	// resources are by path: "/api/v1/namespaces".
	resources map[string]*fakeResource
	preferred map[string]string // version by group; else the first by name
	// fault answers a request instead, if it returns true. The number counts the
	// requests of the path from 1.
	fault func(w http.ResponseWriter, r *http.Request, number int) bool

	mutex    sync.Mutex
	counts   map[string]int
	requests []string
}

// fakeResource is what one resource holds.
type fakeResource struct {
	group, version, name, kind string
	objects                    []map[string]any
}

// someResources is what a cluster with Gateway API and cert-manager serves.
var someResources = []fakeResource{
	{"", "v1", "namespaces", "Namespace", nil},
	{"", "v1", "services", "Service", nil},
	{"", "v1", "secrets", "Secret", nil},
	{"gateway.networking.k8s.io", "v1", "gateways", "Gateway", nil},
	{"gateway.networking.k8s.io", "v1", "listenersets", "ListenerSet", nil},
	{"gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute", nil},
	{"gateway.networking.k8s.io", "v1", "grpcroutes", "GRPCRoute", nil},
	{"gateway.networking.k8s.io", "v1", "tlsroutes", "TLSRoute", nil},
	{"gateway.networking.k8s.io", "v1", "referencegrants", "ReferenceGrant", nil},
	{"cert-manager.io", "v1", "certificates", "Certificate", nil},
	{"cert-manager.io", "v1", "issuers", "Issuer", nil},
	{"cert-manager.io", "v1", "clusterissuers", "ClusterIssuer", nil},
	{"networking.k8s.io", "v1", "ingresses", "Ingress", nil},
	{"helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease", nil},
}

// newFakeServer serves the objects of a YAML stream.
func newFakeServer(t testing.TB, stream string) *fakeServer {
	t.Helper()
	s := &fakeServer{resources: map[string]*fakeResource{}, preferred: map[string]string{}, counts: map[string]int{}}
	for _, r := range someResources {
		s.serve(r)
	}
	for _, object := range parse(t, stream) {
		s.add(t, object)
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *fakeServer) serve(r fakeResource) {
	s.resources[resource{r.group, r.version, r.name}.path("")] = &r
}

func (s *fakeServer) add(t testing.TB, object map[string]any) {
	t.Helper()
	apiVersion, _ := object["apiVersion"].(string)
	for _, r := range s.resources {
		if r.kind == object["kind"] && (resource{r.group, r.version, r.name}).apiVersion() == apiVersion {
			r.objects = append(r.objects, object)
			slices.SortFunc(r.objects, func(a, b map[string]any) int {
				x, y := nameOf(a), nameOf(b)
				return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
			})
			return
		}
	}
	t.Fatalf("the fake server has no %s %v", apiVersion, object["kind"])
}

// cluster connects without waiting between attempts. The delays asked for are
// added to waits, if there is one.
func (s *fakeServer) cluster(t testing.TB, waits *[]time.Duration) *Cluster {
	t.Helper()
	c, err := Connect(&rest.Config{Host: s.URL})
	if err != nil {
		t.Error(err)
		return nil
	}
	var mutex sync.Mutex
	c.sleep = func(ctx context.Context, d time.Duration) error {
		mutex.Lock()
		defer mutex.Unlock()
		if waits != nil {
			*waits = append(*waits, d)
		}
		return context.Cause(ctx)
	}
	return c
}

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.counts[r.URL.Path]++
	number := s.counts[r.URL.Path]
	s.requests = append(s.requests, r.URL.RequestURI())
	s.mutex.Unlock()
	if s.fault != nil && s.fault(w, r, number) {
		return
	}
	if r.Method != http.MethodGet {
		status(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "the server reads only")
		return
	}
	steps := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if found, namespace, name := s.find(steps); found != nil {
		found.answer(w, r, namespace, name)
		return
	}
	s.discovery(w, steps)
}

// count is how often a path was asked for.
func (s *fakeServer) count(path string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.counts[path]
}

// find takes a path apart: [api|apis GROUP] VERSION [namespaces NS] RESOURCE [NAME].
func (s *fakeServer) find(steps []string) (found *fakeResource, namespace, name string) {
	head := 3
	if steps[0] == "api" {
		head = 2
	}
	if len(steps) < head {
		return nil, "", ""
	}
	root, rest := "/"+strings.Join(steps[:head], "/"), steps[head:]
	if len(rest) > 2 && rest[0] == "namespaces" {
		namespace, rest = rest[1], rest[2:]
	}
	if len(rest) == 0 || len(rest) > 2 {
		return nil, "", ""
	}
	if len(rest) == 2 {
		name = rest[1]
	}
	return s.resources[root+"/"+rest[0]], namespace, name
}

// answer is a list, or the object of the name.
func (f *fakeResource) answer(w http.ResponseWriter, r *http.Request, namespace, name string) {
	isMetadata := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	if name != "" {
		for _, o := range f.objects {
			if nameOf(o).Name == name {
				respond(w, shape(o, isMetadata))
				return
			}
		}
		notFound(w, f.name, name)
		return
	}
	var objects []any
	for _, o := range f.objects {
		selector := r.URL.Query().Get("labelSelector")
		if (namespace == "" || nameOf(o).Namespace == namespace) && (selector == "" || metadataOf(o, "labels")[selector] != nil) {
			objects = append(objects, shape(o, isMetadata))
		}
	}
	kind, apiVersion := f.kind, resource{f.group, f.version, f.name}.apiVersion()
	if isMetadata {
		kind, apiVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	from, _ := strconv.Atoi(query.Get("continue"))
	to := len(objects)
	metadata := map[string]any{"resourceVersion": "1000"}
	if limit > 0 && from+limit < len(objects) {
		to = from + limit
		metadata["continue"] = strconv.Itoa(to)
		metadata["remainingItemCount"] = len(objects) - to
	}
	respond(w, map[string]any{"kind": kind + "List", "apiVersion": apiVersion, "metadata": metadata, "items": append([]any{}, objects[from:to]...)})
}

// shape is an object as a list shows it.
func shape(object map[string]any, isMetadata bool) map[string]any {
	if !isMetadata {
		return object
	}
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]}
}

func (s *fakeServer) discovery(w http.ResponseWriter, steps []string) {
	groups := map[string][]*fakeResource{}
	for _, path := range slices.Sorted(maps.Keys(s.resources)) {
		r := s.resources[path]
		groups[r.group] = append(groups[r.group], r)
	}
	switch {
	case steps[0] != "apis":
		http.NotFound(w, nil)
	case len(steps) == 1:
		list := []any{}
		for group, resources := range groups {
			if group != "" {
				list = append(list, s.group(group, resources))
			}
		}
		respond(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list})
	case len(steps) == 2 && groups[steps[1]] != nil:
		respond(w, s.group(steps[1], groups[steps[1]]))
	case len(steps) == 3 && groups[steps[1]] != nil:
		respond(w, resourceList(steps[1], steps[2], groups[steps[1]]))
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

func (s *fakeServer) group(name string, resources []*fakeResource) map[string]any {
	var versions []any
	preferred := s.preferred[name]
	for _, r := range resources {
		version := map[string]any{"groupVersion": name + "/" + r.version, "version": r.version}
		if !slices.ContainsFunc(versions, func(v any) bool { return v.(map[string]any)["version"] == r.version }) {
			versions = append(versions, version)
		}
		preferred = cmp.Or(preferred, r.version)
	}
	return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": name, "versions": versions,
		"preferredVersion": map[string]any{"groupVersion": name + "/" + preferred, "version": preferred}}
}

func resourceList(group, version string, resources []*fakeResource) map[string]any {
	list := []any{}
	for _, r := range resources {
		if r.version == version {
			list = append(list, map[string]any{"name": r.name, "kind": r.kind, "verbs": []string{"get", "list"}},
				map[string]any{"name": r.name + "/status", "kind": r.kind, "verbs": []string{"get"}})
		}
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group + "/" + version, "resources": list}
}

func respond(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// status answers by a failure, as the API server words it.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code,
	})
}

func notFound(w http.ResponseWriter, resource, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound,
		"message": fmt.Sprintf("%s %q not found", resource, name), "details": map[string]any{"name": name, "kind": resource},
	})
}
