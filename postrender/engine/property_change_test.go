package engine

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// checkApplied: carrying out a plan and planning again gives nothing to do, and
// in a render, without the claims, all that it added goes.
func checkApplied(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	applied := w.apply(plan)
	again, err := w.compute(applied)
	if err != nil {
		t.Fatal(err)
	}
	// What a limit keeps out, or waits behind a listener, comes when that has gone.
	cut := w.complete && slices.ContainsFunc(plan.Verdicts, func(v Verdict) bool { return v.Reason == ReasonTooMany || v.Reason == ReasonPending })
	if again.Changes() && !cut {
		t.Fatalf("the second plan is not empty:\n%s\nafter\n%s", printPlan(again), printPlan(plan))
	}
	for i, g := range again.Gateways {
		if g.Rendered != plan.Gateways[i].Rendered {
			t.Fatalf("rendered changed from %s to %s", plan.Gateways[i].Rendered, g.Rendered)
		}
	}
	if !w.complete {
		checkGone(t, w, applied)
		return
	}
	checkSettles(t, w, applied)
}

// checkSettles: once all certificates are there a few sweeps leave nothing to do,
// and nothing waits any more.
func checkSettles(t *testing.T, w *world, objects []map[string]any) {
	t.Helper()
	later := *w
	later.ready, later.fresh = 1, map[string]bool{}
	for range 6 {
		later.objects, later.fresh = objects, map[string]bool{}
		plan, err := later.compute(objects)
		if err != nil {
			t.Fatal(err)
		}
		if !plan.Changes() {
			return
		}
		objects = later.apply(plan)
	}
	plan, _ := later.compute(objects)
	t.Fatalf("it does not come to rest:\n%s", printPlan(plan))
}

func checkGone(t *testing.T, w *world, applied []map[string]any) {
	t.Helper()
	unclaimed := slices.DeleteFunc(slices.Clone(applied), func(object map[string]any) bool {
		claims := []any{KindHTTPRoute, KindGRPCRoute, KindTLSRoute, KindCertificate}
		return slices.Contains(claims, object["kind"]) && below(object, "metadata", "labels")[LabelFor] == nil
	})
	gone, err := w.compute(unclaimed)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range slices.Concat(gone.Gateways, gone.ListenerSets) {
		for _, l := range g.Listeners {
			if l.Action != Remove && l.Reason != "the policy asks for it" && l.Reason != "it is the last one" && l.Action != Update {
				t.Fatalf("listener %s stays without a claim: %s", l.Name, l.Reason)
			}
		}
	}
	for _, c := range gone.Certificates {
		if c.Action != Remove && !strings.Contains(c.Name, "wildcard-example-com") && !strings.Contains(c.Reason, "names its Secret") {
			t.Fatalf("Certificate %s stays without a claim", c.Name)
		}
	}
}

