package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

// BenchmarkScale prints what passes of the sweep cost on the real API server, as
// a process of its own: requests, time and memory against Gateways, hostnames
// and changes. make bench-cluster runs it; GATEWAYS sets the largest size.
//
// A controller that reconciles one Certificate at a time reads it, its Gateway
// and its Secret each time: that is the last column.
func BenchmarkScale(b *testing.B) {
	program := buildProgram(b)
	largest := 1000
	if text := os.Getenv("GATEWAYS"); text != "" {
		if _, err := fmt.Sscan(text, &largest); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Printf("%8s %9s %-14s %6s %6s %8s %8s %8s\n", "Gateways", "hostnames", "pass", "reads", "writes", "seconds", "MB", "by one")
	for _, gateways := range []int{largest / 100, largest / 10, largest} {
		if gateways > 0 {
			measureScale(b, program, gateways)
		}
	}
}

// hostnamesOfGateway is how many each Gateway serves: one route for each.
const hostnamesOfGateway = 30

func measureScale(b *testing.B, program string, gateways int) {
	env := clustertest.Start(b)
	namespace := env.Namespace(b)
	fill(b, env, namespace, gateways)
	pass := func(name string, most int) {
		recorder := &clustertest.Recorder{}
		proxy := env.Proxy(b, recorder.Wrap)
		start := time.Now()
		megabytes := runSweep(b, program, proxy.Kubeconfig)
		seconds := time.Since(start).Seconds()
		reads, writes := 0, 0
		for _, call := range recorder.Calls() {
			if call.Writes() {
				writes++
			} else {
				reads++
			}
		}
		hostnames := gateways * hostnamesOfGateway
		fmt.Printf("%8d %9d %-14s %6d %6d %8.1f %8.0f %8d\n", gateways, hostnames, name, reads, writes, seconds, megabytes, 3*hostnames)
		if pages := (2*hostnames + gateways) / 500; reads > 40+pages {
			b.Errorf("pass %q made %d reads, want %d pages and 40 at most", name, reads, pages)
		}
		if name != "first" && (seconds > 60 || megabytes > 500) {
			b.Errorf("pass %q took %.1f s and %.0f MB, want 60 s and 500 MB at most", name, seconds, megabytes)
		}
		if most >= 0 && writes > most {
			b.Errorf("pass %q of %d Gateways made %d writes, want %d at most", name, gateways, writes, most)
		}
	}
	pass("first", gateways*(1+hostnamesOfGateway))
	pass("nothing to do", 0)
	routes := env.Dynamic.Resource(routeResource).Namespace(namespace)
	for i := range 10 {
		if err := routes.Delete(context.Background(), routeName(0, i), metav1.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	pass("10 changes", 10)
	pass("nothing to do", 0)
}

var (
	gatewayResource = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "gateways"}
	routeResource   = schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "httproutes"}
)

func routeName(gateway, i int) string { return fmt.Sprintf("r-%d-%d", gateway, i) }

// fill makes Gateways, and a route for each of their hostnames.
func fill(b *testing.B, env *clustertest.Env, namespace string, gateways int) {
	b.Helper()
	create := func(resource schema.GroupVersionResource, object map[string]any) error {
		_, err := env.Dynamic.Resource(resource).Namespace(namespace).Create(context.Background(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
		return err
	}
	var group errgroup.Group
	group.SetLimit(16)
	var made atomic.Int64
	for g := range gateways {
		group.Go(func() error {
			err := create(gatewayResource, map[string]any{
				"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
				"metadata": map[string]any{"name": fmt.Sprintf("gw-%d", g), "annotations": map[string]any{engine.AnnotationPolicy: `{issuerRef: {kind: ClusterIssuer, name: x}}`}},
				"spec":     map[string]any{"gatewayClassName": "x", "listeners": []any{map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP"}}},
			})
			for i := 0; err == nil && i < hostnamesOfGateway; i++ {
				err = create(routeResource, map[string]any{
					"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": map[string]any{"name": routeName(g, i)},
					"spec": map[string]any{
						"parentRefs": []any{map[string]any{"name": fmt.Sprintf("gw-%d", g)}},
						"hostnames":  []any{fmt.Sprintf("h%d.g%d.example.com", i, g)},
						"rules":      []any{map[string]any{"backendRefs": []any{map[string]any{"name": "app", "port": int64(80)}}}},
					},
				})
			}
			if n := made.Add(1); n%100 == 0 {
				b.Logf("%d Gateways made", n)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

func buildProgram(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "gatewright")
	if output, err := exec.Command("go", "build", "-o", program, "../cmd/gatewright-full").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	return program
}

// runSweep runs one pass as the CronJob does and returns its peak memory.
func runSweep(b *testing.B, program, kubeconfig string) (megabytes float64) {
	b.Helper()
	command := exec.Command(program, "sweep", "-o", "json", "--kubeconfig", kubeconfig)
	var output, stderr bytes.Buffer
	command.Stdout, command.Stderr = &output, &stderr
	if err := command.Run(); err != nil {
		tail := output.String()
		b.Fatalf("%v\n%s\n%s", err, stderr.String(), tail[max(0, len(tail)-2000):])
	}
	if !strings.Contains(output.String(), `"result": "done"`) {
		b.Errorf("the report says no result done")
	}
	return float64(command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}
