package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzEngine makes a cluster from a seed and checks what must hold for every
// input: see the functions that it calls.
func FuzzEngine(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := newWorld(seed)
		plan, err := w.compute(w.objects)
		if err != nil {
			checkError(t, w, err)
			return
		}
		checkOrder(t, w, plan)
		checkUnique(t, w, plan)
		checkVerdicts(t, w, plan)
		checkApplied(t, w, plan)
		checkUnrelated(t, w, plan)
		checkDuplicates(t, w, seed)
	})
}

// checkDuplicates: the order does not even matter where objects of one name
// differ, as a careless chart may have it.
func checkDuplicates(t *testing.T, w *world, seed uint64) {
	other := newWorld(seed + 1)
	other.policies = w.policies
	other.objects = append(other.objects, w.objects...)
	if plan, err := other.compute(other.objects); err == nil {
		checkOrder(t, other, plan)
		other.objects = other.apply(plan)
		if plan, err := other.compute(other.objects); err == nil {
			checkOrder(t, other, plan)
		}
	}
}

// world is a generated input.
type world struct {
	rand     *rand.Rand
	objects  []map[string]any
	policies PolicySources
}

func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 1))}
	w.policies.Flags = Keys{
		"issuerRef":    map[string]any{"name": "le"},
		"attach":       map[string]any{"from": pick(w, "Same", "All")},
		"cover":        pick(w, CoverAny, CoverWildcard, CoverExact),
		"certificates": pick(w, PerHostname, PerHostname, ListenersOnly),
		"http":         map[string]any{"listener": pick[any](w, "Auto", true, false), "redirect": pick[any](w, "Auto", true, false)},
		"wildcards":    []any{"*.a.example.com"},
	}
	if w.rand.IntN(4) == 0 {
		w.policies.Flags["hostnames"] = map[string]any{"allow": []any{"*.example.com"}}
	}
	for _, name := range []string{"edge", "inner"} {
		w.add(KindGateway, "infra", name, nil, map[string]any{"listeners": w.listeners()})
	}
	for i := range 3 + w.rand.IntN(8) {
		w.route(i)
	}
	for i := range w.rand.IntN(4) {
		w.certificate(i)
	}
	return w
}

func pick[T any](w *world, choices ...T) T { return choices[w.rand.IntN(len(choices))] }

func (w *world) add(kind, namespace, name string, annotations, spec map[string]any) {
	version := GatewayGroup + "/v1"
	if kind == KindCertificate {
		version = CertManagerGroup + "/v1"
	}
	w.objects = append(w.objects, map[string]any{
		"apiVersion": version, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": namespace, "annotations": annotations},
	})
}

func (w *world) hostname() string {
	return pick(w, "", "*.", "*.", "a.", "b.a.") + pick(w, "a.example.com", "b.example.com", "example.com", "x.test", "BAD..name", "192.0.2.1")
}

func (w *world) listeners() []any {
	var out []any
	seen := map[string]bool{}
	for i := range w.rand.IntN(5) {
		l := map[string]any{"name": fmt.Sprintf("l%d", i), "port": int64(pick(w, 80, 443, 443, 8443)), "protocol": pick(w, "HTTP", "HTTPS", "HTTPS", "TLS")}
		if l["protocol"] == "HTTP" {
			l["port"] = int64(80)
		} else if l["port"] == int64(80) {
			l["port"] = int64(443)
		}
		if hostname, err := NormalizeHostname(w.hostname()); err == nil && w.rand.IntN(3) > 0 {
			l["hostname"] = hostname
		}
		if key := fmt.Sprint(l["port"], l["hostname"]); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		if l["protocol"] != "HTTP" {
			l["tls"] = map[string]any{"mode": "Terminate", "certificateRefs": []any{map[string]any{"name": "own"}}}
		}
		if l["protocol"] == "TLS" {
			l["tls"] = map[string]any{"mode": "Passthrough"}
		}
		if w.rand.IntN(3) == 0 {
			l["allowedRoutes"] = map[string]any{"namespaces": map[string]any{"from": pick(w, "All", "Same")}}
		}
		out = append(out, l)
	}
	return out
}

func (w *world) route(i int) {
	parents := []any{map[string]any{"name": pick(w, "edge", "inner", "missing"), "namespace": "infra"}}
	if w.rand.IntN(4) == 0 {
		parents = append(parents, map[string]any{"name": "edge", "namespace": "infra", "sectionName": pick(w, "l0", "l1", "http", "nothing", ListenerName("a.example.com", 443))})
	}
	if w.rand.IntN(6) == 0 {
		parents[0].(map[string]any)["port"] = int64(pick(w, 80, 443, 8443))
	}
	var hostnames []any
	for range w.rand.IntN(4) {
		hostnames = append(hostnames, w.hostname())
	}
	var annotations map[string]any
	if w.rand.IntN(8) == 0 {
		annotations = map[string]any{AnnotationManage: "false"}
	}
	w.add(pick(w, KindHTTPRoute, KindHTTPRoute, KindGRPCRoute, KindTLSRoute), pick(w, "infra", "app"), fmt.Sprintf("r%d", i), annotations,
		map[string]any{"parentRefs": parents, "hostnames": hostnames})
}

