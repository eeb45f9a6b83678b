package postrender

import (
	"bytes"
	"fmt"
	"testing"
)

// bigStream returns 10,000 documents, 30 MB in all: text, and routes where
// asked for, each fifth document, for a Gateway each fifty.
func bigStream(routes bool) []byte {
	var out bytes.Buffer
	line := bytes.Repeat([]byte("x"), 90)
	for i := range 10_000 {
		fmt.Fprintf(&out, "---\n# Source: big/templates/%d.yaml\n", i)
		switch {
		case routes && i%5 == 0:
			fmt.Fprintf(&out, "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: r%d\nspec:\n  parentRefs:\n  - name: gw%d\n  hostnames:\n  - h%d.example.com\n  rules:\n  - matches:\n    - path:\n        type: PathPrefix\n        value: /\n    backendRefs:\n    - name: svc%d\n      port: 80\n", i, i/250, i, i)
		case routes && i%250 == 1:
			fmt.Fprintf(&out, "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: gw%d\nspec:\n  gatewayClassName: big\n  listeners:\n  - name: http\n    port: 80\n    protocol: HTTP\n", i/250)
		default:
			fmt.Fprintf(&out, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\ndata:\n", i)
			for key := range 36 {
				fmt.Fprintf(&out, "  key%d: %s\n", key, line)
			}
		}
	}
	return out.Bytes()
}

func BenchmarkSplit(b *testing.B) {
	in := bigStream(false)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		split(in)
	}
}

func BenchmarkScan(b *testing.B) {
	in := bigStream(false)
	docs := split(in)
	scan := newScanner(NeedsServices(in))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for _, doc := range docs {
			if scan.concernsUs(doc) {
				b.Fatalf("%q", doc)
			}
		}
	}
}

// BenchmarkNothingToDo renders 2,000 routes and 40 Gateways without a policy.
func BenchmarkNothingToDo(b *testing.B) { benchmarkRender(b, Options{}) }

// BenchmarkRender gives each of the 2,000 routes a listener and a Certificate.
func BenchmarkRender(b *testing.B) { benchmarkRender(b, issuing("big")) }

func benchmarkRender(b *testing.B, options Options) {
	in := bigStream(true)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(in, options); err != nil {
			b.Fatal(err)
		}
	}
}
