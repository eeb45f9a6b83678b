package postrender

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// style is how block collections are indented: nested mappings by step, lists
// by dash.
type style struct{ step, dash int }

// The keys that come first where people look for them; all others follow in
// the order of the alphabet.
var (
	objectKeys   = []string{"apiVersion", "kind", "metadata"}
	metadataKeys = []string{"name", "namespace", "labels", "annotations"}
	listenerKeys = []string{"name", "hostname", "port", "protocol", "tls", "allowedRoutes"}
	tlsKeys      = []string{"mode", "certificateRefs", "options"}
	patchKeys    = []string{"target", "patch"}
)

// Encode returns an object, or another value of maps, lists, strings, numbers
// and bools, as a YAML document without separator. The same value gives the
// same bytes, and every string that some reader of YAML might take for
// something else is quoted.
func Encode(object map[string]any) []byte {
	e := encoder{style: style{step: 2}}
	e.mapping(object, 0, objectKeys, false)
	return e.out.Bytes()
}

// encodePair returns a key with its value as block lines at a column.
func encodePair(key string, value any, column int, s style) string {
	e := encoder{style: s}
	e.mapping(map[string]any{key: value}, column, nil, false)
	return e.out.String()
}

// encodeUnder returns a collection as the block lines under its key, which
// stands at a column.
func encodeUnder(value any, column int, s style) string {
	e := encoder{style: s}
	e.under(value, column, listenerKeys)
	return e.out.String()
}

// encodeItems returns listeners as items of a block list whose dashes stand at
// a column.
func encodeItems(items []any, column int, s style) string {
	e := encoder{style: s}
	e.list(items, column, listenerKeys)
	return e.out.String()
}

type encoder struct {
	style
	out bytes.Buffer
}

// mapping writes a mapping that is not empty, its keys at a column. The first
// line of an item of a list has its dash before it already.
func (e *encoder) mapping(m map[string]any, column int, first []string, isItem bool) {
	for i, key := range sortedKeys(m, first) {
		if i > 0 || !isItem {
			e.indent(column)
		}
		e.out.WriteString(quote(key) + ":")
		e.value(m[key], column, below(key))
	}
}

// below returns which keys come first in what stands below a key.
func below(key string) []string {
	switch key {
	case "metadata":
		return metadataKeys
	case "listeners", "value":
		return listenerKeys
	case "patches":
		return patchKeys
	case "tls":
		return tlsKeys
	}
	return nil
}

// value writes what stands behind a key.
func (e *encoder) value(value any, column int, first []string) {
	if isCollection(value) {
		e.out.WriteByte('\n')
		e.under(value, column, first)
		return
	}
	if text, isText := value.(string); isText && isBlock(text) {
		e.block(text, column+e.step)
		return
	}
	e.out.WriteString(" " + inline(value) + "\n")
}

// block writes text of several lines as such.
func (e *encoder) block(text string, column int) {
	e.out.WriteString(" |\n")
	for line := range strings.Lines(text) {
		if line != "\n" {
			e.indent(column)
		}
		e.out.WriteString(line)
	}
}

func (e *encoder) under(value any, column int, first []string) {
	switch value := value.(type) {
	case map[string]any:
		e.mapping(value, column+e.step, first, false)
	case []any:
		e.list(value, column+e.dash, first)
	}
}

func (e *encoder) list(items []any, column int, first []string) {
	for _, item := range items {
		e.indent(column)
		e.out.WriteString("- ")
		if m, isMap := item.(map[string]any); isMap && len(m) > 0 {
			e.mapping(m, column+2, first, true)
			continue
		}
		e.out.WriteString(inline(item) + "\n")
	}
}

func (e *encoder) indent(column int) { e.out.WriteString(strings.Repeat(" ", column)) }

// isCollection tells whether a value is written on lines of its own.
func isCollection(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(value) > 0
	case []any:
		return len(value) > 0
	}
	return false
}

// inline returns a value that stands on the line of its key or dash.
func inline(value any) string {
	if s, isString := value.(string); isString {
		return quote(s)
	}
	return flow(value, nil)
}

// flow returns a value in flow style, which is JSON.
func flow(value any, first []string) string {
	switch value := value.(type) {
	case string:
		return doubleQuote(value)
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case json.Number:
		return value.String()
	case nil:
		return "null"
	case []any:
		return "[" + strings.Join(flowEntries(value, first), ", ") + "]"
	case map[string]any:
		var pairs []string
		for _, key := range sortedKeys(value, first) {
			pairs = append(pairs, flowPair(key, value[key]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	return doubleQuote(fmt.Sprint(value))
}

func flowPair(key string, value any) string {
	return doubleQuote(key) + ": " + flow(value, below(key))
}

func flowEntries(items []any, first []string) []string {
	var out []string
	for _, item := range items {
		out = append(out, flow(item, first))
	}
	return out
}

// sortedKeys returns the keys of a mapping, some of them first.
func sortedKeys(m map[string]any, first []string) []string {
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}
