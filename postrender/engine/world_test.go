package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
)

// world is a generated input: a release or a whole cluster, and its policy.
type world struct {
	rand     *rand.Rand
	objects  []map[string]any
	policies PolicySources
	complete bool
	release  string // its namespace, if it is known
	// known holds the objects of --snapshot, owned the listeners that are under
	// our field manager, both by their keys; holders who holds which hostname.
	known, owned map[string]bool
	holders      map[string]string
	held         map[string]string // by parent and hostname: who came to hold it
	quotas       map[string]string // by listener
	// unread says that Services were not read; ready which Certificates are, but
	// for those that are fresh.
	unread  bool
	ready   int
	fresh   map[string]bool
	yielded map[string]string // what is given up for a time, on all parents
}

// newWorld makes a world from a seed. Some have a past: what other policies
// asked for, and claims that are gone since.
func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 1)), known: map[string]bool{}, owned: map[string]bool{}, fresh: map[string]bool{}, held: map[string]string{}}
	w.complete = w.rand.IntN(2) == 0
	w.unread, w.ready = w.oneIn(6), w.rand.IntN(6)
	w.policies.Flags = w.policy()
	w.surroundings()
	for _, name := range []string{"edge", "inner"} {
		w.gateway(name)
	}
	for i := range w.rand.IntN(3) {
		w.listenerSet(i)
	}
	for i := range 3 + w.rand.IntN(8) {
		w.route(i)
	}
	for i := range w.rand.IntN(4) {
		w.certificate(i)
	}
	if w.rand.IntN(3) == 0 {
		w.past(8)
	}
	if w.complete && w.oneIn(3) {
		w.writtenLater()
	}
	if w.complete && w.oneIn(4) {
		w.yielded = map[string]string{pick(w, "a.example.com", "*.a.example.com", "*.example.com", "x.test"): "2026-01-02T03:00:00Z"}
	}
	return w
}

// past renders or sweeps the world under other policies while it has claims
// more than it has now.
func (w *world) past(more int) {
	before := *w
	for i := range more {
		before.route(100 + i)
	}
	for range 1 + w.rand.IntN(2) {
		before.complete = w.complete && w.rand.IntN(2) == 0
		before.policies.Flags = w.policy()
		if plan, err := before.compute(before.objects); err == nil {
			before.objects = before.apply(plan)
		}
	}
	w.objects = nil
	for _, object := range before.objects {
		if name := metadata(object)["name"].(string); len(name) < 3 || name[:2] != "r1" {
			w.objects = append(w.objects, object)
		}
	}
}

// writtenLater adds a hand-written listener to a Gateway that the sweep knows,
// where it has a place.
func (w *world) writtenLater() {
	l := map[string]any{"name": "later", "port": int64(pick(w, 8443, 8443, 9443, 80, 8080)), "protocol": "HTTP"}
	if port := l["port"].(int64); port == 8443 || port == 9443 {
		l["protocol"], l["hostname"] = "HTTPS", pick(w, "later.test", "*.b.example.com", "*.example.com")
		w.tls(l)
	}
	name := pick(w, "edge", "inner")
	for i, object := range w.objects {
		if object["kind"] != KindGateway || metadata(object)["name"] != name {
			continue
		}
		object = jsonMap(object)
		list := entries(below(object, "spec"), "listeners")
		for _, other := range list {
			if clashOf(l, other) != "" {
				return
			}
		}
		list = append(list, jsonMap(l))
		object["spec"] = with(below(object, "spec"), "listeners", toAny(list))
		w.objects[i] = object
	}
}

func toAny(list []map[string]any) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

func pick[T any](w *world, choices ...T) T { return choices[w.rand.IntN(len(choices))] }

// oneIn is true once in n times.
func (w *world) oneIn(n int) bool { return w.rand.IntN(n) == 0 }

// policy returns keys that may be any, and that are valid.
func (w *world) policy() Keys {
	keys := Keys{
		"issuerRef":         map[string]any{"name": "le"},
		"attach":            w.attach(),
		"cover":             pick(w, CoverAny, CoverWildcard, CoverExact),
		"certificates":      pick(w, PerHostname, PerHostname, PerHostname, ListenersOnly, Wildcard, ExistingSecret, Edge),
		"http":              map[string]any{"listener": pick[any](w, "Auto", true, false), "redirect": pick[any](w, "Auto", true, false)},
		"wildcards":         []any{"*.a.example.com"},
		"hostnameOwnership": pick(w, "Shared", "Shared", OneNamespace),
		"withdraw":          pick(w, "SamePort", "Served"),
		"passthrough":       w.passthrough(),
	}
	mode := keys["certificates"].(string)
	if isApexMode(mode) || w.oneIn(6) {
		keys["apex"] = "example.com"
		keys["childApexes"] = pick(w, nil, []any{"a.example.com"}, []any{"x.test"}, []any{"a.example.com", "x.test"}, []any{"x.test", "a.x.test", "X.test", "example.com"})
	}
	if mode == ExistingSecret {
		keys["secretName"] = "wild-tls"
	}
	maps.Copy(keys, w.rareKeys())
	return keys
}

