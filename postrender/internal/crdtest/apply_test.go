package crdtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// What two field managers may both render, with every atomic list and every
// default in it spelled out, and the spellings that make them conflict.
func TestApplyTwice(t *testing.T) {
	ref := `[{group: "", kind: Secret, name: a-tls}]`
	redirect := `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: edge-redirect, namespace: infra},
spec: {parentRefs: [%s], rules: [{%sfilters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 301}}]}]}}`
	parent := `{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra, name: edge, sectionName: http}`
	matches := `matches: [{path: {type: PathPrefix, value: /}}], `
	tests := []refusal{
		{"Gateway", gateway(plain, https, passthrough), ""},
		{"Gateway, kind only", gateway(strings.Replace(https, ref, "[{kind: Secret, name: a-tls}]", 1)),
			`conflict with "helm": .spec.listeners[name="https-a"].tls.certificateRefs`},
		{"Gateway, group only", gateway(strings.Replace(https, ref, `[{group: "", name: a-tls}]`, 1)),
			`.spec.listeners[name="https-a"].tls.certificateRefs`},
		{"ListenerSet", listenerSet(https), ""},
		{"ListenerSet, name only", listenerSet(strings.Replace(https, ref, "[{name: a-tls}]", 1)),
			`.spec.listeners[name="https-a"].tls.certificateRefs`},
		{"Certificate", certificate("usages: [server auth], secretTemplate: {labels: {x: v}}"), ""},
		{"redirect", fmt.Sprintf(redirect, parent, matches), ""},
		{"redirect, parentRef by name only", fmt.Sprintf(redirect, "{name: edge, sectionName: http}", matches),
			`conflict with "helm": .spec.parentRefs`},
		{"redirect, no matches", fmt.Sprintf(redirect, parent, ""), `conflict with "helm": .spec.rules`},
		{"redirect, neither", fmt.Sprintf(redirect, "{name: edge}", ""), `conflicts with "helm":`},
		{"ReferenceGrant", `{apiVersion: gateway.networking.k8s.io/v1beta1, kind: ReferenceGrant, metadata: {name: g, namespace: app},
spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}], to: [{group: "", kind: Secret, name: s}]}}`, ""},
		{"allowedRoutes of one kind", gateway(strings.Replace(https, "{namespaces: {from: Same}}",
			"{namespaces: {from: All}, kinds: [{kind: HTTPRoute}]}", 1)), `.spec.listeners[name="https-a"].allowedRoutes.kinds`},
	}
	checkAll(t, tests, ApplyTwice)
}

// step is an apply by one manager and what the server answers to it.
type step struct {
	manager, manifest string
	conflict          bool
	want              string // part of another error
}

// run applies the steps in both channels and returns the names of the
// listeners that are left.
func run(t *testing.T, steps []step) []string {
	t.Helper()
	var names []string
	for _, channel := range Channels {
		live := NewObject(channel)
		for i, s := range steps {
			err := live.Apply(s.manager, object(t, s.manifest))
			switch {
			case s.conflict && !apierrors.IsConflict(err):
				t.Fatalf("channel %s, step %d by %s: got %v, want a conflict", channel, i, s.manager, err)
			case !s.conflict:
				wantError(t, err, s.want)
			}
		}
		names = listenerNames(live.Live())
	}
	return names
}

func listenerNames(object map[string]any) []string {
	var out []string
	spec, _ := object["spec"].(map[string]any)
	listeners, _ := spec["listeners"].([]any)
	for _, l := range listeners {
		out = append(out, l.(map[string]any)["name"].(string))
	}
	return out
}

