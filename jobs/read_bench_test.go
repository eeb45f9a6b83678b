package jobs

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
)

// BenchmarkRead reads a large cluster: 1,000 Gateways with a listener for each of
// 30,000 routes, and a Certificate each. live-MB is what is left of it in memory,
// peak-MB the most that the process had at a time, the fake server included,
// which makes its answers while it sends them.
func BenchmarkRead(b *testing.B) {
	c, big := bigCluster(b)
	for b.Loop() {
		done, peak := make(chan bool), make(chan uint64)
		go watchMemory(done, peak)
		reading, err := c.Read(b.Context(), ReadOptions{})
		if err != nil || !reading.Snapshot.Complete || len(reading.Snapshot.Certificates) != bigHostnames {
			b.Fatalf("reading %+v, %v", reading.Kinds, err)
		}
		close(done)
		b.ReportMetric(float64(<-peak)/1e6, "peak-MB")
		b.ReportMetric(float64(heap())/1e6, "live-MB")
		b.ReportMetric(float64(big.sent)/1e6, "received-MB")
		b.ReportMetric(residentMB(b), "max-resident-MB")
		big.sent = 0
		runtime.KeepAlive(reading)
	}
}

// BenchmarkWriteSnapshot writes the same cluster to a file.
func BenchmarkWriteSnapshot(b *testing.B) {
	c, _ := bigCluster(b)
	b.Setenv("TMPDIR", b.TempDir())
	for b.Loop() {
		done, peak := make(chan bool), make(chan uint64)
		go watchMemory(done, peak)
		var size counter
		if _, err := c.WriteSnapshot(b.Context(), &size, ReadOptions{}, false); err != nil {
			b.Fatal(err)
		}
		close(done)
		b.ReportMetric(float64(<-peak)/1e6, "peak-MB")
		b.ReportMetric(float64(size)/1e6, "written-MB")
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

const bigGateways, bigHostnames = 1000, 30_000

func bigCluster(b *testing.B) (*Cluster, *bigServer) {
	s := newFakeServer(b, "")
	big := &bigServer{perGateway: bigHostnames / bigGateways, counts: map[string]int{
		lists["Gateway"]: bigGateways, lists["HTTPRoute"]: bigHostnames, lists["Certificate"]: bigHostnames, lists["Namespace"]: 100,
	}}
	s.fault = big.serve
	return s.cluster(b, nil), big
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func watchMemory(done chan bool, peak chan uint64) {
	var most uint64
	for {
		select {
		case <-done:
			peak <- most
			return
		case <-time.After(20 * time.Millisecond):
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			most = max(most, stats.Sys-stats.HeapReleased)
		}
	}
}

// residentMB is the most that the system gave the process.
func residentMB(b *testing.B) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Log("no /proc/self/status: the maximum is not known")
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kb) / 1000
}

// bigServer makes objects as large as those of a real cluster, page by page.
type bigServer struct {
	perGateway int
	counts     map[string]int
	sent       int
}

func (g *bigServer) serve(w http.ResponseWriter, r *http.Request, _ int) bool {
	count := g.counts[r.URL.Path]
	if count == 0 {
		return false
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	to, token := min(from+limit, count), ""
	if to < count {
		token = strconv.Itoa(to)
	}
	kind, apiVersion := "", ""
	for _, known := range someResources {
		if at := (resource{known.group, known.version, known.name}); at.path("") == r.URL.Path {
			kind, apiVersion = known.kind, at.apiVersion()
		}
	}
	list := kind
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		list, apiVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"5","continue":%q},"items":[`, list, apiVersion, token)
	for i := from; i < to; i++ {
		if i > from {
			fmt.Fprint(w, ",")
		}
		n, _ := w.Write(g.object(kind, i))
		g.sent += n
	}
	fmt.Fprint(w, "]}")
	return true
}

func (g *bigServer) object(kind string, i int) []byte {
	meta := fmt.Sprintf(`"uid":"0a1b2c3d-0000-4000-8000-%012d","resourceVersion":"%d","generation":3,"creationTimestamp":"2026-01-02T03:04:05Z"`, i, 1000+i)
	switch kind {
	case engine.KindNamespace:
		return fmt.Appendf(nil, `{"metadata":{"name":"ns-%d","labels":{"kubernetes.io/metadata.name":"ns-%d"},%s}}`, i, i, meta)
	case engine.KindGateway:
		return g.gateway(i, meta)
	}
	fill := strings.NewReplacer(`"META":0`, meta, "HOST", fmt.Sprintf("h%05d", i), "EDGE", fmt.Sprintf("edge-%d", i/g.perGateway))
	if kind == engine.KindHTTPRoute {
		return []byte(fill.Replace(bigRoute))
	}
	return []byte(fill.Replace(bigCertificate))
}

// gateway has a listener for each hostname, as two field managers own it and the
// controller reports it.
func (g *bigServer) gateway(i int, meta string) []byte {
	var listeners, fields, status []string
	for n := i * g.perGateway; n < (i+1)*g.perGateway; n++ {
		name := fmt.Sprintf("https-h%05d-example-com-0123456789ab", n)
		listeners = append(listeners, fmt.Sprintf(bigListener, name, n, n))
		fields = append(fields, fmt.Sprintf(bigFields, name))
		status = append(status, fmt.Sprintf(bigStatus, name))
	}
	return fmt.Appendf(nil, `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"edge-%d","namespace":"ns-1",%s,
"managedFields":[{"manager":"gatewright","operation":"Apply","apiVersion":"gateway.networking.k8s.io/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:listeners":{%s}}}}]},
"spec":{"gatewayClassName":"any","listeners":[%s]},"status":{"listeners":[%s]}}`,
		i, meta, strings.Join(fields, ","), strings.Join(listeners, ","), strings.Join(status, ","))
}

const (
	bigListener = `{"name":%q,"hostname":"h%05d.example.com","port":443,"protocol":"HTTPS","allowedRoutes":{"namespaces":{"from":"Same"}},
"tls":{"mode":"Terminate","certificateRefs":[{"group":"","kind":"Secret","name":"edge-h%05d-example-com-0123456789ab-tls"}]}}`
	bigFields = `"k:{\"name\":\"%s\"}":{".":{},"f:allowedRoutes":{"f:namespaces":{"f:from":{}}},"f:hostname":{},"f:name":{},"f:port":{},"f:protocol":{},"f:tls":{"f:certificateRefs":{},"f:mode":{}}}`
	bigStatus = `{"name":%q,"attachedRoutes":1,"supportedKinds":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute"}],"conditions":[
{"type":"Accepted","status":"True","reason":"Accepted","message":"","observedGeneration":3,"lastTransitionTime":"2026-01-02T03:04:05Z"},
{"type":"Programmed","status":"True","reason":"Programmed","message":"","observedGeneration":3,"lastTransitionTime":"2026-01-02T03:04:05Z"}]}`
)

// The other objects are written as YAML, which is easier to read, with HOST, EDGE
// and META to be filled in.
var bigRoute = asTemplate(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-HOST
  namespace: ns-7
  META: 0
  labels: {app.kubernetes.io/name: shop, app.kubernetes.io/instance: shop, app.kubernetes.io/managed-by: Helm, helm.sh/chart: shop-1.2.3}
  annotations: {meta.helm.sh/release-name: shop, meta.helm.sh/release-namespace: shop}
  managedFields:
  - manager: helm
    operation: Update
    apiVersion: gateway.networking.k8s.io/v1
    time: "2026-01-02T03:04:05Z"
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}, "f:c": {}}}, "f:spec": {"f:hostnames": {}, "f:parentRefs": {}, "f:rules": {}}}
spec:
  hostnames: [HOST.example.com]
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: EDGE, namespace: ns-1}]
  rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{group: "", kind: Service, name: shop, port: 80, weight: 1}]}]
status:
  parents:
  - controllerName: example.com/gateway
    conditions:
    - {type: Accepted, status: "True", reason: Accepted, message: "", observedGeneration: 3, lastTransitionTime: "2026-01-02T03:04:05Z"}
    - {type: ResolvedRefs, status: "True", reason: ResolvedRefs, message: "", observedGeneration: 3, lastTransitionTime: "2026-01-02T03:04:05Z"}
`)

