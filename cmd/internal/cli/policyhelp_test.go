package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestPolicyHelp holds the help to the type: every key, in its order, no other.
func TestPolicyHelp(t *testing.T) {
	want := []string{"match"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[engine.Policy]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		want = append(want, name)
	}
	var got []string
	for _, key := range policyKeys() {
		got = append(got, key.name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys of gatewright help policy (-want +got):\n%s", diff)
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

// TestPolicyHelpSaysWhatIsRefused asks the engine about every key.
func TestPolicyHelpSaysWhatIsRefused(t *testing.T) {
	values := map[string]any{
		"issuers":                  []any{map[string]any{"hostnames": []any{"a.example.com"}, "issuerRef": map[string]any{"name": "x"}}},
		"childApexes":              []any{"kid.example.com"},
		"secretName":               "tls",
		"passthrough":              []any{map[string]any{"name": "db", "port": int64(5432), "hostname": "db.example.com"}},
		"maxListenersPerNamespace": int64(3),
		"priorityNamespaces":       []any{"sys"},
	}
	for _, key := range policyKeys() {
		value, listed := values[key.name]
		if says := strings.HasSuffix(key.help, "This version refuses it."); says != listed {
			t.Errorf("%s: the help says that it is refused: %v, want %v", key.name, says, listed)
		}
		if !listed {
			continue
		}
		snapshot := &engine.Snapshot{Gateways: []*engine.Gateway{{Meta: engine.Meta{Kind: engine.KindGateway, Namespace: "infra", Name: "edge"}}}}
		_, err := engine.Compute(snapshot, engine.PolicySources{Flags: engine.Keys{key.name: value}})
		if err == nil || !strings.Contains(err.Error(), "not supported by this version") {
			t.Errorf("%s: the engine says %v", key.name, err)
		}
	}
}
