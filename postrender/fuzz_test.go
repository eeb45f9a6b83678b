package postrender

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	yaml "go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// FuzzStream renders whatever comes. What is not edited comes out as it went
// in, nothing is lost, and a second run finds nothing to do.
func FuzzStream(f *testing.F) {
	for _, seed := range streamSeeds(f) {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, in []byte, managed bool) {
		docs, was := split(in), bytes.Clone(in)
		if !bytes.Equal(bytes.Join(docs, nil), in) {
			t.Fatalf("the documents of %q joined are %q", in, docs)
		}
		options := Options{Namespace: "apps"}
		if managed {
			options.Policies.Flags = engine.Keys{"issuerRef": map[string]any{"name": "letsencrypt"}}
		}
		result, err := Render(in, options)
		if err != nil {
			checkError(t, err)
			return
		}
		out := written(t, result)
		if !bytes.Equal(in, was) {
			t.Fatalf("%q was written to: %q", was, in)
		}
		checkKept(t, docs, out, result.Plan)
		again, err := Render(out, options)
		if err != nil {
			t.Fatalf("own output of %q refused: %v\n%s", in, err, out)
		}
		if second := written(t, again); !bytes.Equal(second, out) {
			t.Fatalf("the second run of %q changed %q to %q", in, out, second)
		}
	})
}

// checkError demands an error that people can act on.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) || e.Object == "" || e.Message == "" {
		t.Fatalf("the error does not say what it is about: %v", err)
	}
}

// checkKept demands every document of the input in the output, in order; only
// as many of them as there are planned objects may differ.
func checkKept(t *testing.T, docs [][]byte, out []byte, plan *engine.Plan) {
	t.Helper()
	if len(bytes.TrimSpace(out)) == 0 {
		t.Fatal("the output is blank")
	}
	if planned(plan) == 0 {
		if rest, found := bytes.CutPrefix(out, bytes.Join(docs, nil)); !found || len(rest) > len("\n"+nothing) {
			t.Fatalf("nothing to do, but %q became %q", docs, out)
		}
		return
	}
	if removes(plan) || len(docs) > 0 && onlyDirectives(docs[len(docs)-1]) {
		return // fewer documents, or one that the added ones make whole
	}
	got := split(out)
	if len(got) < len(docs) {
		t.Fatalf("%d documents became %d: %q", len(docs), len(got), out)
	}
	differing := 0
	for i, doc := range docs {
		if !bytes.Equal(bytes.TrimSuffix(got[i], []byte("\n")), bytes.TrimSuffix(doc, []byte("\n"))) {
			differing++
		}
	}
	if planned := planned(plan); differing > planned {
		t.Fatalf("%d documents differ, and %d objects are planned: %q", differing, planned, out)
	}
}

// planned counts the objects that a plan is about.
func planned(plan *engine.Plan) int {
	return len(plan.Gateways) + len(plan.ListenerSets) + len(companionsOf(plan))
}

func removes(plan *engine.Plan) bool {
	for _, c := range companionsOf(plan) {
		if c.action == engine.Remove {
			return true
		}
	}
	return false
}

func written(t testing.TB, result *Result) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := result.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func streamSeeds(f *testing.F) [][]byte {
	seeds := [][]byte{nil, []byte("\n"), []byte("---\n...\n%YAML 1.2\n---\n...\n"), []byte("--- null\n---{}\n---# x\n----\n")}
	for _, gateway := range gatewaySeeds(f) {
		seeds = append(seeds, append(gateway, "---\n"+route("shop", "a.example.com")...))
	}
	for _, file := range glob(f, "testdata/cases/*.txtar") {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range archive.Files {
			seeds = append(seeds, section.Data)
		}
	}
	return seeds
}

func gatewaySeeds(f *testing.F) [][]byte {
	var seeds [][]byte
	for _, file := range glob(f, "testdata/splice/*.txtar") {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range archive.Files {
			seeds = append(seeds, section.Data)
		}
	}
	return seeds
}

// FuzzSplice edits whatever document comes. If it can be edited, another
// reader of YAML finds in it what was there, and the change.
func FuzzSplice(f *testing.F) {
	for _, gateway := range gatewaySeeds(f) {
		for remove := range uint8(4) {
			f.Add(gateway, remove)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, remove uint8) {
		if len(split(in)) != 1 {
			return
		}
		changes := []change{
			setText{keyPath{"metadata", "annotations"}, engine.AnnotationRendered, `{"a":["b","c"]}`},
			setItems{keyPath{"spec", "listeners"}, map[int]bool{0: remove&1 > 0, 1: remove&2 > 0}, twoListeners()},
		}
		text, was := in, bytes.Clone(in)
		for _, c := range changes {
			out, err := apply(text, c)
			if !bytes.Equal(text, was) {
				t.Fatalf("%q was written to: %q", was, text)
			}
			if err != nil {
				checkNoEdit(t, text, err)
				return
			}
			checkMeaning(t, text, out, c)
			text, was = out, bytes.Clone(out)
		}
		together, err := apply(in, changes...)
		if err != nil {
			t.Fatalf("%q: the changes can be made, but not at once: %v", in, err)
		}
		checkMeaning(t, in, together, changes...)
	})
}

func checkNoEdit(t *testing.T, text []byte, err error) {
	t.Helper()
	var wrong *syntaxError
	var impossible *editError
	if !errors.As(err, &impossible) && !errors.As(err, &wrong) {
		t.Fatalf("%q: %v", text, err)
	}
}

// checkMeaning reads both texts with the parser's own decoder.
func checkMeaning(t *testing.T, before, after []byte, changes ...change) {
	t.Helper()
	var want, got any
	if yaml.Unmarshal(withoutVersion(before[bodyStart(before):]), &want) != nil {
		return // a duplicate key, for which that decoder has no patience
	}
	want = textKeys(want)
	for _, c := range changes {
		if c.want(want) != nil {
			t.Fatalf("%q was edited", before)
		}
	}
	if err := yaml.Unmarshal(withoutVersion(after[bodyStart(after):]), &got); err != nil {
		t.Fatalf("%q became %q: %v", before, after, err)
	}
	if got = textKeys(got); fmt.Sprintf("%q", want) != fmt.Sprintf("%q", got) {
		t.Fatalf("%q became %q,\nwhich is %v,\nnot     %v", before, after, got, want)
	}
}

// textKeys makes strings of the keys that are none.
func textKeys(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = textKeys(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = textKeys(value[key])
		}
	case map[any]any:
		out := map[string]any{}
		for key := range value {
			if name, isString := key.(string); isString {
				out[name] = textKeys(value[key])
				continue
			}
			out[fmt.Sprintf("%T %v", key, key)] = textKeys(value[key]) // 0 and 0.0 are two
		}
		return out
	}
	return value
}
