package engine

import "reflect"

// equalObjects compares two manifests by what they mean as JSON: a number is
// the same in whatever type it was read.
func equalObjects(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return len(a) == len(b) && (a == nil) == (b == nil) && contained(a, b, equalObjects)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return equalLists(a, b)
		}
	case string, bool, nil:
		return a == b
	}
	if x, ok := numberOf(a); ok {
		y, ok := numberOf(b)
		return ok && x == y
	}
	return reflect.DeepEqual(jsonValue(a), jsonValue(b))
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if !equalObjects(a[i], b[i]) {
			return false
		}
	}
	return true
}

func numberOf(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// contains says whether every field of part stands in whole.
func contains(whole, part any) bool {
	inner, isMap := part.(map[string]any)
	outer, ok := whole.(map[string]any)
	if isMap && ok {
		return contained(inner, outer, func(a, b any) bool { return contains(b, a) })
	}
	return equalObjects(whole, part)
}

// contained says whether each field of a map has an equal in another.
func contained(part, whole map[string]any, equal func(a, b any) bool) bool {
	for key, value := range part {
		other, ok := whole[key]
		if !ok || !equal(value, other) {
			return false
		}
	}
	return true
}
