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
