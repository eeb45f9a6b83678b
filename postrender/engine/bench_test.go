//go:build unix

package engine

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The sizes that the engine is made for.
const bigClaims, bigGateways = 100_000, 1_600

// shapes are the clusters whose plans are measured: how many claims there are,
// and what becomes of them.
var shapes = []struct {
	name string
	make func(b *testing.B, claims, gateways int) *Snapshot
}{
	{"first", func(_ *testing.B, claims, gateways int) *Snapshot { return bigCluster(claims, gateways) }},
	{"settled", settled},
	{"unclaimed", withoutClaims},
	{"refused", fullGateways},
	{"one-gateway", oneGateway},
}

// BenchmarkCompute plans 100,000 claims over 1,600 Gateways.
func BenchmarkCompute(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := shape.make(b, bigClaims, bigGateways)
			b.ReportAllocs()
			start := cpuTime(b)
			for b.Loop() {
				mustCompute(b, s)
			}
			b.ReportMetric((cpuTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(bigClaims*float64(b.N)/b.Elapsed().Seconds(), "claims/s")
		})
	}
}

// BenchmarkScaling prints what ten times the claims, over ten times the
// Gateways, cost. The small cluster is planned ten times in a row, so that the
// garbage collector takes its part of both.
func BenchmarkScaling(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			small, big := shape.make(b, bigClaims/10, bigGateways/10), shape.make(b, bigClaims, bigGateways)
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, run := range []func(){
					func() {
						for range 10 {
							mustCompute(b, small)
						}
					},
					func() { mustCompute(b, big) },
				} {
					runtime.GC()
					start := cpuTime(b)
					run()
					least[i] = min(least[i], cpuTime(b)-start)
				}
			}
			b.ReportMetric(10*least[1].Seconds()/least[0].Seconds(), "times-for-10x")
		})
	}
}

// cpuTime is what the process has used, so that others on the machine do not
// count.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func mustCompute(b *testing.B, s *Snapshot) *Plan {
	plan, err := Compute(s, PolicySources{Flags: issuer()})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

// bigCluster has Gateways of one name, each in a namespace of its own with a
// route for every two hostnames, as many as a Gateway has listeners for, and
// claims that other routes make too.
func bigCluster(claims, gateways int) *Snapshot {
	s := &Snapshot{Complete: true}
	for g := range gateways {
		namespace := fmt.Sprintf("team-%04d", g)
		s.Namespaces = append(s.Namespaces, &Namespace{Meta{Kind: KindNamespace, Name: namespace}})
		s.Gateways = append(s.Gateways, &Gateway{
			Meta:      Meta{Kind: KindGateway, Namespace: namespace, Name: "edge"},
			Listeners: []SourceListener{{Name: "http", Port: 80, Protocol: "HTTP", AllowedFrom: FromSame}},
		})
		for i := range 31 {
			s.Routes = append(s.Routes, bigRoute(KindHTTPRoute, namespace, i))
		}
	}
	for i := range claims/2 - 31*gateways {
		s.Routes = append(s.Routes, bigRoute(KindGRPCRoute, fmt.Sprintf("team-%04d", i), 0))
	}
	return s
}

func bigRoute(kind, namespace string, i int) *Route {
	return &Route{
		Meta:      Meta{Kind: kind, Namespace: namespace, Name: fmt.Sprintf("shop-%d", i), Created: time.Unix(int64(i)*3600, 0)},
		Hostnames: []string{fmt.Sprintf("shop-%d.%s.example.com", i, namespace), fmt.Sprintf("www-%d.%s.example.com", i, namespace)},
		Parents:   []ParentRef{{Group: GatewayGroup, Kind: KindGateway, Name: "edge"}},
	}
}

// settled is the cluster after its plan is carried out, so that every listener
// and Certificate is compared with what is there.
func settled(b *testing.B, claims, gateways int) *Snapshot {
	s := bigCluster(claims, gateways)
	plan := mustCompute(b, s)
	for i, g := range plan.Gateways {
		for _, l := range g.Listeners {
			source := reader{object: jsonMap(l.Object()), problem: new(string)}.listener()
			source.Owned = true
			s.Gateways[i].Listeners = append(s.Gateways[i].Listeners, source)
		}
	}
	for _, c := range plan.Certificates {
		if err := s.Decode(jsonMap(c.Object()), Origin{}); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// withoutClaims is that cluster when all its routes are gone.
func withoutClaims(b *testing.B, claims, gateways int) *Snapshot {
	s := settled(b, claims, gateways)
	s.Routes = nil
	return s
}

// fullGateways has Gateways that are full already.
func fullGateways(_ *testing.B, claims, gateways int) *Snapshot {
	s := bigCluster(claims, gateways)
	for _, g := range s.Gateways {
		for i := range 60 {
			g.Listeners = append(g.Listeners, SourceListener{Name: fmt.Sprintf("l%d", i), Port: 1000 + i, Protocol: "HTTP", AllowedFrom: FromSame})
		}
	}
	return s
}

// oneGateway serves all claims by a listener that was written by hand.
func oneGateway(_ *testing.B, claims, gateways int) *Snapshot {
	s := bigCluster(claims, gateways)
	s.Gateways = s.Gateways[:1]
	s.Gateways[0].Listeners = append(s.Gateways[0].Listeners, SourceListener{Name: "https", Port: 443, Protocol: "HTTPS", AllowedFrom: FromAll, HasRefs: true})
	for _, route := range s.Routes {
		route.Parents[0].Namespace = s.Gateways[0].Namespace
	}
	return s
}
