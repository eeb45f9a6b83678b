package postrender

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// manyInList returns n Gateways, each with a route, in one List: in block
// style, or as JSON on one line.
func manyInList(n int, isJSON bool) string {
	const block = "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata:\n    name: g%[1]d\n  spec:\n    gatewayClassName: x\n    listeners:\n    - name: http\n      port: 80\n      protocol: HTTP\n" +
		"- apiVersion: gateway.networking.k8s.io/v1\n  kind: HTTPRoute\n  metadata:\n    name: r%[1]d\n  spec:\n    parentRefs:\n    - name: g%[1]d\n    hostnames:\n    - h%[1]d.example.com\n"
	const flow = `{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "g%[1]d"}, "spec": {"gatewayClassName": "x", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}}, ` +
		`{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "r%[1]d"}, "spec": {"parentRefs": [{"name": "g%[1]d"}], "hostnames": ["h%[1]d.example.com"]}}`
	var items []string
	for i := range n {
		if isJSON {
			items = append(items, fmt.Sprintf(flow, i))
		} else {
			items = append(items, fmt.Sprintf(block, i))
		}
	}
	if isJSON {
		return `{"apiVersion": "v1", "kind": "List", "items": [` + strings.Join(items, ", ") + "]}\n"
	}
	return "apiVersion: v1\nkind: List\nitems:\n" + strings.Join(items, "")
}

// TestManyInList renders Lists of Gateways, and again after each Certificate
// has to change: four times as many objects take four times the work.
func TestManyInList(t *testing.T) {
	other := issuing("apps")
	other.Policies.Flags["issuerRef"] = map[string]any{"name": "other"}
	for _, c := range []struct {
		name string
		in   func(n int) string
		with Options
	}{
		{"block", func(n int) string { return manyInList(n, false) }, issuing("apps")},
		{"JSON", func(n int) string { return manyInList(n, true) }, issuing("apps")},
		{"Certificates in the List", func(n int) string { return asList(rendered(t, manyInList(n, false), issuing("apps"))) }, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := func(n int) float64 {
				in := c.in(n)
				return testing.AllocsPerRun(1, func() { rendered(t, in, c.with) })
			}
			if few, many := work(15), work(60); many > 6*few {
				t.Errorf("15 Gateways: %.0f allocations, 60 Gateways: %.0f", few, many)
			}
		})
	}
}

// TestApplyMixed makes changes at once of which some need another guess.
func TestApplyMixed(t *testing.T) {
	add := func(i int) change {
		return setItems{at: keyPath{"items", i, "l"}, add: []any{map[string]any{"name": "new"}}}
	}
	in := "items:\n- l:\n  - name: a\n  # of a\n- l: [{name: b}]\n- x: 1\n  l: []\n- {l: [ # of d\n  ]}\n- l: [{name: e} # of e\n    ]\n"
	want := "items:\n- l:\n  - name: a\n  - name: new\n  # of a\n- l: [{name: b}, {\"name\": \"new\"}]\n- x: 1\n  l:\n  - name: new\n- {l: [{\"name\": \"new\"}]}\n- l: [{name: e}, # of e\n    {\"name\": \"new\"}]\n"
	got, err := apply([]byte(in), add(0), add(1), add(2), add(3), add(4))
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("unexpected text, error %v (-want +got):\n%s", err, diff)
	}
	single := in
	for i := range 5 {
		text, err := apply([]byte(single), add(i))
		if err != nil {
			t.Fatal(err)
		}
		single = string(text)
	}
	if diff := cmp.Diff(single, string(got)); diff != "" {
		t.Errorf("one after the other gives another text (-single +at once):\n%s", diff)
	}
}

// TestApplyNamesTheObject has one of many Gateways of a List that cannot be
// edited.
func TestApplyNamesTheObject(t *testing.T) {
	const spec = "    name: g7\n  spec:\n    gatewayClassName: x\n    listeners:\n    - name: http\n      port: 80\n      protocol: HTTP\n"
	for _, c := range []struct{ name, above, from, to string }{
		{"no mapping", "", "    name: g7\n", "    name: g7\n    annotations: none\n"},
		{"no spec", "", spec, "    name: g7\n"},
		{"an alias below a directive", "%TAG ! tag:x:\n---\n", spec, "    name: g7\n  spec:\n    copy: &l []\n    listeners: *l\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.above + strings.Replace(manyInList(9, false), c.from, c.to, 1)
			_, err := Render([]byte(in), issuing("apps"))
			var e *engine.Error
			if errors.As(err, &e); e == nil || e.Object != "Gateway apps/g7" {
				t.Errorf("got %v", err)
			}
		})
	}
}
