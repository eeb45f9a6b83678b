package cli

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestPolicyHelp holds the help to the type: every key, in its order, no other.
func TestPolicyHelp(t *testing.T) {
	keys, err := policyKeys()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"match"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[engine.Policy]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			want = append(want, name)
		}
	}
	var got []string
	for _, key := range keys {
		got = append(got, key.name)
		if key.help == "" || !strings.HasSuffix(key.help, ".") {
			t.Errorf("%s: the help is no sentence: %q", key.name, key.help)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys of gatewright help policy (-want +got):\n%s", diff)
	}
}

func TestPolicyHelpDefaults(t *testing.T) {
	keys, err := policyKeys()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"match": "namespace: *, name: *", "issuerRef": "none", "certificates": "PerHostname", "attach": "from: Same",
		"http": "listener: Auto, redirect: Auto, port: 80", "maxListeners": "64", "maxListenersPerNamespace": "0",
	}
	got := map[string]string{}
	for _, key := range keys {
		if want[key.name] != "" {
			got[key.name] = key.byDefault
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

// TestPolicyTableIsTheSchema holds the table of the reference page to the same
// words.
func TestPolicyTableIsTheSchema(t *testing.T) {
	page, err := os.ReadFile("../../../postrender/README.md")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := policyKeys()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(page), "`", ""), "\n")
	for _, key := range keys {
		row := fmt.Sprintf("| %s | %s | %s |", key.name, key.byDefault, key.help)
		if !slices.Contains(lines, row) {
			t.Errorf("postrender/README.md has no line (backquotes aside)\n%s", row)
		}
	}
}

func TestPolicyExample(t *testing.T) {
	file, err := engine.ParsePolicyFile("example", []byte(policyExample))
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &engine.Snapshot{Gateways: []*engine.Gateway{
		{Meta: engine.Meta{Kind: engine.KindGateway, Namespace: "infra", Name: "edge"}},
		{Meta: engine.Meta{Kind: engine.KindGateway, Namespace: "shop", Name: "other"}},
	}}
	plan, err := engine.Compute(snapshot, engine.PolicySources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plan.Findings {
		if f.Code == engine.CodeNoPolicy {
			t.Errorf("the example gives no policy: %s", f.Message)
		}
	}
}
