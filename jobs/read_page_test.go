package jobs

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const listOfRoutes = `"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"resourceVersion":"1"}`

func someItems(n int, metadata string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"metadata":{"name":"x%d","namespace":"app"%s}}`, i, metadata)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// Servers write the items of custom resources before the kind and the metadata
// of their list.
func TestReadTakesItemsFirst(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = at(lists["HTTPRoute"], "", fixed(`{"items":`+someItems(3, "")+`,`+listOfRoutes+`}`))
	if r := mustRead(t, s, ReadOptions{}); !r.complete("HTTPRoute") || r.kind("HTTPRoute").Objects != 3 {
		t.Errorf("%+v, want three objects", r.kind("HTTPRoute"))
	}
}

// Of an answer that is cut short, or that turns out to be another one, nothing
// stays, whatever it had given before.
func TestReadKeepsNothingOfABadPage(t *testing.T) {
	whole := `{"items":` + someItems(3, "") + `,` + listOfRoutes + `}`
	tests := []struct{ name, page string }{
		{"cut behind an item", whole[:strings.Index(whole, `"x2"`)]},
		{"cut before its kind", whole[:strings.Index(whole, `"kind"`)]},
		{"cut at its end", whole[:len(whole)-1]},
		{"more behind its end", whole + "{}"},
		{"of another kind", strings.Replace(whole, "HTTPRouteList", "GRPCRouteList", 1)},
		{"items twice", `{"items":[],` + whole[1:]},
		{"items that are no list", `{"items":{},` + listOfRoutes + `}`},
		{"a bad item in the middle", strings.Replace(whole, `"x1"`, `7`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeServer(t, world)
			s.fault = at(lists["HTTPRoute"], "", fixed(tt.page))
			r := mustRead(t, s, ReadOptions{})
			if k := r.kind("HTTPRoute"); k.Complete || k.Err == nil || k.Objects != 0 {
				t.Errorf("%+v, want an error and no objects", k)
			}
			for _, route := range r.Snapshot.Routes {
				if strings.HasPrefix(route.Name, "x") {
					t.Errorf("%s was kept", route.Name)
				}
			}
		})
	}
}

// What a broken answer gave is not there twice when the next one is whole.
func TestReadTakesEachItemOnce(t *testing.T) {
	s := newFakeServer(t, manyRoutes(3))
	page := `{"items":` + someItems(3, "") + `,` + listOfRoutes
	s.fault = func(w http.ResponseWriter, r *http.Request, number int) bool {
		if r.URL.Path != lists["HTTPRoute"] || number > 2 {
			return false
		}
		fixed(page)(w, r)
		return true
	}
	r := mustRead(t, s, ReadOptions{})
	if n := len(r.Snapshot.Routes); !r.Snapshot.Complete || n != 3 {
		t.Errorf("complete %v with %d routes, want 3", r.Snapshot.Complete, n)
	}
}

// Large annotations of others do not stay in memory; those that are ours, or on
// what is ours, do.
func TestReadDropsLargeAnnotations(t *testing.T) {
	large := strings.Repeat("x", maxForeignAnnotation+1)
	object := func(labels, key string) map[string]any {
		return parse(t, `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: x, namespace: app, labels: {`+labels+`}, annotations: {`+key+`: `+large+`, short: "1"}}
`)[0]
	}
	for _, tt := range []struct {
		labels, key string
		kept        bool
	}{
		{"", "note", false},
		{"", "gatewright.dev/manage", true},
		{"gatewright.dev/for: edge", "note", true},
	} {
		p := newPart(newIntern())
		if err := p.keepKnowledge(object(tt.labels, tt.key)); err != nil {
			t.Fatal(err)
		}
		got := p.snapshot.Routes[0].Annotations
		if (got[tt.key] != "") != tt.kept || got["short"] != "1" {
			t.Errorf("labels %q: %s kept: %v, want %v; short is %q", tt.labels, tt.key, !tt.kept, tt.kept, got["short"])
		}
	}
}

// BenchmarkReadLarge reads 400 routes with annotations of 250 kB: peak-MB is to
// stay far below the 100 MB that it receives.
func BenchmarkReadLarge(b *testing.B) {
	s := newFakeServer(b, world)
	item := strings.Trim(someItems(1, `,"annotations":{"note":"`+strings.Repeat("x", 250_000)+`"}`), "[]")
	s.fault = at(lists["HTTPRoute"], "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[`+item)
		for range 399 {
			_, _ = io.WriteString(w, ",")
			_, _ = io.WriteString(w, item)
		}
		_, _ = io.WriteString(w, `],`+listOfRoutes+`}`)
	})
	c := s.cluster(b, nil)
	base := float64(heap())
	for b.Loop() {
		done, peak := make(chan bool), make(chan uint64)
		go watchMemory(done, peak)
		r, err := c.Read(b.Context(), ReadOptions{})
		if err != nil || r.kind("HTTPRoute").Objects != 400 {
			b.Fatalf("%+v, %v", r, err)
		}
		close(done)
		b.ReportMetric((float64(<-peak)-base)/1e6, "peak-MB")
	}
}
