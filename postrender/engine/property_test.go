package engine

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var seeds = flag.Uint64("seeds", 400, "how many worlds FuzzEngine makes beside those that a fuzzer finds")

// FuzzEngine makes a world from a seed and checks what must hold for every
// input: see the functions that it calls.
func FuzzEngine(f *testing.F) {
	count := *seeds
	if flag.Lookup("test.fuzz").Value.String() != "" {
		count = min(count, 20) // the fuzzer finds its own, once it has run all of these
	}
	for seed := range count {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		checkNamespace(t, seed)
		w := newWorld(seed)
		plan, err := w.compute(w.objects)
		if err != nil {
			checkError(t, err)
			return
		}
		checkOrder(t, w, plan)
		s := newManifests(w, plan)
		checkUnique(t, w, s, plan)
		checkVerdicts(t, s, plan)
		checkAnswered(t, w, plan)
		checkRefused(t, s, plan)
		checkSecrets(t, w, s, plan)
		checkLimits(t, w, plan)
		checkNotEmpty(t, w, plan)
		checkOwners(t, w, plan)
		checkRemovals(t, w, s, plan)
		checkUnrelated(t, w, plan)
		checkSwitch(t, w, seed)
		checkDuplicates(t, w, seed)
		checkApplied(t, w, plan)
	})
}

// checkError: the only errors of these worlds are those of a limit in a render.
func checkError(t *testing.T, err error) {
	t.Helper()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.Contains(line, "is the limit") {
			t.Fatalf("unexpected error: %v", err)
		}
	}
}

// checkOrder: the order of the objects never matters, to the byte.
func checkOrder(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	want := planBytes(plan)
	shuffled := slices.Clone(w.objects)
	w.rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again, err := w.compute(shuffled)
	if err != nil {
		t.Fatal(err)
	}
	if got := planBytes(again); got != want {
		t.Fatalf("the order of the objects matters:\n%s", cmp.Diff(want, got))
	}
}

// checkDuplicates: the order does not even matter where objects of one name
// differ, as a careless chart may have it.
func checkDuplicates(t *testing.T, w *world, seed uint64) {
	t.Helper()
	other := newWorld(seed + 1)
	other.policies, other.complete = w.policies, w.complete
	other.objects = append(other.objects, w.objects...)
	if plan, err := other.compute(other.objects); err == nil {
		checkOrder(t, other, plan)
		other.objects = other.apply(plan)
		if plan, err := other.compute(other.objects); err == nil {
			checkOrder(t, other, plan)
		}
	}
}

// checkUnique: no two listeners of a parent share a name, or a port and an SNI
// hostname, and none of ours brings two classes of protocol together on a port;
// no two Certificates write one Secret.
func checkUnique(t *testing.T, w *world, s *manifests, plan *Plan) {
	t.Helper()
	for _, object := range w.objects {
		_, after, planned := listenersOf(plan, object)
		if planned == nil {
			continue
		}
		ours := func(l map[string]any) bool {
			return slices.ContainsFunc(planned.Listeners, func(p Listener) bool { return p.Name == l["name"] })
		}
		last := func(l map[string]any) bool { // which stays though it is of no use
			return slices.ContainsFunc(planned.Listeners, func(p Listener) bool { return p.Name == l["name"] && p.Reason == "it is the last one" })
		}
		for i, a := range after {
			for _, b := range after[:i] {
				if !ours(a) && !ours(b) {
					continue
				}
				if problem := clashOf(a, b); problem != "" && !w.shared(a, b) {
					t.Fatalf("%s: %s\n%v\n%v", keyOf(object), problem, a, b)
				}
			}
			if problem := s.unusable(keyOf(object), a); problem != "" && ours(a) && !last(a) && !w.owned[keyOf(object)+" "+text(a, "name")] {
				t.Fatalf("%s: %v is of no use: %s", keyOf(object), a, problem)
			}
		}
	}
	secrets := map[string]string{}
	for _, c := range s.objects {
		if c["kind"] != KindCertificate || gone(plan, c) {
			continue
		}
		key := text(c, "metadata", "namespace") + "/" + text(c, "spec", "secretName")
		ours := func(c map[string]any) bool { return below(c, "metadata", "labels")[LabelFor] != nil }
		if other := secrets[key]; other != "" && (ours(c) || ours(s.objects[other])) {
			t.Fatalf("two Certificates write Secret %s: %s and %s", key, other, keyOf(c))
		}
		secrets[key] = keyOf(c)
	}
}

func gone(plan *Plan, certificate map[string]any) bool {
	return slices.ContainsFunc(plan.Certificates, func(c CertificatePlan) bool {
		return c.Action == Remove && keyOf(objectAt(KindCertificate, c.Placed)) == keyOf(certificate)
	})
}

