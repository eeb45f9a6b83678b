package engine

import (
	"strings"
	"testing"
)

func TestWhyDiffers(t *testing.T) {
	someone := func(path []string) string {
		if strings.Join(path, ".") == "allowedRoutes.namespaces.from" {
			return "some body"
		}
		return ""
	}
	type object = map[string]any
	tests := []struct {
		name     string
		old, now object
		part     bool
		want     string
	}{
		{name: "a field below", old: object{"issuerRef": object{"name": "production", "kind": "Issuer"}},
			now:  object{"issuerRef": object{"name": "letsencrypt", "kind": "Issuer"}},
			want: ": issuerRef.name: production -> letsencrypt"},
		{name: "what is new and what goes", old: object{"a": object{"b": int64(1)}}, now: object{"c": object{"d": true}},
			want: ": a.b: 1 -> none, c.d: none -> true"},
		{name: "what others have beside it", old: object{"a": "b", "labels": object{"theirs": "x", "ours": "y"}}, now: object{"labels": object{"ours": "z"}}, part: true,
			want: ": labels.ours: y -> z"},
		{name: "a list is one field", old: object{"names": []any{"a"}}, now: object{"names": []any{"a", "b"}},
			want: `: names: ["a"] -> ["a","b"]`},
		{name: "one thing in a list", old: object{"tls": object{"refs": []any{object{"kind": "Secret", "name": "a"}}}},
			now:  object{"tls": object{"refs": []any{object{"kind": "Secret", "name": "b"}}}},
			want: ": tls.refs[0].name: a -> b"},
		{name: "an empty map", old: object{"tls": object{}}, now: object{}, want: ": tls: {} -> none"},
		{name: "of another type", old: object{"tls": object{"mode": "x"}}, now: object{"tls": "y"}, want: `: tls: {"mode":"x"} -> y`},
		{name: "many", old: object{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"}, now: object{},
			want: ": a: 1 -> none, b: 1 -> none, c: 1 -> none, and 2 more"},
		{name: "text", old: object{"a": "two words, \x1b[31m"}, now: object{"a": strings.Repeat("ä", 100)},
			want: ": a: \"two words, \\u001b[31m\" -> \"" + strings.Repeat("ä", 31) + "…"},
		{name: "of another manager", old: object{"allowedRoutes": object{"namespaces": object{"from": "All"}}}, now: object{"allowedRoutes": object{"namespaces": object{"from": "Same"}}},
			want: `: allowedRoutes.namespaces.from: All -> Same (field manager "some body" owns it, so its value is left as it is, and a sweep refuses the claim)`},
		{name: "of another manager, to go", old: object{"allowedRoutes": object{"namespaces": object{"from": "All"}}}, now: object{},
			want: `: allowedRoutes.namespaces.from: All -> none (field manager "some body" owns it, so its value is left as it is)`},
		{name: "nothing", old: object{"a": int64(1)}, now: object{"a": 1.0}, want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := whyDiffers(differences(tt.old, tt.now, !tt.part), someone), differs+tt.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Who owns a field is read from managedFields, which may end above it.
func TestOwnerOfField(t *testing.T) {
	entry := func(manager, operation string, fields map[string]any) any {
		return map[string]any{"manager": manager, "operation": operation, "fieldsV1": map[string]any{
			"f:spec": map[string]any{"f:listeners": map[string]any{`k:{"name":"a"}`: fields}}}}
	}
	s := new(Snapshot)
	err := s.Decode(map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
		"metadata": map[string]any{"name": "edge", "namespace": "infra", "managedFields": []any{
			entry(FieldManager, "Apply", map[string]any{"f:port": map[string]any{}, "f:hostname": map[string]any{}}),
			entry("somebody", "Update", map[string]any{"f:allowedRoutes": map[string]any{"f:namespaces": map[string]any{"f:from": map[string]any{}}}}),
			entry("another", "Apply", map[string]any{"f:tls": map[string]any{"f:certificateRefs": map[string]any{}}}),
		}},
		"spec": map[string]any{"listeners": []any{map[string]any{"name": "a"}, map[string]any{"name": "b"}}},
	}, Origin{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Gateways[0].Listeners[0], s.Gateways[0].Listeners[1]
	for path, want := range map[string]string{
		"allowedRoutes.namespaces.from": "somebody", "allowedRoutes.kinds": "", "allowedRoutes": "somebody",
		"tls.certificateRefs.[0].name": "another", "tls.mode": "", "port": "", "hostname": "",
	} {
		if got := a.owner(strings.Split(path, ".")); got != want {
			t.Errorf("%s is owned by %q, want %q", path, got, want)
		}
	}
	if got := b.owner([]string{"tls"}); got != "" {
		t.Errorf("the other listener is owned by %q", got)
	}
}