func TestTwoManagersOfOneGateway(t *testing.T) {
	// What a sweep applies: only its listeners and no class.
	sweep := func(listeners ...string) string {
		return strings.Replace(gateway(listeners...), "gatewayClassName: traefik, ", "", 1)
	}
	minimal := strings.Replace(https, `group: "", `, "", 1)
	all := strings.Replace(https, "from: Same", "from: All", 1)
	own := strings.Replace(https, "{from: Same}", "{from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: infra}}}", 1)
	same := strings.Replace(https, "https-a", "shop", 1)
	tests := []struct {
		name  string
		steps []step
		want  []string
	}{
		{"the sweep made it, then the chart renders it", []step{
			{manager: "helm", manifest: gateway(plain)},
			{manager: "gatewright", manifest: sweep(https)},
			{manager: "helm", manifest: gateway(plain, https)},
		}, []string{"http", "https-a"}},
		{"the same with the minimal spelling", []step{
			{manager: "helm", manifest: gateway(plain)},
			{manager: "gatewright", manifest: sweep(minimal)},
			{manager: "helm", manifest: gateway(plain, minimal), conflict: true},
		}, []string{"http", "https-a"}},
		{"the sweep leaves it to the chart, which changes it", []step{
			{manager: "helm", manifest: gateway(plain)},
			{manager: "gatewright", manifest: sweep(https, passthrough)},
			{manager: "helm", manifest: gateway(plain, https)},
			{manager: "gatewright", manifest: sweep(passthrough)},
			{manager: "helm", manifest: gateway(plain, all)},
		}, []string{"http", "https-a", "tls-b"}},
		{"the sweep left it before the chart had it", []step{
			{manager: "helm", manifest: gateway(plain)},
			{manager: "gatewright", manifest: sweep(https, passthrough)},
			{manager: "gatewright", manifest: sweep(passthrough)},
		}, []string{"http", "tls-b"}},
		{"a mark that is an apply of its own", []step{
			{manager: "helm", manifest: gateway(plain)},
			{manager: "gatewright", manifest: sweep(https, passthrough)},
			{manager: "gatewright", manifest: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway,
metadata: {name: edge, namespace: infra, annotations: {x: v}}}`},
		}, []string{"http"}},
		{"the sweep narrows what the chart rendered", []step{
			{manager: "helm", manifest: gateway(plain, all)},
			{manager: "gatewright", manifest: sweep(https), conflict: true},
		}, []string{"http", "https-a"}},
		{"from Same against a selector of the same namespace", []step{
			{manager: "helm", manifest: gateway(plain, https)},
			{manager: "gatewright", manifest: sweep(own), conflict: true},
		}, []string{"http", "https-a"}},
		{"a second name for the same hostname", []step{
			{manager: "gatewright", manifest: gateway(plain, https)},
			{manager: "helm", manifest: gateway(plain, same), want: "Combination of port, protocol and hostname must be unique"},
		}, []string{"http", "https-a"}},
		{"a listener past the limit", []step{
			{manager: "helm", manifest: gateway(plains(64)...)},
			{manager: "gatewright", manifest: sweep(https), want: "Too many: 65"},
		}, listenerNames(object(t, gateway(plains(64)...)))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, run(t, tt.steps)); diff != "" {
				t.Errorf("listeners (-want +got):\n%s", diff)
			}
		})
	}
}

// An apply without the spec takes the spec away. The definition of Certificate
// would let it pass, the webhook does not.
func TestApplyOfMetadataAlone(t *testing.T) {
	live := NewObject(Standard)
	wantError(t, live.Apply("gatewright", object(t, certificate(""))), "")
	mark := `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a-tls, namespace: infra, labels: {x: v}}}`
	wantError(t, live.Apply("gatewright", object(t, mark)), "a Certificate needs a name")
	if live.Live()["spec"] == nil {
		t.Error("a refused apply took the spec away")
	}
}

func TestApplyOfAnotherKind(t *testing.T) {
	live := NewObject(Standard)
	if live.Live() != nil {
		t.Error("an object that nobody applied is live")
	}
	wantError(t, live.Apply("helm", object(t, gateway(plain))), "")
	wantError(t, live.Apply("helm", object(t, listenerSet(plain))), "the live object is gateway.networking.k8s.io/v1, Kind=Gateway")
}
