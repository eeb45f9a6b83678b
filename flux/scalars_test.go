package flux

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
)

// TestStringsStayStrings has strings that some version of YAML takes for something
// else, in a listener and in a Certificate: kustomize and the API server have them
// as they were.
func TestStringsStayStrings(t *testing.T) {
	texts := []string{
		"yes", "No", "on", "y", "n", "~", "null", "", " ", "true", "1", "-1", "+1", "1_000", "0x10", "0o7", "010", "0b1", "1e3", ".5", ".inf", ".NaN", "1:30", "12:30:45", "2026-01-01",
		"=", "<<", "*a", "&a", "!a", "#a", "a #b", "a: b", "- a", "? a", "%a", "@a", "`a", "|", ">", "[a]", "{a}", "a,b", "'", `"`, `\`, "a\nb\n", "a\r\nb", "\ttab", "tab\t", " lead", "trail ", "---", "...", "é", "\u2028", "😀", "${VAR}", "$(VAR)",
	}
	for len(texts) > 0 {
		n := min(16, len(texts)) // as many as a listener takes
		checkStrings(t, texts[:n])
		texts = texts[n:]
	}
}

func checkStrings(t *testing.T, texts []string) {
	t.Helper()
	options := map[string]any{}
	for i, text := range texts {
		options[fmt.Sprintf("example.com/k%02d", i)] = text
	}
	policy, err := json.Marshal(map[string]any{
		"issuerRef": map[string]any{"name": "le"}, "tlsOptions": options, "certificateTemplate": map[string]any{"annotations": options},
	})
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(policy))
	if err != nil {
		t.Fatal(err)
	}
	manifest := strings.Replace(edgeRelease, `"issuerRef: {name: le, kind: ClusterIssuer}"`, string(quoted), 1)
	r, _ := mustRender(t, repo{"edge.yaml": manifest, "source.yaml": source}, renders(edge, route))
	out := applied(t, r, "edge.yaml", "", chart(edge, route)) + "---\n" + r["edge.gatewright.yaml"]
	found := 0
	for _, document := range postrender.Documents([]byte(out)) {
		var value struct {
			Kind     string
			Metadata struct{ Annotations map[string]any }
			Spec     struct {
				Listeners []struct {
					TLS struct{ Options map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal(document, &value); err != nil {
			t.Fatal(err)
		}
		got := value.Metadata.Annotations
		switch value.Kind {
		case "Gateway":
			got = value.Spec.Listeners[1].TLS.Options
		case "Certificate":
			for name := range got {
				if strings.HasPrefix(name, "acme.cert-manager.io/") {
					delete(got, name)
				}
			}
		default:
			continue
		}
		found++
		if diff := cmp.Diff(options, got); diff != "" {
			t.Errorf("%s (-policy +applied):\n%s", value.Kind, diff)
		}
	}
	if found != 2 {
		t.Errorf("%d objects, want a Gateway and a Certificate", found)
	}
	again, _ := mustRender(t, r, renders(edge, route))
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("a second run changes:\n%s", diff)
	}
}
