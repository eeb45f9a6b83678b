package engine

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// The rules by which a listener takes a route, written from the Gateway API's
// text on manifests, without a look at the engine.

// manifests is what the rules read: the objects of a cluster or release after a
// plan.
type manifests struct {
	// complete says that a namespace without a manifest has no labels but its
	// name; otherwise they are not known.
	complete bool
	objects  map[string]map[string]any // by key
	// listeners holds those of each parent, by the parent's key.
	listeners map[string][]map[string]any
}

func newManifests(w *world, plan *Plan) *manifests {
	s := &manifests{complete: w.complete, objects: map[string]map[string]any{}, listeners: map[string][]map[string]any{}}
	for _, object := range slices.Concat(w.objects, madeBy(plan)) {
		s.objects[keyOf(object)] = object
		if kind := object["kind"]; kind == KindGateway || kind == KindListenerSet {
			_, s.listeners[keyOf(object)], _ = listenersOf(plan, object)
		}
	}
	return s
}

// text reads a string somewhere below an object.
func text(object map[string]any, path ...string) string {
	for _, field := range path[:len(path)-1] {
		object, _ = object[field].(map[string]any)
	}
	value, _ := object[path[len(path)-1]].(string)
	return value
}

func below(object map[string]any, path ...string) map[string]any {
	for _, field := range path {
		object, _ = object[field].(map[string]any)
	}
	return object
}

func entries(object map[string]any, field string) []map[string]any {
	var out []map[string]any
	list, _ := object[field].([]any)
	for _, entry := range list {
		out = append(out, entry.(map[string]any))
	}
	return out
}

func texts(object map[string]any, field string) []string {
	var out []string
	list, _ := object[field].([]any)
	for _, entry := range list {
		out = append(out, entry.(string))
	}
	return out
}

func number(object map[string]any, field string) int { return int(asFloat(object[field])) }

