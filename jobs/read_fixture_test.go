package jobs

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// world is one object of every kind that is read, at least.
const world = `
apiVersion: v1
kind: Namespace
metadata: {name: infra, labels: {team: infra}}
---
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: infra
  uid: u-edge
  resourceVersion: "7"
  labels: {helm.toolkit.fluxcd.io/name: edge, helm.toolkit.fluxcd.io/namespace: flux-system}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", gatewright.dev/policy: "issuerRef: {name: le}"}
  managedFields:
  - manager: gatewright
    operation: Apply
    apiVersion: gateway.networking.k8s.io/v1
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {"f:listeners": {"k:{\"name\":\"https-a\"}": {".": {}}}}}
spec:
  gatewayClassName: any
  listeners:
  - {name: http, port: 80, protocol: HTTP}
status: {conditions: [{type: Programmed, status: "True"}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: app, uid: u-more}
spec: {parentRef: {name: edge, namespace: infra}, listeners: [{name: a, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: app}
spec: {hostnames: [shop.example.com], parentRefs: [{name: edge, namespace: infra}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: edge-redirect, namespace: infra, uid: u-redirect, labels: {gatewright.dev/for: edge}}
spec: {parentRefs: [{name: edge, sectionName: http}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: rpc, namespace: app}
spec: {hostnames: [rpc.example.com], parentRefs: [{name: edge, namespace: infra}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: {name: db, namespace: app}
spec: {hostnames: [db.example.com], parentRefs: [{name: edge, namespace: infra}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: let, namespace: app, labels: {gatewright.dev/for: edge}}
spec: {from: [], to: []}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: cert
  namespace: infra
  uid: u-cert
  resourceVersion: "9"
  annotations: {gatewright.dev/unused-since: "2026-01-01T00:00:00Z", other: x}
  managedFields: [{manager: gatewright, operation: Apply}]
spec: {secretName: cert-tls, dnsNames: [a.example.com], issuerRef: {name: le}}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: le, namespace: infra}
spec: {acme: {server: https://acme.example.com, email: someone@example.com, solvers: [{dns01: {webhook: {config: {token: hidden}}}}]}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: ca}
spec: {ca: {secretName: root}}
---
apiVersion: v1
kind: Service
metadata: {name: backend, namespace: app}
spec: {clusterIP: 192.0.2.1}
---
apiVersion: v1
kind: Secret
metadata:
  name: cert-tls
  namespace: infra
  uid: u-secret
  labels: {gatewright.dev/for: edge}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data":{"tls.key":"aGlkZGVu"}}', cert-manager.io/certificate-name: cert, note: hidden}
data: {tls.key: aGlkZGVu}
---
apiVersion: v1
kind: Secret
metadata: {name: foreign, namespace: infra}
data: {password: aGlkZGVu}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: old, namespace: infra}
spec: {tls: [{hosts: [a.example.com], secretName: cert-tls}, {hosts: [b.example.com]}]}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge, namespace: flux-system, generation: 2}
spec: {suspend: true}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "False"}]}
`

// manyRoutes are numbered HTTPRoutes. Names sort as they are numbered.
func manyRoutes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route-%05d, namespace: many}
spec: {hostnames: [h%05d.example.com], parentRefs: [{name: edge, namespace: infra}]}
---
`, i+1, i+1)
	}
	return b.String()
}

// parsed are the objects by stream: most servers hold the same.
var parsed sync.Map

// parse returns the objects of a stream, which servers share and do not change.
func parse(t testing.TB, stream string) []map[string]any {
	t.Helper()
	if known, found := parsed.Load(stream); found {
		return known.([]map[string]any)
	}
	var objects []map[string]any
	for _, document := range strings.Split(stream, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v in %s", err, document)
		}
		if len(object) > 0 {
			objects = append(objects, object)
		}
	}
	parsed.Store(stream, objects)
	return objects
}
