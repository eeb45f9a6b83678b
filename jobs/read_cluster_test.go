package jobs

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/postrender/engine"
)

// live is one object of each kind for a namespace of the real API server.
const live = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, annotations: {gatewright.dev/policy: "issuerRef: {kind: ClusterIssuer, name: le}"}}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}], allowedListeners: {namespaces: {from: All}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec: {parentRef: {name: edge}, listeners: [{name: a, port: 8080, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec: {hostnames: [shop.example.com], parentRefs: [{name: edge}], rules: [{backendRefs: [{name: shop, port: 80}], filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: authorization, value: hidden}]}}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: rpc}
spec: {hostnames: [rpc.example.com], parentRefs: [{name: edge}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: {name: db}
spec: {hostnames: [db.example.com], parentRefs: [{name: edge}], rules: [{backendRefs: [{name: db, port: 5432}]}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: let}
spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: other}], to: [{group: "", kind: Secret}]}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: own, labels: {gatewright.dev/for: edge}}
spec: {secretName: own-tls, dnsNames: [own.example.com], issuerRef: {name: le, kind: ClusterIssuer}}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: ca}
spec: {ca: {secretName: root}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {ports: [{port: 5432}]}
---
apiVersion: v1
kind: Secret
metadata: {name: own-tls, labels: {gatewright.dev/for: edge}}
stringData: {tls.key: hidden}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: old}
spec: {defaultBackend: {service: {name: db, port: {number: 5432}}}, tls: [{secretName: own-tls}]}
`

func connect(t *testing.T, config *rest.Config) *Cluster {
	t.Helper()
	c, err := Connect(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A real API server is read as kubectl reads it, in pages, and a snapshot's file
// gives the same snapshot and the same plan.
func TestReadRealServer(t *testing.T) {
	t.Parallel()
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "gatewright", namespace, live)
	createRoutes(t, env, namespace, 1200)
	c := connect(t, env.Config)

	t.Run("all namespaces", func(t *testing.T) {
		reading, err := c.Read(t.Context(), everything)
		if err != nil {
			t.Fatal(err)
		}
		if !reading.Snapshot.Complete || kindOf(t, reading, engine.KindHTTPRoute).Pages < 3 {
			t.Fatalf("kinds are %+v", reading.Kinds)
		}
		compareWithKubectl(t, env, reading.Snapshot)
	})
	t.Run("one namespace", func(t *testing.T) {
		o := everything
		o.Namespaces = []string{namespace}
		reading, err := c.Read(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		checkLive(t, reading, namespace)
		_, snapshot := readSnapshot(t, mustWrite(t, c, o, false))
		equalSnapshots(t, reading.Snapshot, snapshot)
		if plan := planOf(t, snapshot); !strings.Contains(plan, `"hostname":"shop.example.com"`) || !reading.Snapshot.Complete {
			t.Errorf("complete %v, the plan is empty:\n%s", reading.Snapshot.Complete, plan)
		}
	})
}

// createRoutes creates numbered HTTPRoutes, several at a time.
func createRoutes(t *testing.T, env *clustertest.Env, namespace string, n int) {
	t.Helper()
	routes := env.Dynamic.Resource(schema.GroupVersionResource{Group: engine.GatewayGroup, Version: "v1", Resource: "httproutes"})
	var group sync.WaitGroup
	numbers := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range numbers {
				route := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": engine.GatewayGroup + "/v1", "kind": engine.KindHTTPRoute,
					"metadata": map[string]any{"name": fmt.Sprintf("route-%05d", i)},
					"spec": map[string]any{"hostnames": []any{fmt.Sprintf("h%d.example.com", i)},
						"parentRefs": []any{map[string]any{"name": "elsewhere"}}},
				}}
				if _, err := routes.Namespace(namespace).Create(context.Background(), route, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	group.Wait()
}

// compareWithKubectl compares the names of all objects of some kinds.
func compareWithKubectl(t *testing.T, env *clustertest.Env, s *engine.Snapshot) {
	t.Helper()
	got := map[string][]string{}
	note := func(m *engine.Meta) { got[m.Kind] = append(got[m.Kind], m.Namespace+"/"+m.Name) }
	for _, g := range append(slices.Clone(s.Gateways), s.ListenerSets...) {
		note(&g.Meta)
	}
	for _, r := range s.Routes {
		note(&r.Meta)
	}
	for _, c := range s.Certificates {
		note(&c.Meta)
	}
	for _, n := range s.Namespaces {
		note(&n.Meta)
	}
	for _, service := range s.Services {
		note(service)
	}
	for kind, resource := range map[string]string{"Gateway": "gateways", "ListenerSet": "listenersets", "HTTPRoute": "httproutes",
		"GRPCRoute": "grpcroutes", "TLSRoute": "tlsroutes", "Certificate": "certificates", "Namespace": "namespaces", "Service": "services"} {
		text := env.Kubectl(t, "", "get", resource, "-A", "-o",
			`go-template={{range .items}}{{or .metadata.namespace ""}}/{{.metadata.name}}{{"\n"}}{{end}}`)
		want := strings.Fields(text)
		slices.Sort(want)
		slices.Sort(got[kind])
		if diff := cmp.Diff(want, got[kind]); diff != "" || len(want) == 0 {
			t.Errorf("%s: %d objects (-kubectl +read):\n%s", kind, len(want), diff)
		}
	}
}

// checkLive looks at what only a real server fills in.
func checkLive(t *testing.T, reading *Reading, namespace string) {
	t.Helper()
	edge := reading.Gateways[engine.ObjectName{Namespace: namespace, Name: "edge"}]
	if edge == nil || edge.Object.GetUID() == "" || len(edge.Managed) != 1 || edge.Managed[0].Manager != engine.FieldManager {
		t.Fatalf("the Gateway is %+v", edge)
	}
	var own bool
	for _, g := range reading.Snapshot.Gateways {
		own = own || g.Name == "edge" && g.Listeners[0].Owned && g.Listeners[0].AllowedFrom == "Same" && !g.Created.IsZero()
	}
	if !own {
		t.Error("our field manager's listener is not ours")
	}
	secret := engine.ObjectName{Namespace: namespace, Name: "own-tls"}
	if reading.Secrets[secret].UID == "" || reading.IngressSecrets[secret] != "Ingress "+namespace+"/old" {
		t.Errorf("the Secret is %+v, named by %q", reading.Secrets[secret], reading.IngressSecrets[secret])
	}
	if id := reading.Certificates[engine.ObjectName{Namespace: namespace, Name: "own"}]; id.UID == "" || id.ResourceVersion == "" {
		t.Errorf("the Certificate is %+v", id)
	}
	if k := kindOf(t, reading, engine.KindClusterIssuer); !k.Complete || k.Err != nil {
		t.Errorf("ClusterIssuer: %+v", k)
	}
}

// The snapshot of a real server holds no secrets.
func TestWriteSnapshotRealServer(t *testing.T) {
	t.Parallel()
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Kubectl(t, live, "apply", "-n", namespace, "-f", "-") // leaves each object in an annotation
	o := ReadOptions{Namespaces: []string{namespace}, Secrets: true, Services: true}
	file := mustWrite(t, connect(t, env.Config), o, false)
	for _, secret := range []string{"hidden", "aGlkZGVu", " " + lastApplied} {
		if strings.Contains(file, secret) {
			t.Errorf("the snapshot holds %q", secret)
		}
	}
	if n := strings.Count(file, "\n---\n"); n != 11 {
		t.Errorf("%d objects, want the 10 of the test and the namespace", n)
	}
}

// A service account that may read one namespace reads that, and is told what it
// may not.
func TestReadWithRole(t *testing.T) {
	t.Parallel()
	env := clustertest.Start(t)
	mine, other := env.Namespace(t), env.Namespace(t)
	env.Apply(t, "gatewright", mine, live)
	env.Apply(t, "test", mine, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader}")
	grantReader(t, env, mine)
	c := connect(t, env.As(t, mine, "reader"))
	tests := []struct {
		name       string
		namespaces []string
		complete   bool
		says       string
	}{
		{"its namespace", []string{mine}, true, ""},
		{"another one too", []string{mine, other}, false,
			"grant the verb list on httproutes.gateway.networking.k8s.io by a Role in the namespace " + other},
		{"all", nil, false, "grant the verb list on httproutes.gateway.networking.k8s.io by a ClusterRole"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reading, err := c.Read(t.Context(), ReadOptions{Namespaces: tt.namespaces})
			if err != nil {
				t.Fatal(err)
			}
			k := kindOf(t, reading, engine.KindHTTPRoute)
			if reading.Snapshot.Complete != tt.complete || (k.Err == nil) != tt.complete {
				t.Fatalf("complete %v, %+v", reading.Snapshot.Complete, reading.Kinds)
			}
			if !tt.complete && (!strings.Contains(k.Err.Error(), tt.says) || !strings.Contains(k.Err.Error(), "reader")) {
				t.Errorf("error %v", k.Err)
			}
			if k := kindOf(t, reading, engine.KindClusterIssuer); k.Err == nil {
				t.Error("ClusterIssuers could be read")
			}
		})
	}
	if _, _, err := c.Terminating(t.Context()); err == nil || !strings.Contains(err.Error(), "grant the verb get on customresourcedefinitions") {
		t.Errorf("error %v", err)
	}
	if names, _, err := connect(t, env.Config).Terminating(t.Context()); err != nil || names != nil {
		t.Errorf("terminating are %v, %v", names, err)
	}
	var out bytes.Buffer
	if _, err := c.WriteSnapshot(t.Context(), &out, ReadOptions{}, false); err == nil || out.Len() > 0 {
		t.Errorf("error %v with %d bytes written", err, out.Len())
	}
}

func grantReader(t *testing.T, env *clustertest.Env, namespace string) {
	t.Helper()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{engine.GatewayGroup, engine.CertManagerGroup}, Resources: []string{"*"}, Verbs: []string{"list"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
	}
	roles := env.Client.RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: rules}
	if _, err := roles.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: namespace}},
	}
	if _, err := roles.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestReadsNoMetadata: the API server writes an empty list of metadata as null,
// which is an answer all the same.
func TestReadsNoMetadata(t *testing.T) {
	t.Parallel()
	env := clustertest.Start(t)
	reading, err := connect(t, env.Config).Read(t.Context(), ReadOptions{Namespaces: []string{env.Namespace(t)}, Services: true, Secrets: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range reading.Kinds {
		if (k.Kind == "Service" || k.Kind == "Secret") && (!k.Complete || k.Err != nil) {
			t.Errorf("%s: complete %v, %v", k.Kind, k.Complete, k.Err)
		}
	}
}
