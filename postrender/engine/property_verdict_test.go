package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// checkVerdicts: an accepted verdict names a listener that exists after the
// plan and really admits the object; a refused one says why.
func checkVerdicts(t *testing.T, s *manifests, plan *Plan) {
	t.Helper()
	for _, v := range plan.Verdicts {
		if !v.Accepted {
			if v.Reason == "" || v.Message == "" || v.Listener != "" {
				t.Fatalf("refused without a reason: %+v", v)
			}
			continue
		}
		parent := v.Parent.Kind + " " + v.Parent.Namespace + "/" + v.Parent.Name
		listeners := s.listeners[parent]
		i := slices.IndexFunc(listeners, func(l map[string]any) bool { return l["name"] == v.Listener })
		if i < 0 {
			t.Fatalf("accepted by a listener that does not exist: %+v", v)
		}
		lastStays := slices.ContainsFunc(plan.Findings, func(f Finding) bool { return f.Code == CodeNoListener })
		if problem := s.verdictProblem(plan, v, parent, listeners[i]); problem != "" && (problem != precedence || !lastStays) {
			t.Fatalf("%+v\nis accepted by %v\nalthough %s", v, listeners[i], problem)
		}
	}
}

// checkAnswered: every hostname that a route asks a Gateway or ListenerSet for
// has a verdict, and so has every one of an annotated Certificate.
func checkAnswered(t *testing.T, w *world, plan *Plan) {
	t.Helper()
	answered := map[string]bool{}
	for _, v := range plan.Verdicts {
		parent := v.Parent
		answered[fmt.Sprint(v.Kind, " ", v.Namespace, "/", v.Name, " ", parent, " ", v.Hostname)] = true
	}
	want := func(object map[string]any, parent Parent, names []string) {
		for _, name := range names {
			if key := fmt.Sprint(keyOf(object), " ", parent, " ", plainForm(name)); !answered[key] {
				t.Fatalf("no verdict for %s", key)
			}
		}
	}
	for _, object := range w.objects {
		labels, annotations := below(object, "metadata", "labels"), below(object, "metadata", "annotations")
		if labels[LabelFor] != nil || labels["acme.cert-manager.io/http01-solver"] != nil || metadata(object)["ownerReferences"] != nil {
			continue
		}
		for _, ref := range entries(below(object, "spec"), "parentRefs") {
			parent := Parent{cmp.Or(text(ref, "kind"), KindGateway), text(ref, "namespace"), text(ref, "name"), text(ref, "sectionName"), number(ref, "port")}
			want(object, parent, texts(below(object, "spec"), "hostnames"))
		}
		if namespace, name, annotated := strings.Cut(text(annotations, AnnotationGateway), "/"); annotated && object["kind"] == KindCertificate {
			want(object, Parent{Kind: KindGateway, Namespace: namespace, Name: name}, texts(below(object, "spec"), "dnsNames"))
		}
	}
}

// checkRefused: a route that pins a listener by name is not told that nothing
// takes it where that listener does.
func checkRefused(t *testing.T, s *manifests, plan *Plan) {
	t.Helper()
	unserved := []string{ReasonNoMatchingParent, ReasonNotAllowed, ReasonNoHostname}
	for _, v := range plan.Verdicts {
		route := s.objects[fmt.Sprintf("%s %s/%s", v.Kind, v.Namespace, v.Name)]
		if v.Accepted || v.Parent.SectionName == "" || !slices.Contains(unserved, v.Reason) || !strings.HasSuffix(v.Kind, "Route") {
			continue
		}
		parent := v.Parent.Kind + " " + v.Parent.Namespace + "/" + v.Parent.Name
		for _, l := range s.listeners[parent] {
			if strings.Contains(v.Message, "policy") && ofPlan(plan, v, l) {
				continue // the policy refuses the claim, and the listener cannot tell
			}
			for _, ref := range entries(below(route, "spec"), "parentRefs") {
				if verdictOf(v, route, ref) && v.Hostname != "" && s.takes(parent, l, route, ref, v.Hostname) == "" {
					t.Fatalf("%+v\nis refused, although it is taken by %v", v, l)
				}
			}
		}
	}
}

// ofPlan says whether a listener of the verdict's parent is one of ours.
func ofPlan(plan *Plan, v Verdict, l map[string]any) bool {
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		if g.Name == v.Parent.Name && g.Namespace == v.Parent.Namespace {
			return slices.ContainsFunc(g.Listeners, func(p Listener) bool { return p.Name == l["name"] })
		}
	}
	return false
}

func (s *manifests) verdictProblem(plan *Plan, v Verdict, parent string, l map[string]any) string {
	object := s.objects[fmt.Sprintf("%s %s/%s", v.Kind, v.Namespace, v.Name)]
	switch {
	case object == nil:
		return "there is no such object"
	case v.Kind == KindCertificate:
		return s.certificateProblem(plan, v, parent, object, l)
	case v.Kind == KindGateway: // an entry of passthrough
		if text(l, "protocol") != "TLS" || text(l, "tls", "mode") != "Passthrough" || text(l, "hostname") != v.Hostname {
			return "it is no passthrough listener for the entry"
		}
		return ""
	}
	asked := texts(below(object, "spec"), "hostnames")
	if len(asked) == 0 && v.Kind == KindTLSRoute && text(l, "hostname") == v.Hostname {
		asked = []string{v.Hostname} // borrowed from the listener
	}
	if !slices.ContainsFunc(asked, func(raw string) bool { return plainForm(raw) == v.Hostname }) {
		return "the route does not ask for it"
	}
	problem := "the route has no such parentRef"
	for _, ref := range entries(below(object, "spec"), "parentRefs") {
		if verdictOf(v, object, ref) {
			problem = s.takes(parent, l, object, ref, v.Hostname)
		}
	}
	return problem
}

