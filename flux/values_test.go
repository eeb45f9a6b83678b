package flux

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestValues checks how values are merged, in the order of helm-controller.
func TestValues(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("a: secret\nd: {e: secret}\n"))
	manifests := source + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: map, namespace: infra}
data:
  values.yaml: "{a: map, b: map, d: {f: map}}"
  other.yaml: "{b: other}"
  host: shop.example.com
  list: "{u,v}"
  quoted: "'1'"
  number: "1"
  literal: "a,b={c}"
---
apiVersion: v1
kind: Secret
metadata: {name: secret, namespace: infra}
data: {values.yaml: ` + encoded + `}
stringData: {plain: "{a: plain}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: map, namespace: other}
data: {values.yaml: "{a: wrong}"}
`
	for _, tt := range []struct{ name, spec, want string }{
		{"spec.values", "values: {a: own}", "{a: own}"},
		{"a ConfigMap", "valuesFrom: [{kind: ConfigMap, name: map}]", "{a: map, b: map, d: {f: map}}"},
		{"the last counts, maps are merged", "valuesFrom: [{kind: ConfigMap, name: map}, {kind: Secret, name: secret}]", "{a: secret, b: map, d: {e: secret, f: map}}"},
		{"spec.values count most", "values: {a: own}\n  valuesFrom: [{kind: ConfigMap, name: map}]", "{a: own, b: map, d: {f: map}}"},
		{"another key", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: other.yaml}]", "{b: other}"},
		{"stringData", "valuesFrom: [{kind: Secret, name: secret, valuesKey: plain}]", "{a: plain}"},
		{"a single value", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: host, targetPath: 'hosts[0].name'}]", "{hosts: [{name: shop.example.com}]}"},
		{"a list", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: list, targetPath: l}]", "{l: [u, v]}"},
		{"a number", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: number, targetPath: num}]", "{num: 1}"},
		{"a quoted number", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: quoted, targetPath: num}]", "{num: '1'}"},
		{"a literal", "valuesFrom: [{kind: ConfigMap, name: map, valuesKey: literal, targetPath: num, literal: true}]", "{num: 'a,b={c}'}"},
		{"optional and missing", "valuesFrom: [{kind: ConfigMap, name: none, optional: true}, {kind: ConfigMap, name: map, valuesKey: none, optional: true}]", "{}"},
		{"null", "values: {a: null}", "{a: null}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got map[string]any
			options := Options{RenderChart: func(_ context.Context, c Chart) (Rendered, error) {
				got = c.Values
				return Rendered{}, nil
			}}
			mustRender(t, repo{"edge.yaml": edgeRelease + "  " + tt.spec + "\n", "source.yaml": manifests}, options)
			var want map[string]any
			if err := yaml.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(got) // numbers are of several types
			if err != nil {
				t.Fatal(err)
			}
			wanted, err := yaml.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(wanted), string(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGeneratedValues takes values from what a kustomization makes of files.
func TestGeneratedValues(t *testing.T) {
	files := repo{
		"a/edge.yaml": edgeRelease + "  valuesFrom: [{kind: ConfigMap, name: gen}, {kind: Secret, name: lit, valuesKey: b, targetPath: b}]\n", "source.yaml": source,
		"a/config/values.yaml": "a: generated\n",
		"a/kustomization.yaml": "namespace: infra\nresources: [edge.yaml]\nconfigMapGenerator:\n- {name: gen, files: [values.yaml=config/values.yaml]}\nsecretGenerator:\n- {name: lit, literals: [b=c]}\n",
	}
	var got map[string]any
	mustRender(t, files, Options{RenderChart: func(_ context.Context, c Chart) (Rendered, error) {
		got = c.Values
		return Rendered{}, nil
	}})
	if diff := cmp.Diff(map[string]any{"a": "generated", "b": "c"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestReleaseIsNamedLikeHelmController pins the name and the namespace of a
// release; the cut one ends with the beginning of its SHA-256.
func TestReleaseIsNamedLikeHelmController(t *testing.T) {
	long := strings.Repeat("n", 60)
	for _, tt := range []struct{ name, spec, wantName, wantNamespace string }{
		{"edge", "interval: 1m", "edge", "infra"},
		{"edge", "releaseName: own", "own", "infra"},
		{"edge", "targetNamespace: shop", "shop-edge", "shop"},
		{"edge", "targetNamespace: shop\n  releaseName: own\n  storageNamespace: store", "own", "shop"},
		{long, "interval: 1m", strings.Repeat("n", 40) + "-" + "fb886b452111", "infra"},
	} {
		var got Chart
		manifest := strings.Replace(edgeRelease, "name: edge\n", "name: "+tt.name+"\n", 1) + "  " + tt.spec + "\n"
		manifest = strings.Replace(manifest, "  interval: 10m\n", "", 1)
		mustRender(t, repo{"edge.yaml": manifest, "source.yaml": source}, Options{RenderChart: func(_ context.Context, c Chart) (Rendered, error) {
			got = c
			return Rendered{}, nil
		}})
		if got.ReleaseName != tt.wantName || got.Namespace != tt.wantNamespace {
			t.Errorf("%s: release %s in %s, want %s in %s", tt.spec, got.ReleaseName, got.Namespace, tt.wantName, tt.wantNamespace)
		}
	}
}

// TestValuesThatAreThere has values that only look as if they were missing: those
// of an optional reference count, too, where an object is there.
func TestValuesThatAreThere(t *testing.T) {
	const optional = "  valuesFrom: [{kind: Secret, name: v, optional: true}]\n"
	const head = "apiVersion: v1\nkind: Secret\nmetadata: {name: v, namespace: infra}\n"
	for name, tt := range map[string]struct{ object, want string }{
		"encrypted":    {head + "stringData: {values.yaml: ENC}\nsops: {mac: x}\n", "Secret infra/v, which valuesFrom names, is encrypted (v.yaml)"},
		"not base64":   {head + "data: {values.yaml: '%'}\n", "its key values.yaml is not base64"},
		"not a map":    {head + "stringData: {values.yaml: pass-word}\n", "values of Secret v, key values.yaml: they are not a YAML mapping; correct them"},
		"not YAML":     {head + "stringData: {values.yaml: 'a: *pass-word'}\n", "they are not a YAML mapping"},
		"another kind": {"", "valuesFrom names a Pod infra/v, which is neither ConfigMap nor Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := optional
			if tt.object == "" {
				spec = strings.Replace(optional, "Secret", "Pod", 1)
			}
			_, err := Render(t.Context(), repo{"edge.yaml": edgeRelease + spec, "source.yaml": source, "v.yaml": tt.object}.files(), renders(edge, route))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "pass-word") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNumbersAreHelms has numbers that Helm reads as floats, in all places, so that
// a template prints 1e+06 for one.
func TestNumbersAreHelms(t *testing.T) {
	manifests := source + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: infra}\ndata: {values.yaml: 'number: 1000000'}\n"
	var got map[string]any
	mustRender(t, repo{"edge.yaml": edgeRelease + "  values: {own: 1000000}\n  valuesFrom: [{kind: ConfigMap, name: v}]\n", "source.yaml": manifests}, Options{
		RenderChart: func(_ context.Context, c Chart) (Rendered, error) {
			got = c.Values
			return Rendered{}, nil
		}})
	if diff := cmp.Diff(map[string]any{"number": 1e6, "own": 1e6}, got); diff != "" {
		t.Error(diff)
	}
}

// TestEncryptedFiles has a kustomization make a Secret of a file of values that is
// still encrypted: what stands there are no values.
func TestEncryptedFiles(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": "host: ENC[AES256_GCM,data:AAAA,iv:BBBB,tag:CCCC,type:str]\nsops:\n    mac: ENC[AES256_GCM,data:DDDD]\n",
		"JSON": `{"data": "ENC[AES256_GCM,data:AAAA,iv:BBBB,tag:CCCC,type:str]", "sops": {"mac": "x"}}`,
	} {
		files := repo{
			"a/edge.yaml": edgeRelease + "  valuesFrom: [{kind: Secret, name: gen, optional: true}]\n", "source.yaml": source, "a/values.enc.yaml": text,
			"a/kustomization.yaml": "namespace: infra\nresources: [edge.yaml]\nsecretGenerator:\n- {name: gen, files: [values.yaml=values.enc.yaml]}\n",
		}
		_, err := Render(t.Context(), files.files(), renders(edge, route))
		if err == nil || !strings.Contains(err.Error(), "Secret infra/gen, which valuesFrom names, is encrypted (a/kustomization.yaml); give its manifest as one more FILE (decrypted)") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