// checkSwitch: in a render, going from one policy to another leaves nothing of
// the former one.
func checkSwitch(t *testing.T, w *world, seed uint64) {
	t.Helper()
	if w.complete {
		return
	}
	dice := &world{rand: rand.New(rand.NewPCG(seed, 2))}
	first := w.with(dice.policy())
	plan, err := first.compute(w.objects)
	if err != nil {
		return
	}
	fresh, err := w.compute(w.objects)
	if err == nil && slices.ContainsFunc(fresh.Findings, func(f Finding) bool { return f.Code == CodeNoListener }) {
		return // of the listeners before one stays, which a fresh render has not
	}
	switched := *w
	switched.objects = first.apply(plan)
	if w.pastQuota() || switched.pastQuota() {
		return // what a quota takes depends on what was there
	}
	want, wantErr := w.rendered()
	got, gotErr := switched.rendered()
	if want != got || (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("after another policy the render is another:\nbefore: %s\nthen: %s\n%v %v\n%s",
			compact(first.policies.Flags), compact(w.policies.Flags), wantErr, gotErr, gocmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

// pastQuota says whether claims are refused for their number.
func (w *world) pastQuota() bool {
	plan, err := w.compute(w.objects)
	return err == nil && slices.ContainsFunc(plan.Verdicts, func(v Verdict) bool { return v.Reason == ReasonTooMany })
}

// with returns the world under other flags.
func (w *world) with(flags Keys) *world {
	other := *w
	other.policies.Flags = flags
	return &other
}

// rendered returns all objects after a render, in an order of their own, but
// for Certificates that stay only because a hand-written listener names their
// Secret.
func (w *world) rendered() (string, error) {
	plan, err := w.compute(w.objects)
	if err != nil {
		return "", err
	}
	lines := map[string]string{}
	for _, object := range w.apply(plan) {
		if keptForSecret(plan, object) {
			continue
		}
		if spec, ok := object["spec"].(map[string]any); ok && spec["listeners"] != nil {
			list := entries(spec, "listeners")
			slices.SortFunc(list, func(a, b map[string]any) int { return cmp.Compare(text(a, "name"), text(b, "name")) })
			spec = with(spec, "listeners", list)
			object = with(object, "spec", spec)
		}
		data, _ := json.Marshal(object)
		lines[keyOf(object)] = string(data)
	}
	return strings.Join(slices.Sorted(maps.Values(lines)), "\n"), nil
}

func keptForSecret(plan *Plan, object map[string]any) bool {
	return object["kind"] == KindCertificate && slices.ContainsFunc(plan.Certificates, func(c CertificatePlan) bool {
		return c.Name == metadata(object)["name"] && strings.HasSuffix(c.Reason, "names its Secret")
	})
}

// checkRemovals: nothing that a plan of a whole cluster removes serves anything
// that nothing else serves, but for claims that the policy refuses.
func checkRemovals(t *testing.T, w *world, s *manifests, plan *Plan) {
	t.Helper()
	if !w.complete {
		return
	}
	for _, parent := range w.objects {
		before, after, planned := listenersOf(plan, parent)
		for _, l := range before {
			removed := planned != nil && slices.ContainsFunc(planned.Listeners, func(p Listener) bool { return p.Name == l["name"] && p.Action == Remove })
			// One that another takes the place of goes whoever uses it, and so does
			// the plain one: it is the policy's alone.
			replaced := slices.ContainsFunc(after, func(other map[string]any) bool { return clashOf(l, other) != "" || displaces(other, l) })
			if !removed || replaced || w.yielded[text(l, "hostname")] != "" || text(l, "protocol") == "HTTP" || s.unusable(keyOf(parent), l) != "" {
				continue
			}
			for _, route := range w.objects {
				if user := s.loses(plan, keyOf(parent), l, after, route); user != "" {
					t.Fatalf("%s: %v goes, although %s", keyOf(parent), l, user)
				}
			}
		}
	}
}

// displaces says whether a passthrough listener takes the names of another.
func displaces(passthrough, l map[string]any) bool {
	return text(passthrough, "protocol") == "TLS" && text(passthrough, "tls", "mode") == "Passthrough" &&
		number(passthrough, "port") == number(l, "port") && intersection(text(passthrough, "hostname"), text(l, "hostname")) == text(l, "hostname")
}

// loses says what a route loses by the removal of a listener, or "".
func (s *manifests) loses(plan *Plan, parent string, l map[string]any, after []map[string]any, route map[string]any) string {
	solver := below(route, "metadata", "labels")["acme.cert-manager.io/http01-solver"] != nil
	if !strings.HasSuffix(text(route, "kind"), "Route") || solver {
		return ""
	}
	for _, ref := range entries(below(route, "spec"), "parentRefs") {
		if parentOf(route, ref) != parent {
			continue
		}
		own := text(s.objects[parent], "metadata", "namespace")
		admitted := s.admits(below(l, "allowedRoutes", "namespaces"), own, text(route, "metadata", "namespace"))
		if text(ref, "sectionName") == l["name"] && admitted && takesKind(l, text(route, "kind")) {
			return keyOf(route) + " pins it"
		}
		asked := texts(below(route, "spec"), "hostnames")
		if len(asked) == 0 && text(l, "protocol") == "HTTPS" && !redirects(route) {
			asked = []string{text(l, "hostname")}
		}
		for _, raw := range asked {
			hostname := plainForm(raw)
			met := intersection(text(l, "hostname"), hostname)
			if met == "" || s.takes(parent, l, route, ref, met) != "" || refusedByPolicy(plan, route, ref, hostname, l) {
				continue
			}
			others := func(other map[string]any) bool { return s.takes(parent, other, route, ref, met) == "" }
			if !slices.ContainsFunc(after, others) {
				return keyOf(route) + " loses " + met
			}
		}
	}
	return ""
}

func redirects(route map[string]any) bool {
	rules := entries(below(route, "spec"), "rules")
	return len(rules) == 1 && rules[0]["filters"] != nil
}

func parentOf(route, ref map[string]any) string {
	namespace := cmp.Or(text(ref, "namespace"), text(route, "metadata", "namespace"))
	return cmp.Or(text(ref, "kind"), KindGateway) + " " + namespace + "/" + text(ref, "name")
}

// refusedByPolicy says whether a claim has a refused verdict. A wildcard wider
// than the listener is no claim on the listener, and an object that opted out
// makes none.
func refusedByPolicy(plan *Plan, route, ref map[string]any, hostname string, l map[string]any) bool {
	if hostname != text(l, "hostname") && intersection(hostname, text(l, "hostname")) == text(l, "hostname") {
		return false
	}
	return slices.ContainsFunc(plan.Verdicts, func(v Verdict) bool {
		return v.refused() && v.Hostname == hostname && verdictOf(v, route, ref)
	})
}

// verdictOf says whether a verdict is about a route's parentRef.
func verdictOf(v Verdict, route, ref map[string]any) bool {
	return v.Kind == route["kind"] && v.Name == text(route, "metadata", "name") && v.Namespace == text(route, "metadata", "namespace") &&
		v.Parent.Kind+" "+v.Parent.Namespace+"/"+v.Parent.Name == parentOf(route, ref) &&
		v.Parent.SectionName == text(ref, "sectionName") && v.Parent.Port == number(ref, "port")
}