// certificateProblem says why a listener does not present the Certificate for
// the name, or "".
func (s *manifests) certificateProblem(plan *Plan, v Verdict, parent string, certificate, l map[string]any) string {
	secret, namespace := text(certificate, "spec", "secretName"), text(certificate, "metadata", "namespace")
	port := text(certificate, "metadata", "annotations", AnnotationPort)
	switch {
	case text(l, "protocol") != "HTTPS" || text(l, "hostname") != v.Hostname:
		return "it is no HTTPS listener for the name"
	case port != "" && port != fmt.Sprint(number(l, "port")):
		return "the port differs"
	}
	for _, ref := range s.secretsOf(parent, l) {
		if ref == namespace+"/"+secret {
			if (s.complete || made(plan, v)) && !s.granted(parent, namespace, secret) {
				return "no grant lets the Gateway read the Secret"
			}
			return s.unusable(parent, l)
		}
	}
	return "it presents another Secret"
}

// secretsOf returns the Secrets that a listener names.
func (s *manifests) secretsOf(parent string, l map[string]any) []string {
	var out []string
	for _, ref := range entries(below(l, "tls"), "certificateRefs") {
		namespace := text(ref, "namespace")
		if namespace == "" {
			namespace = text(s.objects[parent], "metadata", "namespace")
		}
		out = append(out, namespace+"/"+text(ref, "name"))
	}
	return out
}

// granted says whether a parent may read a Secret.
func (s *manifests) granted(parent, namespace, secret string) bool {
	kind, rest, _ := strings.Cut(parent, " ")
	own, _, _ := strings.Cut(rest, "/")
	if own == namespace {
		return true
	}
	for _, object := range s.objects {
		if object["kind"] != KindGrant || text(object, "metadata", "namespace") != namespace {
			continue
		}
		from := slices.ContainsFunc(entries(below(object, "spec"), "from"), func(f map[string]any) bool {
			return f["group"] == "gateway.networking.k8s.io" && f["kind"] == kind && f["namespace"] == own
		})
		to := slices.ContainsFunc(entries(below(object, "spec"), "to"), func(to map[string]any) bool {
			return text(to, "group") == "" && to["kind"] == KindSecret && (text(to, "name") == "" || text(to, "name") == secret)
		})
		if from && to {
			return true
		}
	}
	return false
}

// checkSecrets: a Secret that a listener of ours names has a Certificate that
// covers the listener's hostname, unless somebody else makes it; and no
// Certificate goes whose Secret a listener still names.
func checkSecrets(t *testing.T, w *world, s *manifests, plan *Plan) {
	t.Helper()
	for parent, listeners := range s.listeners {
		for _, l := range listeners {
			if madeByShim(plan, parent, text(l, "name")) {
				continue
			}
			for _, secret := range s.secretsOf(parent, l) {
				if c := s.certificateOf(secret); c != nil && gone(plan, c) {
					t.Fatalf("%s goes, although %v of %s names its Secret", keyOf(c), l, parent)
				}
			}
		}
	}
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		for _, l := range g.Listeners {
			if l.Certificate == "" || l.Action == Remove {
				continue
			}
			if problem := s.uncovered(l); problem != "" {
				t.Fatalf("listener %s of %s: %s", l.Name, g.Name, problem)
			}
		}
	}
}

// madeByShim says whether cert-manager's shim, or somebody else, makes the
// Certificate of a computed listener.
func madeByShim(plan *Plan, parent, listener string) bool {
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		for _, l := range g.Listeners {
			if strings.HasSuffix(parent, " "+g.Namespace+"/"+g.Name) && l.Name == listener {
				return l.object == nil && l.Certificate == "" && strings.HasSuffix(l.secretName, "-tls")
			}
		}
	}
	return false
}

func (s *manifests) certificateOf(secret string) map[string]any {
	for _, object := range s.objects {
		if object["kind"] == KindCertificate && text(object, "metadata", "namespace")+"/"+text(object, "spec", "secretName") == secret {
			return object
		}
	}
	return nil
}

// uncovered says why a listener's Certificate is none for its hostname, or "".
func (s *manifests) uncovered(l Listener) string {
	c := s.objects[KindCertificate+" "+l.Certificate]
	if c == nil {
		return "there is no Certificate " + l.Certificate
	}
	if metadata(c)["ownerReferences"] != nil {
		return "" // cert-manager's shim made it
	}
	if text(c, "spec", "secretName") != l.secretName {
		return keyOf(c) + " writes another Secret"
	}
	_, parent, _ := strings.Cut(l.Hostname, ".")
	for _, name := range texts(below(c, "spec"), "dnsNames") {
		if name := plainForm(name); name == l.Hostname || name == "*."+parent {
			return ""
		}
	}
	return keyOf(c) + " does not cover " + l.Hostname
}
