package flux

import (
	"strings"
	"testing"
)

// TestSkippedIsOneKind has a Gateway without listeners and a ListenerSet with some
// in one chart: what the one does not get, the other does, Certificate and all.
func TestSkippedIsOneKind(t *testing.T) {
	for name, set := range map[string]string{"the same name": "edge", "another name": "more"} {
		t.Run(name, func(t *testing.T) {
			gateway := "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge}\nspec: {gatewayClassName: x, allowedListeners: {namespaces: {from: Same}}}\n"
			listeners := "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: " + set + "}\nspec:\n  parentRef: {name: edge}\n  listeners: [{name: http, port: 8080, protocol: HTTP}]\n"
			its := "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: b}\nspec:\n  parentRefs: [{name: " + set + ", kind: ListenerSet, group: gateway.networking.k8s.io}]\n  hostnames: [set.example.com]\n"
			out, result := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(gateway, listeners, route, its))
			if !has(result, CodeChartWithoutListeners) || strings.Contains(out["edge.yaml"], "shop.example.com") {
				t.Errorf("the Gateway without listeners: %v\n%s", result.Findings, out["edge.yaml"])
			}
			if !strings.Contains(out["edge.yaml"], "hostname: set.example.com") || !strings.Contains(out["edge.gatewright.yaml"], "- set.example.com") {
				t.Errorf("the ListenerSet lacks a listener or its Certificate:\n%s\n%s", out["edge.yaml"], out["edge.gatewright.yaml"])
			}
			if strings.Contains(out["edge.gatewright.yaml"], "shop.example.com") {
				t.Errorf("a Certificate of the Gateway without listeners:\n%s", out["edge.gatewright.yaml"])
			}
		})
	}
}
