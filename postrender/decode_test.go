package postrender

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     any
	}{
		{"scalars", "s: a\nb: true\ni: -5\nf: 1.5\nn: ~\ne:\n",
			map[string]any{"s": "a", "b": true, "i": int64(-5), "f": 1.5, "n": nil, "e": nil}},
		{"words that are no bools any more", "a: yes\nb: Off\nc: y\n", map[string]any{"a": "yes", "b": "Off", "c": "y"}},
		{"integers", "hex: 0x1F\noctal: 0o17\nold: 017\nsplit: 1_000\n", map[string]any{"hex": int64(31), "octal": int64(15), "old": int64(15), "split": int64(1000)}},
		{"big integers", "a: 9007199254740993\nb: 9123456789012345678\nc: 18446744073709551615\nd: -99999999999999999999\n",
			map[string]any{"a": int64(9007199254740993), "b": int64(9123456789012345678), "c": json.Number("18446744073709551615"), "d": json.Number("-99999999999999999999")}},
		{"dates and other strings", "a: 2024-01-01\nb: !!binary aGk=\nc: !mine x\nd: .nan\ne: -.inf\nf: \"1\"\ng: !!int \"1\"\n",
			map[string]any{"a": "2024-01-01", "b": "aGk=", "c": "x", "d": ".nan", "e": "-.inf", "f": "1", "g": int64(1)}},
		{"keys that are no strings", "22: a\ntrue: b\n1.5: c\n~: d\n0x10: e\n", map[string]any{"22": "a", "true": "b", "1.5": "c", "null": "d", "16": "e"}},
		{"aliases", "a: &a [1]\nb: *a\n&k c: d\n*k : e\n", map[string]any{"a": []any{int64(1)}, "b": []any{int64(1)}, "c": "e"}},
		{"merge", "a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}\n", map[string]any{
			"a": map[string]any{"x": int64(1), "y": int64(1)}, "b": map[string]any{"x": int64(1), "y": int64(2)}}},
		{"merge of several, the key below wins, too", "<<: [{x: 1}, {x: 2, y: 2}]\nz: 3\n\"<<\": 4\n", map[string]any{
			"x": int64(1), "y": int64(2), "z": int64(3), "<<": int64(4)}},
		{"last of two keys", "a: 1\nb: {c: 1, c: 2}\na: 3\n", map[string]any{"a": int64(3), "b": map[string]any{"c": int64(2)}}},
		{"block scalars", "a: |\n  x\n  y\nb: >-\n  x\n  y\nc: |+\n  x\n\n", map[string]any{"a": "x\ny\n", "b": "x y", "c": "x\n\n"}},
		{"CRLF", "a: x\r\nb: |\r\n  y\r\n", map[string]any{"a": "x", "b": "y\n"}},
		{"byte order mark, separator, end", "\ufeff---\na: 1\n...\n", map[string]any{"a": int64(1)}},
		{"key on the line of the separator", "--- a: 1\nb: 2\n", map[string]any{"a": int64(1), "b": int64(2)}},
		{"directives", "%YAML 1.2\n%TAG ! tag:x:\n---\na: !b 1\n", map[string]any{"a": "1"}},
		{"nothing", "---\n# a\n", nil},
		{"a list", "- a\n- []\n- {}\n", []any{"a", []any{}, map[string]any{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := parse([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			got, err := parsed.decode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unexpected value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeError(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		line           int
	}{
		{"mapping in a value", "a: 1\nb: c: d\n", "mapping values are not allowed", 2},
		{"wrong indentation", "a:\n  - b\n c: 1\n", "did not find expected key", 3},
		{"list that does not end", "a: 1\nb: [c\nd: 1\n", "did not find expected ',' or ']'", 2},
		{"tab", "a:\n\tb: 1\n", "found character that cannot start any token", 2},
		{"unknown anchor", "a: *b\n", "unknown anchor", 0},
		{"control character", "a: \x01\n", "control characters are not allowed", 0},
		{"not UTF-8", "a: \xff\n", "invalid", 0},
		{"anchor within itself", "a: &a\n- *a\n", `the anchor "a" contains itself`, 2},
		{"merge of a scalar", "a: 1\n<<: b\n", "the merge key << needs", 2},
		{"key that is a list", "a: 1\n? [b]\n: c\n", "a key is not a scalar", 2},
		{"integer that is none", "a: !!int b\n", "cannot decode", 1},
		{"two documents of JSON", "{\"a\": 1}\n{\"b\": 2}\n", "did not find expected <document start>", 2},
		{"two documents by a lone carriage return", "a: 1\r---\rb: 2\r", "a second document begins here", 2},
		{"aliases without end", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", "its aliases stand for more than", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := parse([]byte(c.in))
			if err == nil {
				_, err = parsed.decode()
			}
			var got *syntaxError
			if !errors.As(err, &got) {
				t.Fatalf("no error of the kind: %v", err)
			}
			if !strings.Contains(got.message, c.want) || got.line != c.line {
				t.Errorf("got line %d: %s\nwant line %d: %s", got.line, got.message, c.line, c.want)
			}
		})
	}
}

// TestLists are about Lists that would be read forever.
func TestLists(t *testing.T) {
	bomb := "kind: List\nx: &a {kind: List, items: [1,1,1,1,1,1,1,1,1,1]}\n"
	for _, name := range []string{"b", "c", "d", "e", "f", "g"} {
		above := string(name[0] - 1)
		bomb += name + ": &" + name + " {kind: List, items: [" + strings.TrimSuffix(strings.Repeat("*"+above+",", 10), ",") + "]}\n"
	}
	for _, c := range []struct{ name, in, want string }{
		{"List within itself", "kind: List\n# Gateway\nitems: &a\n- kind: List\n  items: *a\n", `the anchor "a" contains itself`},
		{"List of Lists of Lists", bomb + "items: [*g, {kind: Gateway}]\n", "its aliases stand for more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read([]byte(c.in), ReadOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got the error %v, want %q", err, c.want)
			}
		})
	}
}
