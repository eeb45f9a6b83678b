package postrender

import "github.com/gatewright/gatewright/postrender/engine"

const routeOfEdge = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: shop
spec:
  parentRefs:
  - name: edge
  hostnames: [a.example.com]
`
const gatewayHead = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n"

var streamCases = []struct{ in string }{{routeOfEdge + "---\n" + gatewayHead + "metadata: {name: edge}\nspec: {gatewayClassName: x}\n"}, {"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"gateway.networking.k8s.io/v1\",\"kind\":\"Gateway\",\"metadata\":{\"name\":\"edge\"},\"spec\":{\"listeners\":[]}}]}\n---\n" + routeOfEdge}}

// issuing returns the options of a release with an issuer.
func issuing(namespace string) Options {
	return Options{Namespace: namespace, Policies: engine.PolicySources{
		Flags: engine.Keys{"issuerRef": map[string]any{"kind": "ClusterIssuer", "name": "letsencrypt"}},
	}}
}
