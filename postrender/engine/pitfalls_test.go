package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/postrender/internal/crdtest"
)

// pitfall is a rule that who generates listeners and Certificates may break,
// with what keeps it and what breaks it.
type pitfall struct {
	id, rule string
	examples []example
	// takes and refuses are what an API server takes and refuses: listeners of a
	// Gateway, or a whole object. It takes much that no data plane serves.
	takes, refuses []string
	// elsewhere says what of the rule is not the engine's.
	elsewhere string
}

// example is what a release or a cluster gives.
type example struct {
	shows    string
	input    string
	keys     Keys // beside the issuer
	complete bool
	// has and not are parts of what is planned; fails is part of an error.
	has, not []string
	fails    string
	check    func(*testing.T, *Plan)
}

// TestPitfalls runs them all, one by one, and misses none.
func TestPitfalls(t *testing.T) {
	all := slices.Concat(listenerPitfalls, hostnamePitfalls, routePitfalls, certificatePitfalls, issuancePitfalls)
	for i, p := range all {
		if want := fmt.Sprintf("P%d", i+1); p.id != want {
			t.Fatalf("%s stands where %s belongs", p.id, want)
		}
		t.Run(p.id, func(t *testing.T) { p.run(t) })
	}
	if len(all) != 57 {
		t.Errorf("there are %d pitfalls of 57", len(all))
	}
}

func (p *pitfall) run(t *testing.T) {
	if len(p.examples) == 0 {
		t.Fatalf("%s: no example", p.rule)
	}
	if p.elsewhere != "" {
		t.Logf("%s: %s", p.rule, p.elsewhere)
	}
	for _, e := range p.examples {
		t.Run(strings.ReplaceAll(e.shows, " ", "_"), func(t *testing.T) { e.run(t) })
	}
	for _, text := range p.takes {
		if err := crdtest.Check(onServer(t, text)); err != nil {
			t.Errorf("%s: an API server refuses %s: %v", p.rule, text, err)
		}
	}
	for _, text := range p.refuses {
		if crdtest.Check(onServer(t, text)) == nil {
			t.Errorf("%s: an API server takes %s", p.rule, text)
		}
	}
}

// onServer makes an object of listeners, or reads a whole one.
func onServer(t *testing.T, text string) map[string]any {
	t.Helper()
	if strings.HasPrefix(text, "[") {
		text = "kind: Gateway\nmetadata: {name: edge}\nspec: {gatewayClassName: x, listeners: " + text + "}"
	}
	return parseObjects(t, text)[0]
}

// run plans an example. What it gives must also stand before an API server, and
// keep what holds for every input.
func (e *example) run(t *testing.T) {
	keys := issuer()
	for key, value := range e.keys {
		keys[key] = value
	}
	w := &world{objects: parseObjects(t, e.input), complete: e.complete, policies: PolicySources{Flags: keys}}
	err := keys.Check()
	var plan *Plan
	if err == nil {
		plan, err = w.compute(w.objects)
	}
	if e.fails != "" {
		if err == nil || !strings.Contains(err.Error(), e.fails) {
			t.Errorf("the error is %v, and not of %q", err, e.fails)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	e.compare(t, plan)
	checkVerdicts(t, newManifests(w, plan), plan)
	checkUnique(t, w, newManifests(w, plan), plan)
	for _, object := range madeBy(plan) {
		crdtest.Validate(t, object)
		if err := crdtest.ApplyTwice(object); err != nil {
			t.Error(err)
		}
	}
	for _, object := range w.objects {
		if _, after, planned := listenersOf(plan, object); planned != nil {
			checkWritten(t, w, object, after, planned)
		}
	}
}

func (e *example) compare(t *testing.T, plan *Plan) {
	t.Helper()
	text := printPlan(plan)
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		for _, l := range g.Listeners {
			if l.Action != Remove {
				text += compact(l.Object()) + "\n"
			}
		}
	}
	for _, object := range madeBy(plan) {
		text += compact(object) + "\n"
	}
	for _, part := range e.has {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	for _, part := range e.not {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
	if e.check != nil {
		e.check(t, plan)
	}
}

// plain is the listener that most charts have.
const plain = "{name: http, port: 80, protocol: HTTP}"

// edge is a Gateway with listeners.
func edge(listeners ...string) string {
	return "kind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec: {gatewayClassName: x, listeners: [" + strings.Join(listeners, ", ") + "]}\n"
}

// shop is a route with hostnames, beside the Gateway.
func shop(hostnames string) string { return route("HTTPRoute", "infra", "{name: edge}", hostnames) }

func route(kind, namespace, parent, hostnames string) string {
	return fmt.Sprintf("---\nkind: %s\nmetadata: {name: shop, namespace: %s}\nspec: {parentRefs: [%s], hostnames: [%s]}\n", kind, namespace, parent, hostnames)
}

// web is a Certificate that asks for its names, beside the Gateway.
func web(names string) string { return claimingCertificate("web", "infra", "", names) }

func claimingCertificate(name, namespace, metadata, names string) string {
	return fmt.Sprintf("---\nkind: Certificate\nmetadata: {name: %s, namespace: %s%s, annotations: {gatewright.dev/gateway: infra/edge}}\nspec: {secretName: %s-tls, dnsNames: [%s], issuerRef: {name: le}}\n",
		name, namespace, metadata, name, names)
}

// listenerSet is one of the Gateway.
func listenerSet(listeners string) string {
	return "---\nkind: ListenerSet\nmetadata: {name: set, namespace: infra}\nspec: {parentRef: {name: edge}, listeners: [" + listeners + "]}\n"
}

// repeated joins what a function makes of 0 to n-1.
func repeated(n int, of func(i int) string) string {
	var out []string
	for i := range n {
		out = append(out, of(i))
	}
	return strings.Join(out, ", ")
}

func httpsListener(name, hostname string) string {
	return fmt.Sprintf("{name: %s, hostname: %q, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: own}]}}", name, hostname)
}

func passthrough(port int, hostname string) Keys {
	return Keys{"passthrough": []any{map[string]any{"name": "db", "port": port, "hostname": hostname}}}
}
