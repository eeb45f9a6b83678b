package jobs

import (
	"encoding/binary"
	"maps"
	"slices"
)

// intern keeps one copy of what many objects share: the names of fields, kinds
// and namespaces, and whole mappings such as labels, an issuerRef or
// allowedRoutes. In a large cluster that is half of the memory. Nobody may change
// what has gone through it.
type intern struct {
	texts    map[string]string
	mappings map[string]mapping
	labels   map[string]map[string]string
}

type mapping struct {
	value  map[string]any
	number int
}

const (
	// maxInterned bounds each table. What many objects share comes early.
	maxInterned = 10_000
	// maxInternedLength is that of a label's value.
	maxInternedLength = 63
	// maxInternedFields is how many fields fit in the least room that a map takes.
	maxInternedFields = 8
)

func newIntern() *intern {
	return &intern{texts: map[string]string{}, mappings: map[string]mapping{}, labels: map[string]map[string]string{}}
}

// object replaces what is in a decoded object by equal shared values.
func (t *intern) object(object map[string]any) {
	for key, field := range object {
		if key != "managedFields" && key != "status" { // they do not stay
			object[t.text(key)], _ = t.value(field) // the key, too, is replaced by its equal
		}
	}
}

// value returns an equal value. It has a number if it is a shared mapping.
func (t *intern) value(value any) (any, int) {
	switch v := value.(type) {
	case string:
		return t.text(v), 0
	case []any:
		for i := range v {
			v[i], _ = t.value(v[i])
		}
	case map[string]any:
		t.object(v)
		return t.mapping(v)
	}
	return value, 0
}

func (t *intern) text(s string) string {
	if len(s) > maxInternedLength {
		return s
	}
	if known, found := t.texts[s]; found {
		return known
	}
	if len(t.texts) < maxInterned {
		t.texts[s] = s
	}
	return s
}

// mapping returns the shared mapping that is equal to one of strings and of
// shared mappings.
func (t *intern) mapping(m map[string]any) (any, int) {
	if len(m) > maxInternedFields {
		return m, 0
	}
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key = appendText(key, name)
		switch field := m[name].(type) {
		case string:
			key = appendText(append(key, 's'), field)
		case map[string]any:
			_, number := t.mapping(field)
			if number == 0 {
				return m, 0
			}
			key = binary.AppendUvarint(append(key, 'm'), uint64(number))
		default:
			return m, 0
		}
	}
	known, found := t.mappings[string(key)]
	if !found && len(t.mappings) < maxInterned {
		known = mapping{m, len(t.mappings) + 1}
		t.mappings[string(key)] = known
		found = true
	}
	if !found {
		return m, 0
	}
	return known.value, known.number
}

// strings returns the shared mapping that is equal to a mapping of strings.
func (t *intern) strings(m map[string]string) map[string]string {
	if len(m) == 0 || len(m) > maxInternedFields {
		return m
	}
	var key []byte
	for _, name := range slices.Sorted(maps.Keys(m)) {
		key = appendText(appendText(key, name), m[name])
	}
	known, found := t.labels[string(key)]
	if !found && len(t.labels) < maxInterned {
		t.labels[string(key)] = m
	}
	if !found {
		return m
	}
	return known
}

func appendText(key []byte, s string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(s))), s...)
}
