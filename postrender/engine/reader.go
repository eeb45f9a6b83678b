package engine

import (
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reader reads the fields of one mapping. The first field of a wrong type is
// kept in problem; what follows reads as if it were absent.
type reader struct {
	object  map[string]any
	path    string
	problem *string
	live    bool
}

func (r reader) fail(field, want string, got any) {
	if *r.problem == "" {
		*r.problem = fmt.Sprintf("%s is %s, not %s", r.path+field, describe(got), want)
	}
}

func describe(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(value)
}

func (r reader) child(field string) reader {
	switch v := r.object[field].(type) {
	case map[string]any:
		return reader{v, r.path + field + ".", r.problem, r.live}
	case nil:
	default:
		r.fail(field, "a mapping", v)
	}
	return reader{nil, r.path + field + ".", r.problem, r.live}
}

func (r reader) children(field string) []reader {
	items := r.items(field)
	out := make([]reader, 0, len(items))
	for i, item := range items {
		path := fmt.Sprintf("%s%s[%d]", r.path, field, i)
		if object, ok := item.(map[string]any); ok {
			out = append(out, reader{object, path + ".", r.problem, r.live})
		} else {
			r.fail(fmt.Sprintf("%s[%d]", field, i), "a mapping", item)
		}
	}
	return out
}

func (r reader) items(field string) []any {
	switch v := r.object[field].(type) {
	case []any:
		return v
	case nil:
	default:
		r.fail(field, "a list", v)
	}
	return nil
}

func (r reader) list(field string) []string {
	items := r.items(field)
	out := make([]string, 0, len(items))
	for i, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		} else {
			r.fail(fmt.Sprintf("%s[%d]", field, i), "a string", item)
		}
	}
	return out
}

func (r reader) text(field string) string { return r.textOr(field, "") }

func (r reader) textOr(field, fallback string) string {
	switch v := r.object[field].(type) {
	case string:
		return v
	case nil:
	default:
		r.fail(field, "a string", v)
	}
	return fallback
}

func (r reader) texts(field string) map[string]string {
	child := r.child(field)
	if len(child.object) == 0 {
		return nil
	}
	out := make(map[string]string, len(child.object))
	for key := range child.object {
		out[key] = child.text(key)
	}
	return out
}

func (r reader) flag(field string) bool {
	switch v := r.object[field].(type) {
	case bool:
		return v
	case nil:
	default:
		r.fail(field, "true or false", v)
	}
	return false
}

func (r reader) number(field string) int {
	switch v := r.object[field].(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
		r.fail(field, "a whole number", v)
	case nil:
	default:
		r.fail(field, "a number", v)
	}
	return 0
}

func (r reader) selector(object map[string]any) *metav1.LabelSelector {
	data, err := json.Marshal(object)
	selector := new(metav1.LabelSelector)
	if err == nil {
		err = json.Unmarshal(data, selector)
	}
	if err == nil {
		_, err = metav1.LabelSelectorAsSelector(selector)
	}
	if err != nil && !r.live {
		r.fail("selector", "a label selector", object)
	}
	return selector
}
