package postrender

import (
	"testing"

	"github.com/gatewright/gatewright/postrender/engine"
)

func TestConcernsUs(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"Gateway", "kind: Gateway\n", true},
		{"second line", "---\napiVersion: v1\nkind: HTTPRoute\n", true},
		{"quoted", "\"kind\" : \"GRPCRoute\"\n", true},
		{"single quotes, comment, CRLF", "'kind': 'TLSRoute' # a\r\n", true},
		{"glued", "---kind: Certificate\n", true},
		{"behind the separator", "--- kind: ReferenceGrant\n", true},
		{"no final newline", "kind: Namespace", true},
		{"list of a kind", "kind: ListenerSetList\nitems: []\n", true},
		{"Issuer", "apiVersion: cert-manager.io/v1\nkind: Issuer\n", true},
		{"ClusterIssuer", "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\n", true},
		{"Service", "kind: Service\n", false},
		{"Service in JSON", `{"kind": "Service"}`, false},
		{"Secret that might take a name", "kind: Secret\nmetadata:\n  name: a-tls\n", true},
		{"other Secret", "kind: Secret\nmetadata:\n  name: a\n", false},
		{"list of other Secrets", "kind: SecretList\nitems: []\n", false},
		{"List with one of ours", "kind: List\nitems:\n- kind: Gateway\n", true},
		{"List without", "kind: List\nitems:\n- kind: Pod\n", false},
		{"List with a Secret of another name", "kind: List\nitems:\n- kind: Secret\n", false},
		{"list of a stranger's kind", "kind: WidgetList\nitems:\n- kind: Gateway\n", true},
		{"other kind", "kind: ConfigMap\ndata:\n  kind: Gateway\n", false},
		{"other kind with a comment", "kind: GatewayClass # of a Gateway\n", false},
		{"other key", "kindness: Gateway\nkind: Pod\n", false},
		{"duplicate, last of ours", "kind: ConfigMap\nkind: Gateway\n", true},
		{"duplicate in quotes", "kind: ConfigMap\nspec: {}\n\"kind\": Gateway\n", true},
		{"CRD of ours", "kind: CustomResourceDefinition\nspec:\n  names:\n    kind: Gateway\n    listKind: GatewayList\n", false},
		{"JSON", `{"kind": "Gateway"}`, true},
		{"JSON, other", `{"kind": "ConfigMap", "a": "Gateways", "b": "Namespaced"}`, false},
		{"JSON over lines", "{\n\"kind\":\n\"Gateway\"}", true},
		{"flow at column 0", "{\nkind: Pod\n, x: Gateway}", true},
		{"indented root", "  apiVersion: v1\n  kind: Gateway\n", true},
		{"indented root, other", "  apiVersion: v1\n  kind: Pod\n", false},
		{"value on the next line", "kind:\n  Gateway\n", true},
		{"value on the next line, other", "kind:\n  Pod\n", false},
		{"tag", "kind: !!str Gateway\n", true},
		{"anchor", "kind: &kind Gateway\n", true},
		{"alias", "a: &a Gateway\nkind: *a\n", true},
		{"merge", "a: &a {kind: Gateway}\n<<: *a\n", true},
		{"complex key", "? kind\n: Gateway\n", true},
		{"no kind", "a: 1\n", false},
		{"no content", "---\n# kind: Gateway\n", false},
		{"hidden Secret", "---\n# HIDDEN: The Secret output of a-tls has been suppressed\n", false},
		{"part of a word", "a: MyGateway\nb: Gateways\n", false},
		{"list as a word", "a: [GatewayList]\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newScanner(false).concernsUs([]byte(c.in)); got != c.want {
				t.Errorf("concernsUs(%q) = %v", c.in, got)
			}
		})
	}
}

// TestServicesConcernUs only where a TLSRoute may forward to them.
func TestServicesConcernUs(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"Service", "kind: Service\n", true},
		{"list of them", "kind: ServiceList\nitems: []\n", true},
		{"JSON", `{"kind": "Service"}`, true},
		{"in a List", "kind: List\nitems:\n- kind: Service\n", true},
		{"account", "kind: ServiceAccount\n", false},
		{"account in JSON", `{"kind": "ServiceAccount"}`, false},
	} {
		if got := newScanner(true).concernsUs([]byte(c.in)); got != c.want {
			t.Errorf("%s: with Services %v, want %v", c.name, got, c.want)
		}
		if newScanner(false).concernsUs([]byte(c.in)) {
			t.Errorf("%s: it concerns us without Services", c.name)
		}
	}
	if !NeedsServices([]byte("kind: TLSRoute\n")) || NeedsServices([]byte("kind: HTTPRoute\n")) {
		t.Error("a stream needs Services where it holds a TLSRoute, and only there")
	}
}

// TestEveryKindIsOfOneGroup leaves out the kinds of that name of others.
func TestEveryKindIsOfOneGroup(t *testing.T) {
	for _, kind := range allKinds {
		ours := 0
		for _, group := range []string{engine.GatewayGroup, engine.CertManagerGroup, ""} {
			if (identity{group, kind, "", ""}).isOurs() {
				ours++
			}
		}
		if ours != 1 {
			t.Errorf("%s is ours in %d API groups", kind, ours)
		}
	}
}
