package jobs_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// story is a random world that lives for some steps, with a sweep after each.
type story struct {
	*ground
	random *rand.Rand
	routes map[string]aRoute // by name
	// served says of which route which hostname was served by which parent.
	served map[service]bool
	hand   int // listeners that releases and users wrote so far
	log    []string
	// removed counts the removals so far.
	removed int
}

// aRoute is a route of the story.
type aRoute struct {
	kind, namespace, parent string
	hostnames               []string
}

// service is a hostname that a parent serves to a route.
type service struct{ route, parent, hostname string }

// TestStories: in random worlds, whatever routes come, go and change, releases
// are applied, users edit, clocks move, reads fail and sweeps die: a hostname that
// a route claims all the time stays served, nothing of others changes, and the
// sweeps come to rest.
func TestStories(t *testing.T) {
	t.Parallel()
	stories, steps, removed := 5, 20, 0
	if os.Getenv(everyFault) != "" {
		stories = 20
	}
	t.Logf("%d stories of %d steps; %s=1 tells 20", stories, steps, everyFault)
	for seed := range stories {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newStory(t, uint64(seed))
			for range steps {
				s.step()
				if t.Failed() {
					t.Fatalf("the story so far:\n%s", strings.Join(s.log, "\n"))
				}
			}
			removed += s.removed
		})
	}
	if removed < 10 {
		t.Errorf("only %d removals in all stories", removed)
	}
}

func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	g := newGround(t)
	g.apply("helm", gatewayOf("edge", "", "")+gatewayOf("one", "hostnameOwnership: OneNamespace", "")+`
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec:
  parentRef: {name: edge}
  listeners: [{name: hand, port: 443, protocol: HTTPS, hostname: more.hand.example.com, tls: {certificateRefs: [{name: hand}]}}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: foreign}
spec: {dnsNames: [foreign.example.com], secretName: foreign-tls, issuerRef: {name: ca}}
`)
	return &story{ground: g, random: rand.New(rand.NewPCG(seed, 1)), routes: map[string]aRoute{}, served: map[service]bool{}}
}

func (s *story) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// step lets something happen, sweeps, maybe with trouble, and looks.
func (s *story) step() {
	for range 1 + s.random.IntN(2) {
		pick(s.random, s.putRoute, s.putRoute, s.putRoute, s.dropRoute, s.dropRoute, s.clock, s.clock, s.release, s.edit)()
	}
	s.others(func() {
		if s.random.IntN(3) == 0 {
			s.troubled()
			s.lookAt(false)
		}
		s.calm()
		s.lookAt(true)
	})
}

func (s *story) putRoute() {
	name := fmt.Sprint("r", s.random.IntN(6))
	r, exists := s.routes[name]
	if !exists {
		r = aRoute{kind: pick(s.random, "HTTPRoute", "HTTPRoute", "GRPCRoute"), namespace: pick(s.random, "NS", "OTHER"), parent: pick(s.random, "edge", "edge", "one", "more")}
		if r.parent == "more" {
			r.namespace = "NS"
		}
	}
	r.hostnames = nil
	for range 1 + s.random.IntN(3) {
		prefix := map[bool]string{true: "set", false: "h"}[r.parent == "more"] // a Gateway and its ListenerSet share one space of names
		r.hostnames = append(r.hostnames, fmt.Sprintf("%s%d.example.com", prefix, s.random.IntN(7)))
	}
	slices.Sort(r.hostnames)
	r.hostnames = slices.Compact(r.hostnames)
	s.routes[name] = r
	s.note("%s %s in %s claims %v of %s", r.kind, name, r.namespace, r.hostnames, r.parent)
	parent := "{name: " + r.parent + ", namespace: NS}"
	if r.parent == "more" {
		parent = toMore
	}
	s.apply("me", routeTo(r.kind, name, parent, strings.Join(r.hostnames, ", "), "namespace: "+r.namespace))
	s.forget(name, r.hostnames)
}