func (w *world) rareKeys() Keys {
	keys := Keys{}
	for key, value := range map[string]any{
		"hostnames":                map[string]any{"allow": []any{"*.example.com"}},
		"claims":                   ClaimsOptedIn,
		"acmeNamespaces":           []any{"acme"},
		"httpsPort":                8443,
		"tlsOptions":               map[string]any{"example.com/option": "x"},
		"certificateTemplate":      map[string]any{"duration": "2160h", "privateKey": map[string]any{"size": 4096}, "labels": map[string]any{"a": "b"}},
		"maxListenersPerNamespace": 2,
		"maxListeners":             8,
		"priorityNamespaces":       []any{"ap*"},
		"issuers":                  []any{map[string]any{"hostnames": []any{"*.a.example.com"}, "issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "other"}}},
	} {
		keys[key] = value
	}
	for _, key := range policyKeys() { // in an order that the seed alone decides
		if keys[key] != nil && !w.oneIn(6) {
			delete(keys, key)
		}
	}
	if w.oneIn(8) {
		keys["hostnames"] = map[string]any{"perNamespace": map[string]any{"app": []any{"*.a.example.com", "x.test"}, "*": []any{"*.example.com"}}}
	}
	return keys
}

func (w *world) attach() map[string]any {
	return pick(w,
		map[string]any{"from": "Same"},
		map[string]any{"from": "All"},
		map[string]any{"from": "All"},
		map[string]any{"from": "List", "namespaces": []any{pick(w, "infra", "app"), pick(w, "kid", "app")}},
		map[string]any{"from": "Selector", "selector": w.selector()},
	)
}

func (w *world) selector() map[string]any {
	return pick(w,
		map[string]any{"matchLabels": map[string]any{"team": "a"}},
		map[string]any{"matchLabels": map[string]any{metadataName: "app"}},
		map[string]any{"matchExpressions": []any{map[string]any{"key": "team", "operator": "NotIn", "values": []any{"a"}}}},
		map[string]any{"matchExpressions": []any{map[string]any{"key": "team", "operator": "Exists"}}},
	)
}

func (w *world) passthrough() []any {
	out := []any{}
	for i := range max(w.rand.IntN(6)-2, 0) {
		out = append(out, map[string]any{
			"name":     fmt.Sprintf("e%d", i),
			"port":     pick(w, 443, 443, 5432, 8443, 80, 0),
			"hostname": w.hostname(),
			"from":     pick(w, "Same", "Attach"),
		})
	}
	return out
}

func (w *world) hostname() string {
	if w.oneIn(12) {
		return pick(w, "BAD..name", "192.0.2.1", "Upper.Example.com.", "bücher.example.com", "*.*.example.com")
	}
	return pick(w, "", "*.", "*.", "a.", "b.a.") + pick(w, "a.example.com", "a.example.com", "b.example.com", "example.com", "x.test")
}

// listeners are hand-written ones that an API server takes.
func (w *world) listeners(n int) []any {
	out := []any{}
	seen := map[string]bool{}
	class := map[int64]string{}
	for i := range w.rand.IntN(n) {
		l := map[string]any{"name": fmt.Sprintf("l%d", i), "port": int64(pick(w, 80, 443, 443, 8443)), "protocol": pick(w, "HTTP", "HTTPS", "HTTPS", "TLS")}
		if hostname, err := NormalizeHostname(w.hostname()); err == nil && !w.oneIn(3) {
			l["hostname"] = hostname
		}
		w.tls(l)
		if w.oneIn(2) {
			l["allowedRoutes"] = map[string]any{"namespaces": pick(w, map[string]any{"from": "All"}, map[string]any{"from": "Same"},
				map[string]any{"from": "Selector", "selector": w.selector()})}
		}
		if w.oneIn(8) {
			l["allowedRoutes"] = map[string]any{"kinds": []any{map[string]any{"kind": pick(w, KindHTTPRoute, KindGRPCRoute)}}}
		}
		port, kind := l["port"].(int64), l["protocol"] == "HTTP"
		key := fmt.Sprint(port, l["hostname"])
		if seen[key] || (class[port] != "" && class[port] != fmt.Sprint(kind)) {
			continue
		}
		seen[key], class[port] = true, fmt.Sprint(kind)
		out = append(out, l)
	}
	return out
}

func (w *world) tls(l map[string]any) {
	switch l["protocol"] {
	case "HTTPS":
		ref := map[string]any{"name": pick(w, "own", "c0-tls", "c1-tls", CertificateName(KindGateway, "edge", "a.example.com"))}
		if w.oneIn(4) {
			ref["namespace"] = "app"
		}
		l["tls"] = map[string]any{"mode": "Terminate", "certificateRefs": []any{ref}}
	case "TLS":
		l["tls"] = map[string]any{"mode": "Passthrough"}
		if w.oneIn(4) {
			l["tls"] = map[string]any{"mode": "Terminate", "certificateRefs": []any{map[string]any{"name": "own"}}}
		}
	}
}
