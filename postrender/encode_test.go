package postrender

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	yamlv2 "go.yaml.in/yaml/v2"
	yaml "go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

// odd are strings that one reader of YAML or the other takes for something
// else when they stand without quotes.
var odd = []string{
	"", " ", "a ", " a", "~", "null", "Null", "true", "False", "yes", "NO", "on", "Off", "y", "N", "t", "f",
	"0", "0123", "0o17", "0x1F", "0b1", "1_000", "1e3", "1.5", "-1", "+1", ".5", "5.", "1:30", "190:20:30", ".inf", "-.INF", ".nan", "NaN", "inf",
	"2024-01-01", "2024-01-01T00:00:00Z", "9123456789012345678", "*.example.com", "&a", "!a", "<<", "=", "?", "-", "--- a", "...", "%a", "@a", "`a",
	"a: b", "a:", ":a", "a #b", "#a", "a,b", "[a", "{a}", "'", "it's", `"`, `say "hi"`, `a\b`, `{"a":"it's"}`, "a\nb", "a\n", "\ta", "a\tb", "\x01", "\x7f",
	"a\u0085b", "a\u2028b", "a\ufeffb", "\ufeff", "é", "日本", "😀", "\U000E0001", "a.example.com", "1.example.com", "cert-manager.io/v1", "/", "/a", "${X}", "a/b_c-d.e",
}

// TestEncodeStrings reads strings that we wrote, as values and as keys, with
// readers of YAML 1.1 and 1.2.
func TestEncodeStrings(t *testing.T) {
	object := map[string]any{"list": []any{}, "keys": map[string]any{}}
	for _, s := range odd {
		object["list"] = append(object["list"].([]any), s)
		object["keys"].(map[string]any)[s] = s
	}
	block, inFlow := Encode(object), []byte(flow(object, nil))
	readers := map[string]func([]byte, any) error{
		"YAML 1.1":   yamlv2.Unmarshal,
		"YAML 1.2":   yaml.Unmarshal,
		"Kubernetes": func(text []byte, into any) error { return sigs.UnmarshalStrict(text, into) },
	}
	for name, read := range readers {
		for style, text := range map[string][]byte{"block": block, "flow": inFlow} {
			t.Run(name+" "+style, func(t *testing.T) {
				var got struct {
					List []any
					Keys map[string]any
				}
				if err := read(text, &got); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if diff := cmp.Diff(object["list"], any(got.List)); diff != "" {
					t.Errorf("unexpected values (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(object["keys"], any(got.Keys)); diff != "" {
					t.Errorf("unexpected keys (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a.example.com": "a.example.com", "*.example.com": `"*.example.com"`, "1.example.com": `"1.example.com"`,
		"cert-manager.io/v1": "cert-manager.io/v1", "yes": `"yes"`, "": `""`, "/": "/", "2160h0m0s": `"2160h0m0s"`,
		`{"a":"it's"}`: `'{"a":"it''s"}'`, "a\nb": `"a\nb"`, "ü": `"ü"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestEncode(t *testing.T) {
	object := map[string]any{
		"spec": map[string]any{
			"listeners": []any{map[string]any{"hostname": "a.example.com", "name": "a", "port": int64(443), "tls": map[string]any{}}},
			"empty":     []any{}, "flag": true, "ratio": 0.5, "big": json.Number("99999999999999999999"),
			"nested": []any{[]any{"a", int64(1)}, map[string]any{"z": "1", "name": "b"}},
		},
		"metadata": map[string]any{
			"annotations": map[string]any{"b": "2", "a": "1"}, "labels": map[string]any{"name": "x", "app": "y"}, "namespace": "n", "name": "o",
		},
		"kind": "Gateway", "apiVersion": "gateway.networking.k8s.io/v1",
	}
	want := `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: o
  namespace: "n"
  labels:
    app: "y"
    name: x
  annotations:
    a: "1"
    b: "2"
spec:
  big: 99999999999999999999
  empty: []
  flag: true
  listeners:
  - name: a
    hostname: a.example.com
    port: 443
    tls: {}
  nested:
  - ["a", 1]
  - name: b
    z: "1"
  ratio: 0.5
`
	for range 20 { // maps have no order
		if diff := cmp.Diff(want, string(Encode(object))); diff != "" {
			t.Fatalf("unexpected text (-want +got):\n%s", diff)
		}
	}
}