// shared says whether the policy asks for two listeners of one hostname on a
// port: under withdraw: Served a passthrough listener and a terminate listener
// stand side by side until a TLSRoute takes the hostname.
func (w *world) shared(a, b map[string]any) bool {
	return w.policies.Flags["withdraw"] == "Served" && text(a, "hostname") == text(b, "hostname") && text(a, "protocol") != text(b, "protocol")
}

func clashOf(a, b map[string]any) string {
	switch {
	case a["name"] == b["name"]:
		return "one name for two listeners"
	case number(a, "port") != number(b, "port"):
		return ""
	case classOf(a) != classOf(b):
		return "two classes of protocol on a port"
	case text(a, "hostname") == text(b, "hostname"):
		return "two listeners for one hostname on a port"
	}
	return ""
}

// checkLimits: a Gateway never gets past its limit, and a namespace never past
// its quota, but for what was there already.
func checkLimits(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	limit, quota := number(w.policies.Flags, "maxListeners"), number(w.policies.Flags, "maxListenersPerNamespace")
	if limit == 0 {
		limit = 64
	}
	for _, object := range w.objects {
		before, after, planned := listenersOf(plan, object)
		if planned == nil {
			continue
		}
		if len(after) > max(limit, len(before)) {
			t.Fatalf("%s has %d listeners, and %d is the limit", keyOf(object), len(after), limit)
		}
		claimed := map[string]int{}
		for _, l := range planned.Listeners {
			if len(l.claims) > 0 && l.Action == Add {
				claimed[l.oldest().object.Namespace]++
			}
		}
		for namespace, count := range claimed {
			if quota > 0 && count > quota {
				t.Fatalf("%s: namespace %s gets %d listeners, and %d is the quota", keyOf(object), namespace, count, quota)
			}
		}
	}
}

// checkNotEmpty: nothing takes the last listener of a parent away.
func checkNotEmpty(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	for _, object := range w.objects {
		if before, after, _ := listenersOf(plan, object); len(before) > 0 && len(after) == 0 {
			t.Fatalf("%s is left without listeners; it had %v", keyOf(object), before)
		}
	}
}

// checkOwners: under OneNamespace a computed listener is for one namespace.
func checkOwners(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	if w.policies.Flags["hostnameOwnership"] != OneNamespace {
		return
	}
	owners := map[string]string{}
	for _, v := range plan.Verdicts {
		if !v.Accepted || !strings.HasPrefix(v.Listener, "https-") || !made(plan, v) {
			continue
		}
		key := fmt.Sprint(v.Parent.Kind, v.Parent.Namespace, v.Parent.Name, v.Listener)
		if owner := owners[key]; owner != "" && owner != v.Namespace && !isApexMode(fmt.Sprint(w.policies.Flags["certificates"])) {
			t.Fatalf("%s serves namespaces %s and %s", v.Listener, owner, v.Namespace)
		}
		owners[key] = v.Namespace
	}
}

// made says whether the verdict's listener is a computed one.
func made(plan *Plan, v Verdict) bool {
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		if g.Name == v.Parent.Name && g.Namespace == v.Parent.Namespace {
			return slices.ContainsFunc(g.Listeners, func(l Listener) bool { return l.Name == v.Listener })
		}
	}
	return false
}

// checkUnrelated: an object that has nothing to do with the others changes no
// name of theirs.
func checkUnrelated(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	more := &world{rand: w.rand}
	more.add(KindGateway, "other", "other", nil, map[string]any{"listeners": []any{}})
	more.add(KindHTTPRoute, "other", "other", nil, map[string]any{"parentRefs": []any{map[string]any{"name": "other"}}, "hostnames": []any{"a.example.com"}})
	more.add(KindListenerSet, "other", "edge", nil, map[string]any{"parentRef": map[string]any{"name": "other"}, "listeners": []any{}})
	again, err := w.compute(append(slices.Clone(w.objects), more.objects...))
	if err != nil {
		t.Fatal(err)
	}
	of := func(g GatewayPlan) bool { return g.Namespace == "other" }
	again.Gateways, again.ListenerSets = slices.DeleteFunc(again.Gateways, of), slices.DeleteFunc(again.ListenerSets, of)
	before, after := fmt.Sprint(compact(plan.Gateways), compact(plan.ListenerSets)), fmt.Sprint(compact(again.Gateways), compact(again.ListenerSets))
	if before != after {
		t.Fatalf("an unrelated object changed the listeners:\n%s\n%s", before, after)
	}
}
