package flux

import (
	"strings"
	"testing"
)

// TestHookOfTheSameName has a hook that is a Gateway of the same name in another
// namespace: the patch must not select it, which has no listeners to append to.
func TestHookOfTheSameName(t *testing.T) {
	const hook = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: probe, annotations: {helm.sh/hook: test}}\nspec: {gatewayClassName: x}\n"
	out, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route, hook))
	stream := applied(t, out, "edge.yaml", "", chart(edge, route, hook)) // fails where helm-controller would
	if strings.Count(stream, "hostname: shop.example.com") != 1 {
		t.Errorf("got\n%s", stream)
	}
}
