package jobs

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sharing changes no value, and makes one of equal ones.
func TestInternKeepsValues(t *testing.T) {
	object := func(i int) map[string]any {
		long := map[string]any{}
		for n := range maxInternedFields + 1 {
			long[fmt.Sprint(n)] = "x"
		}
		return map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint(i), "labels": map[string]any{"a": "b", "ab": ""}, "managedFields": []any{"x"}},
			"spec": map[string]any{
				"from": map[string]any{"namespaces": map[string]any{"from": "Same"}}, "other": map[string]any{"namespaces": map[string]any{"from": "All"}},
				"number": int64(1), "text": map[string]any{"number": "1"}, "real": map[string]any{"number": 1.5}, "null": nil,
				"empty": map[string]any{}, "list": []any{"a", map[string]any{"x": "y"}, map[string]any{"x": true}}, "long": long,
			},
		}
	}
	shared := newIntern()
	for i := range 3 {
		got := object(i)
		shared.object(got)
		if diff := cmp.Diff(object(i), got); diff != "" {
			t.Fatalf("object %d (-want +got):\n%s", i, diff)
		}
	}
	one, two := object(1), object(2)
	shared.object(one)
	shared.object(two)
	labels := func(o map[string]any) map[string]any { return metadataOf(o, "labels") }
	labels(one)["mark"] = "x"
	if labels(two)["mark"] != "x" {
		t.Error("equal labels are not shared")
	}
}

// Past its bound, a table takes nothing in and still gives back what it gets.
func TestInternIsBounded(t *testing.T) {
	shared := newIntern()
	for i := range 2 * maxInterned {
		text := fmt.Sprint(i)
		got := map[string]any{"spec": map[string]any{text: text}}
		shared.object(got)
		if diff := cmp.Diff(map[string]any{"spec": map[string]any{text: text}}, got); diff != "" {
			t.Fatal(diff)
		}
		if got := shared.strings(map[string]string{text: text}); got[text] != text {
			t.Fatalf("got %v for %s", got, text)
		}
	}
	if len(shared.texts) > maxInterned || len(shared.mappings) > maxInterned || len(shared.labels) > maxInterned {
		t.Errorf("%d texts, %d mappings, %d labels", len(shared.texts), len(shared.mappings), len(shared.labels))
	}
}