func asFloat(value any) float64 {
	switch v := value.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// takes says why a listener of a parent takes no route that names the parent by
// ref, or "". The route's hostname is one that it asks for.
func (s *manifests) takes(parent string, l, route, ref map[string]any, hostname string) string {
	object := s.objects[parent]
	kind := route["kind"].(string)
	met := intersection(text(l, "hostname"), hostname)
	switch {
	case text(ref, "sectionName") != "" && text(ref, "sectionName") != text(l, "name"):
		return "the section differs"
	case number(ref, "port") != 0 && number(ref, "port") != number(l, "port"):
		return "the port differs"
	case !takesKind(l, kind):
		return "the kind does not fit"
	case !s.admits(below(l, "allowedRoutes", "namespaces"), text(object, "metadata", "namespace"), text(route, "metadata", "namespace")):
		return "the namespace is not admitted"
	case met == "" && hostname != "":
		return "the hostname is not answered"
	case kind != KindTLSRoute && met != hostname && hostname != "":
		return "only a part of the hostname is answered"
	}
	return s.unusable(parent, l)
}

func takesKind(l map[string]any, kind string) bool {
	byProtocol := map[string][]string{
		"HTTP": {KindHTTPRoute, KindGRPCRoute}, "HTTPS": {KindHTTPRoute, KindGRPCRoute}, "TLS": {KindTLSRoute},
	}
	listed := entries(below(l, "allowedRoutes"), "kinds")
	return slices.Contains(byProtocol[text(l, "protocol")], kind) &&
		(len(listed) == 0 || slices.ContainsFunc(listed, func(k map[string]any) bool { return k["kind"] == kind }))
}

// admits evaluates namespaces: {from, selector} for an object of a namespace.
func (s *manifests) admits(namespaces map[string]any, own, other string) bool {
	switch text(namespaces, "from") {
	case "", "Same":
		return own == other
	case "All":
		return true
	case "Selector":
		return s.selected(below(namespaces, "selector"), other)
	}
	return false
}

// selected evaluates a label selector. What is not known counts as fulfilled.
func (s *manifests) selected(selector map[string]any, namespace string) bool {
	object, found := s.objects[fmt.Sprintf("%s /%s", KindNamespace, namespace)]
	value := func(key string) (value string, set, known bool) {
		if key == "kubernetes.io/metadata.name" {
			return namespace, true, true
		}
		text, set := below(object, "metadata", "labels")[key].(string)
		return text, set, found || s.complete
	}
	for key, want := range below(selector, "matchLabels") {
		if got, set, known := value(key); known && (!set || got != want) {
			return false
		}
	}
	for _, e := range entries(selector, "matchExpressions") {
		got, set, known := value(text(e, "key"))
		listed := set && slices.Contains(texts(e, "values"), got)
		holds := map[string]bool{"In": listed, "NotIn": !listed, "Exists": set, "DoesNotExist": !set}
		if known && !holds[text(e, "operator")] {
			return false
		}
	}
	return true
}

// intersection returns what two hostnames have in common, "" for nothing. No
// hostname is every hostname.
func intersection(a, b string) string {
	under := func(wildcard, name string) bool {
		return strings.HasPrefix(wildcard, "*.") && strings.HasSuffix(name, strings.TrimPrefix(wildcard, "*"))
	}
	switch {
	case a == b, b == "":
		return a
	case a == "":
		return b
	case under(a, b):
		return b
	case under(b, a):
		return a
	}
	return ""
}

// unusable says why a listener serves nobody, whatever it takes, or "": another
// listener has precedence on its port, or its Gateway takes no such set.
func (s *manifests) unusable(parent string, l map[string]any) string {
	object := s.objects[parent]
	if object["kind"] != KindListenerSet {
		return ""
	}
	ref := below(object, "spec", "parentRef")
	host := fmt.Sprintf("%s %s/%s", KindGateway, text(ref, "namespace"), text(ref, "name"))
	gateway := s.objects[host]
	if gateway == nil {
		return ""
	}
	namespaces := below(gateway, "spec", "allowedListeners", "namespaces")
	if text(namespaces, "from") == "" || !s.admits(namespaces, text(gateway, "metadata", "namespace"), text(object, "metadata", "namespace")) {
		return "the Gateway takes no listener of the set"
	}
	for _, other := range s.before(host, parent) {
		if number(other, "port") == number(l, "port") && (classOf(other) != classOf(l) || text(other, "hostname") == text(l, "hostname")) {
			return precedence
		}
	}
	return ""
}

// plainForm is a hostname as it is compared: lower case, in ASCII, without a dot
// at the end. What is no hostname stays as it is written.
func plainForm(raw string) string {
	name, err := idna.ToASCII(strings.ToLower(strings.TrimSuffix(raw, ".")))
	_, notIP := netip.ParseAddr(name)
	if err != nil || notIP == nil || strings.Contains(name, "..") || strings.Count(name, "*") > 1 {
		return raw
	}
	return name
}

const precedence = "another listener has precedence"

// before returns the listeners that come before those of a ListenerSet: the
// Gateway's, and those of older sets.
func (s *manifests) before(host, set string) []map[string]any {
	out := slices.Clone(s.listeners[host])
	age := func(key string) string {
		meta := metadata(s.objects[key])
		return fmt.Sprintf("%s %s/%s", cmp.Or(text(meta, "creationTimestamp"), "unknown, which is the youngest"), text(meta, "namespace"), text(meta, "name"))
	}
	for key, object := range s.objects {
		ref := below(object, "spec", "parentRef")
		same := fmt.Sprintf("%s %s/%s", KindGateway, text(ref, "namespace"), text(ref, "name")) == host
		if object["kind"] == KindListenerSet && same && key != set && age(key) < age(set) {
			out = append(out, slices.DeleteFunc(slices.Clone(s.listeners[key]), func(l map[string]any) bool { return s.unusable(key, l) != "" })...)
		}
	}
	return out
}

// classOf is what listeners of one port must agree on.
func classOf(l map[string]any) string {
	if protocol := text(l, "protocol"); protocol != "HTTPS" {
		return protocol
	}
	return "TLS"
}
