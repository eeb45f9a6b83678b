package charts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

// A wrong value is refused before anything is installed, and the message says
// which one.
func TestWrongValuesAreRefused(t *testing.T) {
	tests := []struct {
		name, values string
		want         []string
	}{
		{"unknown value", `{schedle: "@hourly"}`, []string{"'schedle' not allowed"}},
		{"unknown value further in", `{image: {name: x}}`, []string{"/image", "'name' not allowed"}},
		{"unknown key of the policy", `{policy: [{maxListenrs: 3}]}`, []string{"/policy/0", "'maxListenrs' not allowed"}},
		{"unknown word in the policy", `{policy: [{}, {certificates: perHostname}]}`, []string{"/policy/1/certificates", "'PerHostname', 'Wildcard'"}},
		{"issuer of no kind", `{policy: [{issuerRef: {kind: Isuer, name: x}}]}`, []string{"/policy/0/issuerRef/kind", "'Issuer', 'ClusterIssuer'"}},
		{"too many listeners", `{policy: [{maxListeners: 65}]}`, []string{"/policy/0/maxListeners", "65", "64"}},
		{"policy as a file", `{policy: {gateways: []}}`, []string{"/policy", "got object, want array"}},
		{"text for a number", `{startingDeadlineSeconds: "120"}`, []string{"/startingDeadlineSeconds", "got string, want integer"}},
		{"deadline below the controller's period", `{startingDeadlineSeconds: 5}`, []string{"/startingDeadlineSeconds", "minimum: got 5, want 10"}},
		{"no removals", `{maxRemovals: 0}`, []string{"/maxRemovals", "minimum: got 0, want 1"}},
		{"days", `{grace: 1d}`, []string{"/grace", "'1d' does not match pattern"}},
		{"schedule", `{schedule: every hour}`, []string{"/schedule", "'every hour' does not match pattern"}},
		{"gateway without namespace", `{gateways: [edge]}`, []string{"/gateways/0", "'edge' does not match pattern"}},
		{"issuer without kind", `{allowedIssuers: [letsencrypt]}`, []string{"/allowedIssuers/0", "'letsencrypt' does not match pattern"}},
		{"namespace twice", `{namespaces: [a, a]}`, []string{"/namespaces", "items at 0 and 1 are equal"}},
		{"name too long for a CronJob", `{fullnameOverride: ` + strings.Repeat("x", 53) + `}`, []string{"/fullnameOverride", "maxLength: got 53, want 52"}},
		{"no image", `{image: {repository: ""}}`, []string{"image.repository is empty", "make image"}},
		{"no account", `{serviceAccount: {create: false}}`, []string{"serviceAccount.create is false: give serviceAccount.name"}},
		{"retention without rights", `{policy: [{secretRetention: {after: 336h}}]}`, []string{"policy[0].secretRetention", "set secretRetention.enabled to true"}},
		{"retention at once without rights", `{policy: [{secretRetention: Delete}]}`, []string{"policy[0].secretRetention", "set secretRetention.enabled to true"}},
		{"lookup without rights", `{policy: [{}, {withdraw: Served}]}`, []string{"policy[1].withdraw", "set services.read to true"}},
		{"redirect without rights", `{policy: [{http: {redirect: true}}]}`, []string{"policy[0].http.redirect", "set redirects.enabled to true"}},
		{"gateway out of sight", `{namespaces: [a], gateways: [a/x, b/y]}`, []string{"gateways: b/y is in none of namespaces"}},
	}
	eachHelm(t, func(t *testing.T, h helm) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := h.template(t, image, tt.values)
				if err == nil {
					t.Fatal("the values are taken")
				}
				for _, want := range tt.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("want %q in: %v", want, err)
					}
				}
			})
		}
	})
}

// A key that the chart does not know is refused in every object, but for those
// whose keys are the user's.
func TestTyposAreRefused(t *testing.T) {
	var all map[string]any
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	h := newHelm(t, "helm4")
	for _, path := range objectsIn("", all) {
		typo := "{typo: 1}"
		for _, key := range slices.Backward(strings.Split(path, ".")) {
			if key != "" {
				typo = "{" + key + ": " + typo + "}"
			}
		}
		if _, err := h.template(t, image, typo); err == nil || !strings.Contains(err.Error(), "typo") {
			t.Errorf("%s: %v", typo, err)
		}
	}
}

