package engine

import "testing"

// TestEqualObjects: manifests are compared by what they mean as JSON.
func TestEqualObjects(t *testing.T) {
	object := func(value any) map[string]any { return map[string]any{"a": value, "b": "x"} }
	tests := []struct {
		name string
		a, b any
		want bool
	}{
		{"numbers of several types", object(80), object(int64(80)), true},
		{"a number as a float", object(int64(80)), object(80.0), true},
		{"other numbers", object(80), object(81), false},
		{"a number and its text", object(80), object("80"), false},
		{"lists", object([]any{"x", 1}), object([]any{"x", 1.0}), true},
		{"lists in another order", object([]any{"x", "y"}), object([]any{"y", "x"}), false},
		{"a longer list", object([]any{"x"}), object([]any{"x", "y"}), false},
		{"typed lists", object([]string{"x"}), object([]any{"x"}), true},
		{"typed maps", object(map[string]string{"x": "y"}), object(map[string]any{"x": "y"}), true},
		{"no list and an empty one", object([]any(nil)), object([]any{}), false},
		{"null and nothing", object(nil), map[string]any{"b": "x"}, false},
		{"one key more", map[string]any{"a": 1, "b": 2}, map[string]any{"a": 1}, false},
		{"another key", map[string]any{"a": 1}, map[string]any{"b": 1}, false},
	}
	for _, test := range tests {
		if got := equalObjects(test.a, test.b); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if got := equalObjects(test.b, test.a); got != test.want {
			t.Errorf("%s, the other way round: %v", test.name, got)
		}
	}
	if !contains(map[string]any{"a": map[string]any{"x": 1, "y": 2}, "b": 3}, map[string]any{"a": map[string]any{"x": 1}}) {
		t.Error("a part is not found")
	}
	if contains(map[string]any{"a": map[string]any{"y": 2}}, map[string]any{"a": map[string]any{"x": 1}}) {
		t.Error("a part is found that is not there")
	}
}