var bigCertificate = asTemplate(`
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: edge-HOST-example-com-0123456789ab-tls
  namespace: ns-1
  labels: {gatewright.dev/for: EDGE-0123456789ab, app.kubernetes.io/managed-by: gatewright}
  META: 0
  annotations: {acme.cert-manager.io/http01-parentrefkind: Gateway, acme.cert-manager.io/http01-parentrefname: edge}
  managedFields:
  - manager: gatewright
    operation: Apply
    apiVersion: cert-manager.io/v1
    time: "2026-01-02T03:04:05Z"
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:annotations": {"f:a": {}, "f:b": {}}, "f:labels": {"f:a": {}}}, "f:spec": {"f:dnsNames": {}, "f:issuerRef": {}, "f:secretName": {}, "f:secretTemplate": {"f:labels": {"f:a": {}}}}}
spec:
  dnsNames: [HOST.example.com]
  secretName: edge-HOST-example-com-0123456789ab-tls
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letsencrypt}
  secretTemplate: {labels: {gatewright.dev/for: EDGE-0123456789ab}}
status:
  notAfter: "2026-04-02T03:04:05Z"
  notBefore: "2026-01-02T03:04:05Z"
  renewalTime: "2026-03-02T03:04:05Z"
  revision: 3
  conditions:
  - {type: Ready, status: "True", reason: Ready, message: Certificate is up to date and has not expired, observedGeneration: 3, lastTransitionTime: "2026-01-02T03:04:05Z"}
`)

func asTemplate(text string) string {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return string(data)
}