// objectsIn are the paths of the objects in values whose keys are not the user's.
func objectsIn(path string, node map[string]any) []string {
	found := []string{path}
	for key, content := range node {
		at := strings.TrimPrefix(path+"."+key, ".")
		inner, ok := content.(map[string]any)
		users := []string{"serviceAccount.annotations", "nodeSelector", "podLabels", "podAnnotations", "resources.requests", "resources.limits",
			"podSecurityContext.seccompProfile", "securityContext.capabilities"} // the last two are the API server's to check
		if ok && !slices.Contains(users, at) {
			found = append(found, objectsIn(at, inner)...)
		}
	}
	return found
}

// The fields of Kubernetes's own objects that the schema lists are all that
// there are, so that none is refused.
func TestSchemaKnowsFieldsOfKubernetes(t *testing.T) {
	var schema struct {
		Properties map[string]struct{ PropertyNames struct{ Enum []string } }
	}
	text, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]any{
		"podSecurityContext": corev1.PodSecurityContext{}, "securityContext": corev1.SecurityContext{}, "affinity": corev1.Affinity{},
	} {
		var want []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(object)) {
			field, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			want = append(want, field)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, schema.Properties[name].PropertyNames.Enum); diff != "" {
			t.Errorf("fields of %s (-Kubernetes +schema):\n%s", name, diff)
		}
	}
}

// The same values pass once the feature they need is on.
func TestPolicyWithItsFeatures(t *testing.T) {
	eachHelm(t, func(t *testing.T, h helm) {
		h.mustTemplate(t, `{policy: [{secretRetention: {after: 336h}, withdraw: Served, http: {redirect: true}}], `+allFeatures+`}`)
		h.mustTemplate(t, `{policy: [{secretRetention: Keep, withdraw: SamePort, http: {redirect: Auto}}, {http: {redirect: false}}]}`)
		h.mustTemplate(t, `{global: {registry: x}, podSecurityContext: {runAsUser: null, runAsGroup: null}}`)
	})
}

// The policy in the values is checked by the same schema as a Policy file.
func TestPolicySchemaIsTheSame(t *testing.T) {
	const begin = "    \"entry\": {\n" // both files end with these definitions
	published, err := os.ReadFile(filepath.Join(repository, "postrender/engine/policy.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(chart, "values.schema.json")
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, want, found := strings.Cut(string(published), begin)
	head, got, foundOwn := strings.Cut(string(own), begin)
	if !found || !foundOwn {
		t.Fatalf("one of the schemas has no line %q", begin)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("definitions of the policy (-published +values.schema.json); UPDATE=1 copies them:\n%s", diff)
	}
	if os.Getenv("UPDATE") != "" && want != got {
		if err := os.WriteFile(path, []byte(head+begin+want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The schema knows every value, down to the last key that the chart gives.
func TestSchemaKnowsEveryValue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"global": true}
	for _, value := range values(t) {
		name, _, _ := strings.Cut(value.path, ".")
		known[name] = true
		if schema.Properties[name] == nil {
			t.Errorf("value %s is not in the schema", name)
		}
	}
	for name := range schema.Properties {
		if !known[name] {
			t.Errorf("%s is in the schema and not in values.yaml", name)
		}
	}
}

// The page lists each value with its default, and no other.
func TestReadmeListsEveryValue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, cells := range table(string(page), "Values") {
		got = append(got, cells[0]+" "+cells[1])
	}
	var want []string
	for _, value := range values(t) {
		want = append(want, fmt.Sprintf("`%s` `%s`", value.path, value.json))
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("values (-values.yaml +README.md):\n%s", diff)
	}
}

// table returns the cells of the first table below a heading, without its head.
func table(page, heading string) [][]string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows[min(2, len(rows)):]
}

// value is one default, by its path in values.yaml.
type value struct{ path, json string }

func values(t *testing.T) []value {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return leaves(t, "", all)
}

func leaves(t *testing.T, path string, node map[string]any) []value {
	t.Helper()
	var found []value
	for key, content := range node {
		if inner, ok := content.(map[string]any); ok && len(inner) > 0 {
			found = append(found, leaves(t, path+key+".", inner)...)
			continue
		}
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, value{path + key, string(text)})
	}
	return found
}