func (w *world) certificate(i int) {
	annotations := map[string]any{AnnotationGateway: "infra/" + pick(w, "edge", "inner")}
	if w.rand.IntN(3) == 0 {
		annotations[AnnotationPort] = pick(w, "443", "8443", "none")
	}
	w.add(KindCertificate, pick(w, "infra", "app"), fmt.Sprintf("c%d", i), annotations,
		map[string]any{"dnsNames": []any{w.hostname(), w.hostname()}, "secretName": fmt.Sprintf("c%d-tls", w.rand.IntN(3))})
}

func (w *world) snapshot(objects []map[string]any) *Snapshot {
	s := &Snapshot{}
	for _, object := range objects {
		if err := s.Decode(object, Origin{}); err != nil {
			panic(err)
		}
	}
	return s
}

func (w *world) compute(objects []map[string]any) (*Plan, error) {
	return Compute(w.snapshot(objects), w.policies)
}

// checkError: the only errors of these worlds are those of the input.
func checkError(t *testing.T, w *world, err error) {
	if !strings.Contains(err.Error(), "listeners") {
		t.Fatalf("unexpected error: %v", err)
	}
}

// checkOrder: the order of the objects never matters, to the byte.
func checkOrder(t *testing.T, w *world, plan *Plan) {
	want, _ := json.Marshal(plan)
	shuffled := slices.Clone(w.objects)
	w.rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again, err := w.compute(shuffled)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(again); string(got) != string(want) {
		t.Fatalf("the order of the objects matters:\n%s\n%s", want, got)
	}
}

// checkUnique: no two listeners of a Gateway share a name, or a port and an SNI
// hostname, and none of ours brings HTTP and HTTPS together on one port.
func checkUnique(t *testing.T, w *world, plan *Plan) {
	for _, g := range plan.Gateways {
		names, sni, class := map[string]bool{}, map[string]bool{}, map[int64]string{}
		for _, l := range w.merged(g) {
			name, port, protocol := l["name"].(string), l["port"].(int64), l["protocol"].(string)
			if names[name] {
				t.Fatalf("listener name %s twice on %s", name, g.Name)
			}
			names[name] = true
			if isTLS(protocol) {
				protocol = "TLS"
				key := fmt.Sprint(port, l["hostname"])
				if sni[key] {
					t.Fatalf("two listeners answer %s on %s", key, g.Name)
				}
				sni[key] = true
			}
			if class[port] != "" && class[port] != protocol {
				t.Fatalf("port %d of %s carries %s and %s", port, g.Name, class[port], protocol)
			}
			class[port] = protocol
		}
	}
	secrets := map[string]bool{}
	for _, c := range plan.Certificates {
		if secrets[c.SecretName] {
			t.Fatalf("two Certificates write Secret %s", c.SecretName)
		}
		secrets[c.SecretName] = true
	}
}

// merged returns the listeners of a Gateway after the plan.
func (w *world) merged(g GatewayPlan) []map[string]any {
	var out []map[string]any
	for _, object := range w.objects {
		metadata := object["metadata"].(map[string]any)
		if object["kind"] == KindGateway && metadata["name"] == g.Name {
			for _, l := range object["spec"].(map[string]any)["listeners"].([]any) {
				out = append(out, l.(map[string]any))
			}
		}
	}
	for _, l := range g.Listeners {
		if l.Action != Remove {
			out = append(out, l.Object())
		}
	}
	return out
}

// checkVerdicts: an accepted verdict names a listener that exists after the
// plan and really admits the object.
func checkVerdicts(t *testing.T, w *world, plan *Plan) {
	for _, v := range plan.Verdicts {
		if !v.Accepted {
			if v.Reason == "" || v.Message == "" {
				t.Fatalf("refused without a reason: %+v", v)
			}
			continue
		}
		i := slices.IndexFunc(plan.Gateways, func(g GatewayPlan) bool { return g.Name == v.Parent.Name })
		if i < 0 {
			t.Fatalf("accepted by a Gateway that is not planned: %+v", v)
		}
		listeners := w.merged(plan.Gateways[i])
		j := slices.IndexFunc(listeners, func(l map[string]any) bool { return l["name"] == v.Listener })
		if j < 0 {
			t.Fatalf("accepted by a listener that does not exist: %+v", v)
		}
		if problem := attachmentProblem(listeners[j], v); problem != "" {
			t.Fatalf("%+v\nis accepted by %v\nalthough %s", v, listeners[j], problem)
		}
	}
}

