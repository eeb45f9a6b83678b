package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// wanted is a terminate listener that claims ask for.
type wanted struct {
	routes       []claim
	certificates []claim
}

func (w *wanted) all() []claim { return append(slices.Clone(w.certificates), w.routes...) }

// want notes a claim.
func (g *gateway) want(s slot, c claim) {
	w := g.wanted[s]
	if w == nil {
		w = &wanted{}
		g.wanted[s] = w
	}
	if c.certificate != nil {
		w.certificates = append(w.certificates, c)
	} else {
		w.routes = append(w.routes, c)
	}
}

// refusedByPolicy checks a claim against the policy: opting in and out, the
// fence, and the namespaces that may claim. They are the claiming object's,
// whatever its kind.
func (r *run) refusedByPolicy(g *gateway, c claim) (answer, bool) {
	manage := c.object.Annotations[AnnotationManage]
	switch {
	case manage == "false":
		return optedOutObject(), true
	case g.policy.Claims == ClaimsOptedIn && manage != "true":
		return refuse(ReasonOptedOut, "%s takes claims of opted-in objects only; annotate this one with %s: \"true\"", g, AnnotationManage), true
	}
	if outside := g.policy.outsideFence(c.hostname); outside != "" {
		return refuse(ReasonNoHostname, "%s %s", g, outside), true
	}
	if a, refused := r.refusedByNamespaceFence(g, c); refused {
		return a, true
	}
	return r.refusedByAttach(g, c)
}

// outsideFence says why a hostname is outside the fence that holds for all
// namespaces, or "".
func (p *Policy) outsideFence(hostname string) string {
	if p.Apex != "" && !slices.ContainsFunc(append([]string{p.Apex}, p.ChildApexes...), func(apex string) bool { return hostname == apex || Covers("*."+apex, hostname) }) {
		return fmt.Sprintf("serves %s and names below it only; change the hostname, or apex in the policy", strings.Join(append([]string{p.Apex}, p.ChildApexes...), ", "))
	}
	if len(p.Hostnames.Allow) > 0 && !coveredByAny(p.Hostnames.Allow, hostname) {
		return fmt.Sprintf("allows %s only; change the hostname, or hostnames.allow in the policy", strings.Join(p.Hostnames.Allow, ", "))
	}
	return ""
}

func (r *run) refusedByNamespaceFence(g *gateway, c claim) (answer, bool) {
	fence := g.policy.Hostnames.PerNamespace
	if len(fence) == 0 {
		return answer{}, false
	}
	if _, star := fence["*"]; c.object.Namespace == "" && !(star && len(fence) == 1) {
		r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether it may claim %s (hostnames.perNamespace of %s) depends on the namespace of the release", c.hostname, g)))
		return answer{}, false
	}
	patterns, listed := fence[c.object.Namespace]
	if !listed {
		patterns = fence["*"]
	}
	if coveredByAny(patterns, c.hostname) {
		return answer{}, false
	}
	return refuse(ReasonNotAllowed, "%s lets %s claim %s; change the hostname, or hostnames.perNamespace in its policy", g, namespaceOf(c.object), cmp.Or(strings.Join(patterns, ", "), "nothing")), true
}

func (r *run) refusedByAttach(g *gateway, c claim) (answer, bool) {
	switch r.attaches(g, c.object) {
	case no:
		return refuse(ReasonNotAllowed, "%s admits %s only; claim from there, or widen attach in its policy", g, describeAttach(g)), true
	case unknown:
		if g.decidesByLabels(c.object) {
			r.labelsUnknown(g, c.object)
		} else {
			r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether %s admits it (attach: %s) depends on the namespace of the release", g, describeAttach(g))))
		}
	}
	return answer{}, false
}

// decidesByLabels says whether the policy admits the object by labels of its
// namespace.
func (g *gateway) decidesByLabels(object *Meta) bool {
	return g.policy.Attach.From == FromSelector && object.Namespace != ""
}

func (r *run) labelsUnknown(g *gateway, object *Meta) {
	r.find(Warning, CodeNamespaceLabels, object, fmt.Sprintf("the labels of %s are not known here, so it is taken to match attach.selector of %s; give them with --snapshot", namespaceOf(object), g))
}

// attaches says whether the policy lets the object's namespace claim.
func (r *run) attaches(g *gateway, object *Meta) tri {
	switch attach := g.policy.Attach; attach.From {
	case FromAll:
		return yes
	case FromSelector:
		return r.selects(attach.Selector, object.Namespace)
	case FromList:
		return oneOfNamespaces(attach.Namespaces, object.Namespace)
	}
	return sameNamespace(g.Namespace, object.Namespace)
}

func describeAttach(g *gateway) string {
	switch attach := g.policy.Attach; attach.From {
	case FromAll:
		return "all namespaces"
	case FromList:
		return "namespaces " + strings.Join(attach.Namespaces, ", ")
	case FromSelector:
		return "namespaces that match its selector"
	}
	return namespaceOf(&g.Meta)
}

// sortedSlots returns the wanted listeners in the order of the plan.
func (g *gateway) sortedSlots() []slot {
	slots := make([]slot, 0, len(g.wanted))
	for s := range g.wanted {
		slots = append(slots, s)
	}
	slices.SortFunc(slots, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.hostname, b.hostname), cmp.Compare(a.port, b.port))
	})
	return slots
}

// winner returns the Certificate whose Secret serves the slot: the oldest, then
// by namespace and name, as cert-manager and the Gateway API decide races. The
// others lose.
func (w *wanted) winner() (winner *claim, losers []claim) {
	slices.SortStableFunc(w.certificates, func(a, b claim) int {
		return cmp.Or(compareAge(a.object, b.object), compareMeta(a.object, b.object), cmp.Compare(a.certificate.SecretName, b.certificate.SecretName))
	})
	if len(w.certificates) == 0 {
		return nil, nil
	}
	return &w.certificates[0], w.certificates[1:]
}

// compareAge puts the older object first; an unknown age counts as the
// youngest, so that a live object keeps what it has.
func compareAge(a, b *Meta) int {
	switch {
	case a.Created.Equal(b.Created):
		return 0
	case a.Created.IsZero():
		return 1
	case b.Created.IsZero():
		return -1
	}
	return a.Created.Compare(b.Created)
}