// forget drops what a route claims no more.
func (s *story) forget(route string, hostnames []string) {
	for served := range s.served {
		if served.route == route && !slices.Contains(hostnames, served.hostname) {
			delete(s.served, served)
		}
	}
}

func (s *story) dropRoute() {
	if len(s.routes) == 0 {
		return
	}
	name := pick(s.random, slices.Sorted(maps.Keys(s.routes))...)
	r := s.routes[name]
	resource := map[string]schema.GroupVersionResource{"HTTPRoute": httpRoutes, "GRPCRoute": grpcRoutes}[r.kind]
	namespace := map[string]string{"NS": s.namespace, "OTHER": s.other}[r.namespace]
	if err := s.Dynamic.Resource(resource).Namespace(namespace).Delete(s.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	s.note("%s is deleted", name)
	delete(s.routes, name)
	s.forget(name, nil)
}

func (s *story) clock() {
	d := pick(s.random, time.Hour, 13*time.Hour, 25*time.Hour, 25*time.Hour)
	s.later(d)
	s.note("%s go by", d)
}

// release applies a Gateway as Helm or Flux does, with another hand-written
// listener each time.
func (s *story) release() {
	name, manager := pick(s.random, "edge", "one"), pick(s.random, "helm", "helm-controller")
	s.hand++
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"gatewayClassName": "test", "listeners": []any{map[string]any{"name": "extra", "port": int64(9000 + s.hand), "protocol": "HTTP"}}}}}
	_, err := s.Dynamic.Resource(gateways).Namespace(s.namespace).Apply(s.t.Context(), name, object, metav1.ApplyOptions{FieldManager: manager + "-second", Force: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("%s applies %s", manager, name)
}

// edit adds a listener to a Gateway as somebody with an editor does.
func (s *story) edit() {
	name := pick(s.random, "edge", "one")
	s.hand++
	patch := fmt.Sprintf(`[{"op": "add", "path": "/spec/listeners/0", "value": {"name": "https-by-hand-%d", "port": 443, "protocol": "HTTPS", "hostname": "u%d.hand.example.com", "tls": {"certificateRefs": [{"name": "hand"}]}}}]`, s.hand, s.hand)
	_, err := s.Dynamic.Resource(gateways).Namespace(s.namespace).Patch(s.t.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.note("a user edits %s", name)
}

// troubled is a sweep with a read that fails, or one that dies at a write.
func (s *story) troubled() {
	fault := &clustertest.Fault{Kind: pick(s.random, clustertest.ReadFaults...), Match: clustertest.Call.Reads, Nth: 1 + s.random.IntN(50), Times: 1 + s.random.IntN(6)}
	if s.random.IntN(2) == 0 {
		fault = &clustertest.Fault{Kind: pick(s.random, clustertest.KillBefore, clustertest.KillAfter), Match: clustertest.Call.Writes, Nth: 1 + s.random.IntN(4)}
	}
	got, err := s.sweepBy(s.t.Context(), clustertest.Wrapped(s.config, fault.Wrap))
	s.note("a sweep meets %s at no. %d, %d times: %s %v, %d writes", fault.Kind, fault.Nth, fault.Hits(), got.Result, err, got.Writes)
}

// calm lets sweeps run until one writes nothing. Nothing keeps them from their
// work but the circuit breaker.
func (s *story) calm() {
	s.t.Helper()
	for range 4 {
		got, err := s.sweepBy(s.t.Context(), s.config)
		tripped := func(p report.Problem) bool { return strings.HasPrefix(p.Message, "too many:") }
		if err != nil || slices.ContainsFunc(got.Problems, func(p report.Problem) bool { return !tripped(p) }) {
			s.t.Errorf("a sweep fails: %s", told(got, err))
			return
		}
		s.note("a sweep: %s, %d writes", got.Result, got.Writes)
		for _, c := range got.Changes {
			if c.Action == engine.Remove && c.Outcome == report.Made {
				s.removed++
			}
		}
		if got.Writes == 0 {
			return
		}
	}
	s.t.Error("the sweeps do not come to rest")
}
