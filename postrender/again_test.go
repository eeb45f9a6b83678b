package postrender

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestAgain renders what was rendered before, after something has changed. The
// result holds what a first run on the changed input gives; what stays keeps
// its place.
func TestAgain(t *testing.T) {
	other := issuing("apps")
	other.Policies.Flags["issuerRef"] = map[string]any{"kind": "Issuer", "name": "other"}
	wildcard, plain, passthrough := issuing("apps"), issuing("apps"), issuing("apps")
	wildcard.Policies.Flags["certificates"], wildcard.Policies.Flags["apex"] = engine.Wildcard, "example.com"
	plain.Policies.Flags["certificates"], plain.Policies.Flags["apex"] = engine.Edge, "example.com"
	passthrough.Policies.Flags["passthrough"] = []any{map[string]any{"name": "b", "port": 443, "hostname": "b.example.com"}}
	json := `{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge"}, "spec": {"gatewayClassName": "example", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}` + "\n"
	deeper := strings.ReplaceAll(strings.ReplaceAll(edge, "  - ", "    # plain\n    - "), "\n    p", "\n      p")
	helm4 := strings.Replace(edge, "  name: edge\n", "  name: edge\n  annotations:\n    postrenderer.helm.sh/postrender-filename: 'c/templates/gw.yaml'\n", 1)
	noListeners := edge[:strings.Index(edge, "  listeners:")]
	a, b, c := route("a", "a.example.com"), route("b", "b.example.com"), route("c", "c.example.com")
	for _, gateway := range []struct{ name, text string }{
		{"block", edge}, {"deeper", deeper}, {"JSON", json}, {"Helm 4", helm4}, {"no listeners", noListeners},
		{"Helm 3", "# Source: c/templates/gw.yaml\n" + edge}, {"CRLF", strings.ReplaceAll(edge, "\n", "\r\n")},
	} {
		for _, change := range []struct {
			name          string
			before, after []string
			options       Options
		}{
			{"the only route is gone", []string{gateway.text, a}, []string{gateway.text}, issuing("apps")},
			{"the first route is gone", []string{a, gateway.text, b}, []string{gateway.text, b}, issuing("apps")},
			{"the last route is gone", []string{gateway.text, a, b}, []string{gateway.text, a}, issuing("apps")},
			{"all routes are gone", []string{gateway.text, a, b, c}, []string{gateway.text}, issuing("apps")},
			{"a route is new", []string{gateway.text, a}, []string{gateway.text, a, b}, issuing("apps")},
			{"the issuer is another", []string{gateway.text, a, b}, []string{gateway.text, a, b}, other},
			{"one certificate for all", []string{gateway.text, a, b}, []string{gateway.text, a, b}, wildcard},
			{"TLS ends upstream", []string{gateway.text, a, b}, []string{gateway.text, a, b}, plain},
			{"one name is passed through", []string{gateway.text, a, b}, []string{gateway.text, a, b}, passthrough},
			{"nothing", []string{foreign, gateway.text, b, foreign, a}, []string{foreign, gateway.text, b, foreign, a}, issuing("apps")},
		} {
			t.Run(gateway.name+", "+change.name, func(t *testing.T) {
				first := rendered(t, stream(change.before...), issuing("apps"))
				in := replaceDocs(t, first, change.before, change.after)
				want := rendered(t, stream(change.after...), change.options)
				got := rendered(t, in, change.options)
				if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
					t.Errorf("not what a first run gives (-first +again):\n%s", diff)
				}
			})
		}
	}
}

func sorted(text string) []string {
	var docs []string
	for _, doc := range split([]byte(text)) {
		docs = append(docs, strings.TrimPrefix(string(doc), "---\n"))
	}
	slices.Sort(docs)
	return docs
}

// replaceDocs takes the documents that are not in after out of a rendered
// stream, and puts the new ones in front of what was rendered.
func replaceDocs(t *testing.T, text string, before, after []string) string {
	t.Helper()
	for _, doc := range before {
		if strings.Contains(doc, "kind: HTTPRoute") && !strings.Contains(stream(after...), doc) {
			rest := strings.Replace(strings.Replace(text, doc+"---\n", "", 1), "---\n"+doc, "", 1)
			if rest == text {
				t.Fatalf("no document %q in\n%s", doc, text)
			}
			text = rest
		}
	}
	for _, doc := range after {
		if !strings.Contains(stream(before...), doc) {
			last := before[len(before)-1]
			text = strings.Replace(text, last, last+"---\n"+doc, 1)
		}
	}
	return text
}

// TestAgainInList changes and drops what was rendered and then put into a List.
func TestAgainInList(t *testing.T) {
	first := rendered(t, stream(edge, route("a", "a.example.com"), route("b", "b.example.com")), issuing("apps"))
	list := asList(first)
	if got := rendered(t, list, issuing("apps")); got != list {
		t.Errorf("the List changed:\n%s", cmp.Diff(list, got))
	}
	other := issuing("apps")
	other.Policies.Flags["issuerRef"] = map[string]any{"name": "other"}
	got := rendered(t, list, other)
	if strings.Count(got, "name: other") != 2 || strings.Contains(got, "name: letsencrypt") || len(split([]byte(got))) != 1 {
		t.Errorf("not both Certificates have the new issuer:\n%s", got)
	}
	gone := strings.Replace(list, "a.example.com\"", "a.example.org\"", 1)
	got = rendered(t, gone, issuing("apps"))
	if strings.Contains(got, "a.example.com") || strings.Count(got, "kind: Certificate") != 2 || strings.Contains(got, "- a.example.com") {
		t.Errorf("the Certificate of the old hostname is still there, or the others are not:\n%s", got)
	}
}

// asList puts the documents of a stream into a List.
func asList(text string) string {
	list := "apiVersion: v1\nkind: List\nitems:\n"
	for _, doc := range split([]byte(text)) {
		list += asItem(strings.TrimPrefix(string(doc), "---\n"))
	}
	return list
}

// asItem returns a document as an item of a List.
func asItem(text string) string {
	return "- " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// TestAgainListenerSet takes what was rendered into a ListenerSet out of it
// again.
func TestAgainListenerSet(t *testing.T) {
	set := "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: shop}\nspec:\n  parentRef: {name: edge}\n  listeners:\n  - {name: own, port: 8080, protocol: HTTP}\n"
	gateway := strings.Replace(edge, "  gatewayClassName", "  allowedListeners: {namespaces: {from: Same}}\n  gatewayClassName", 1)
	toSet := func(route string) string {
		return strings.Replace(route, "  - name: edge", "  - {kind: ListenerSet, name: shop}", 1)
	}
	a, b := toSet(route("a", "a.example.com")), toSet(route("b", "b.example.com"))
	first := rendered(t, stream(gateway, set, a, b), issuing("apps"))
	if strings.Count(first, "kind: Certificate\n") != 2 || strings.Count(first, "gatewright.dev/rendered") != 2 {
		t.Fatalf("not two Certificates, or not both parents edited:\n%s", first)
	}
	want := rendered(t, stream(gateway, set, b), issuing("apps"))
	got := rendered(t, replaceDocs(t, first, []string{gateway, set, a, b}, []string{gateway, set, b}), issuing("apps"))
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("not what a first run gives (-first +again):\n%s", diff)
	}
}
