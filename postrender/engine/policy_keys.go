package engine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// policyKeys returns the keys of a policy, sorted.
func policyKeys() []string { return keysOf("") }

// keysOf returns the keys of the mapping at a path of the policy, sorted: none
// where any key may stand.
func keysOf(path string) []string {
	mapping := typeAt(path)
	if mapping == nil || mapping.Kind() != reflect.Struct {
		return nil
	}
	var keys []string
	for field := range mapping.Fields() {
		if name := jsonName(field); name != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// typeAt returns what stands at a path of the policy ("issuers[0].issuerRef",
// "issuers.issuerRef"), where that is a list what its items are; nil if nothing
// may stand there.
func typeAt(path string) reflect.Type {
	at := reflect.TypeFor[Policy]()
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' }) {
		step, _, _ = strings.Cut(step, "[")
		var next reflect.Type
		switch at.Kind() {
		case reflect.Map:
			next = at.Elem()
		case reflect.Struct:
			for field := range at.Fields() {
				if jsonName(field) == step {
					next = field.Type
				}
			}
		}
		if next == nil {
			return nil
		}
		for next.Kind() == reflect.Pointer || next.Kind() == reflect.Slice {
			next = next.Elem()
		}
		at = next
	}
	return at
}

// unknownKey is the message about a key that its mapping, which has others, does
// not have. More keys stand beside those of a policy in a file.
func unknownKey(path string, more ...string) string {
	keys := keysBeside(path, more)
	switch meant := meant(path, keys); {
	case meant != "":
		return fmt.Sprintf("unknown key %s; did you mean %s?", path, meant)
	case len(keys) == 0:
		return "unknown key " + path
	}
	return fmt.Sprintf("unknown key %s; the keys there are %s", path, strings.Join(keys, ", "))
}

func keysBeside(path string, more []string) []string {
	dot := strings.LastIndexByte(path, '.')
	if dot >= 0 {
		return keysOf(path[:dot])
	}
	return slices.Sorted(slices.Values(append(policyKeys(), more...)))
}

// meant returns the keys that the last one of a path may stand for: it differs
// by a letter or in case, or is their beginning.
func meant(path string, keys []string) string {
	key := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	return strings.Join(slices.DeleteFunc(slices.Clone(keys), func(other string) bool {
		other = strings.ToLower(other)
		begins := len(key) >= 3 && strings.HasPrefix(other, key)
		return !begins && !oneEdit(key, other)
	}), " or ")
}

// oneEdit says whether two words are one letter, or two swapped ones, apart.
func oneEdit(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || (len(a) <= 1 && len(b) <= 1)
}

// unknownAside names the unknown keys of an annotation in an error that one of
// them may be the reason of.
func unknownAside(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	var out []string
	for _, key := range keys {
		out = append(out, "unknown key "+key+aside(meant(key, keysBeside(key, nil))))
	}
	return "; its annotation has the " + strings.Join(out, ", ")
}

func aside(meant string) string {
	if meant == "" {
		return ""
	}
	return " (did you mean " + meant + "?)"
}