// attachmentProblem is written against the Gateway API's text, not the engine:
// a listener admits a route by section, port, kind, namespace and hostname.
func attachmentProblem(l map[string]any, v Verdict) string {
	from := "Same"
	if allowed, ok := l["allowedRoutes"].(map[string]any); ok {
		from = allowed["namespaces"].(map[string]any)["from"].(string)
	}
	hostname, _ := l["hostname"].(string)
	suffix, wildcard := strings.CutPrefix(hostname, "*")
	fits := map[string]bool{"HTTPRoute/HTTP": true, "HTTPRoute/HTTPS": true, "GRPCRoute/HTTP": true, "GRPCRoute/HTTPS": true, "TLSRoute/TLS": true, "Certificate/HTTPS": true}
	switch {
	case v.Parent.SectionName != "" && v.Parent.SectionName != l["name"]:
		return "the section differs"
	case v.Parent.Port != 0 && int64(v.Parent.Port) != l["port"]:
		return "the port differs"
	case !fits[v.Kind+"/"+l["protocol"].(string)]:
		return "the kind does not fit"
	case v.Kind != KindCertificate && from == "Same" && v.Namespace != "infra":
		return "the namespace is not admitted"
	case v.Kind == KindTLSRoute && strings.HasPrefix(v.Hostname, "*") && strings.HasSuffix(hostname, v.Hostname[1:]):
		return "" // the wildcard meets the listener's hostname
	case hostname != "" && hostname != v.Hostname && (!wildcard || !strings.HasSuffix(v.Hostname, suffix)):
		return "the hostname is not answered"
	}
	return ""
}

// checkApplied: carrying out a plan and planning again gives nothing to do, and
// without the claims it takes away all that it added.
func checkApplied(t *testing.T, w *world, plan *Plan) {
	applied := w.apply(plan)
	again, err := w.compute(applied)
	if err != nil {
		t.Fatal(err)
	}
	if again.Changes() {
		t.Fatalf("the second plan is not empty:\n%s", printPlan(again))
	}
	for i, g := range again.Gateways {
		if g.Rendered != plan.Gateways[i].Rendered {
			t.Fatalf("rendered changed from %s to %s", plan.Gateways[i].Rendered, g.Rendered)
		}
	}
	unclaimed := slices.DeleteFunc(slices.Clone(applied), func(object map[string]any) bool {
		labels, _ := object["metadata"].(map[string]any)["labels"].(map[string]any)
		return object["kind"] != KindGateway && labels[LabelFor] == nil
	})
	gone, err := w.compute(unclaimed)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gone.Gateways {
		for _, l := range g.Listeners {
			if l.Name != PlainListenerName && l.Action != Remove {
				t.Fatalf("listener %s stays without a claim", l.Name)
			}
		}
	}
	for _, c := range gone.Certificates {
		if c.Action != Remove {
			t.Fatalf("Certificate %s stays without a claim", c.Name)
		}
	}
}

// apply carries out a plan on the objects of the world.
func (w *world) apply(plan *Plan) []map[string]any {
	var out []map[string]any
	for _, object := range w.objects {
		metadata := object["metadata"].(map[string]any)
		i := slices.IndexFunc(plan.Gateways, func(g GatewayPlan) bool { return object["kind"] == KindGateway && g.Name == metadata["name"] })
		if i >= 0 {
			object = jsonMap(object)
			object["metadata"].(map[string]any)["annotations"] = map[string]any{AnnotationRendered: plan.Gateways[i].Rendered}
			var listeners []any
			for _, l := range w.merged(plan.Gateways[i]) {
				listeners = append(listeners, l)
			}
			object["spec"] = map[string]any{"listeners": listeners}
		}
		out = append(out, object)
	}
	for _, c := range plan.Certificates {
		out = append(out, c.Object())
	}
	for _, g := range plan.Grants {
		out = append(out, g.Object())
	}
	for _, r := range plan.Redirects {
		out = append(out, r.Object())
	}
	return out
}

// checkUnrelated: an object that has nothing to do with the others changes no
// name of theirs.
func checkUnrelated(t *testing.T, w *world, plan *Plan) {
	more := newWorld(0)
	more.objects = nil
	more.add(KindGateway, "other", "other", nil, map[string]any{"listeners": []any{}})
	more.add(KindHTTPRoute, "other", "other", nil, map[string]any{"parentRefs": []any{map[string]any{"name": "other"}}, "hostnames": []any{"a.example.com"}})
	again, err := w.compute(append(slices.Clone(w.objects), more.objects...))
	if err != nil {
		t.Fatal(err)
	}
	again.Gateways = slices.DeleteFunc(again.Gateways, func(g GatewayPlan) bool { return g.Name == "other" })
	before, _ := json.Marshal(plan.Gateways)
	after, _ := json.Marshal(again.Gateways)
	if string(before) != string(after) {
		t.Fatalf("an unrelated object changed the listeners:\n%s\n%s", before, after)
	}
}
