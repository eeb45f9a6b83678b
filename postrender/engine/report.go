package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// unmanaged says how to begin with a Gateway that has no policy.
func (r *run) unmanaged(g *gateway) {
	message := "no policy is given, so nothing is added"
	if g.claimed {
		message = "routes or Certificates ask for it, but no policy is given, so nothing is added"
	}
	if g.Kind == KindListenerSet && !g.claimed {
		return
	}
	r.find(Warning, CodeNoPolicy, &g.Meta, fmt.Sprintf("%s; add --issuer NAME, --policy FILE, or the annotation %s to the Gateway", message, AnnotationPolicy))
}

// noClaims says why a managed Gateway gets no listener of a hostname.
func (r *run) noClaims(g *gateway) {
	if g.claimed || isApexMode(g.policy.Certificates) {
		return
	}
	if r.snapshot.Complete {
		r.find(Warning, CodeNoClaims, &g.Meta, "no route or Certificate asks for it")
		return
	}
	r.find(Warning, CodeNoClaims, &g.Meta, fmt.Sprintf("no route or Certificate of this release asks for it; its policy is recorded in %s for the sweep, which serves the routes of other releases and is not part of this version", AnnotationRendered))
}

// elsewhere is what can be done for a claim on the Gateway of another release.
const elsewhere = "render both in one release, or write the listener by hand (the sweep, which serves such claims, is not part of this version)"

// portGuessed warns of a port that nothing in the Gateway speaks for: a
// controller that listens on other ports serves nothing on it.
func (r *run) portGuessed(g *gateway) {
	if g.host != nil || g.policy.HTTPSPort != 0 || g.policy.Certificates == Edge || slices.ContainsFunc(g.hand, func(l SourceListener) bool { return isTLS(l.Protocol) || l.Port == 80 || l.Port == 443 }) || len(g.hand) == 0 {
		return
	}
	r.find(Warning, CodePortGuessed, &g.Meta, fmt.Sprintf("its listeners are on other ports than 80 and 443, and httpsPort is taken to be %d; set it to the port on which the controller takes HTTPS (Traefik: 8443)", g.httpsPort))
}

// gatewayElsewhere says what becomes of a route whose Gateway is not in the
// snapshot: a render does not know it, a complete snapshot lacks it.
func (r *run) gatewayElsewhere(route *Route, parent Parent) {
	if r.snapshot.Complete {
		r.refuseAll(route, parent, refuse(ReasonNoMatchingParent, "there is no %s %s; correct the parentRef", parent.Kind, placedName(parent.Namespace, parent.Name)))
		return
	}
	if len(route.Hostnames) == 0 {
		return
	}
	asks := fmt.Sprintf("it asks for %s of %s %s, which is not in this release", strings.Join(route.Hostnames, ", "), parent.Kind, placedName(parent.Namespace, parent.Name))
	if served := r.servedElsewhere(route, parent); served != "" && parent.Kind == KindGateway {
		r.find(Warning, CodeGatewayElsewhere, &route.Meta, asks+"; "+served)
		return
	}
	if parent.SectionName != "" || parent.Port != 0 {
		r.find(Warning, CodePinned, &route.Meta, fmt.Sprintf("%s, and it is pinned to listener %s, so it gets no listener of its own; write that listener by hand, or remove sectionName and port from the parentRef", asks, pin(parent)))
		return
	}
	r.find(Warning, CodeGatewayElsewhere, &route.Meta, asks+"; "+elsewhere)
}

// servedElsewhere says what --snapshot knows of the Gateway.
func (r *run) servedElsewhere(route *Route, parent Parent) string {
	known := r.known[ObjectName{parent.Namespace, parent.Name}]
	if known == nil {
		return ""
	}
	g := &gateway{Gateway: known}
	var missing []string
	for _, raw := range route.Hostnames {
		c := claim{object: &route.Meta, parent: parent, hostname: normalOr(raw)}
		listeners := slices.DeleteFunc(slices.Clone(known.Listeners), func(l SourceListener) bool { return !c.selects(l.Name, l.Port) || !isTLS(l.Protocol) })
		if len(listeners) == 0 || !r.bestAnswer(route, g, c, listeners).accepted {
			missing = append(missing, raw)
		}
	}
	if len(missing) == 0 {
		return "the snapshot shows that it is served"
	}
	return fmt.Sprintf("the snapshot shows no listener for %s: %s", strings.Join(missing, ", "), elsewhere)
}

func (r *run) certificateElsewhere(c *Certificate, target ObjectName) {
	name := placedName(target.Namespace, target.Name)
	if r.snapshot.Complete {
		parent := Parent{Kind: KindGateway, Namespace: target.Namespace, Name: target.Name}
		for _, raw := range distinct(c.DNSNames) {
			r.verdict(claim{object: &c.Meta, parent: parent, hostname: normalOr(raw)}, refuse(ReasonNoMatchingParent, "there is no Gateway %s; correct the annotation", name))
		}
		return
	}
	r.find(Warning, CodeGatewayElsewhere, &c.Meta, fmt.Sprintf("it asks for %s of Gateway %s, which is not in this release; %s", strings.Join(c.DNSNames, ", "), name, elsewhere))
}

// refusals turns the refused verdicts of one object and parent into a finding,
// so that a face which shows findings only hides none.
func (r *run) refusals(verdicts []Verdict) {
	type key struct {
		kind, namespace, name, source, reason, message string
		parent                                         Parent
	}
	hostnames := map[key][]string{}
	for _, v := range verdicts {
		if v.refused() {
			k := key{v.Kind, v.Namespace, v.Name, v.Source, v.Reason, v.Message, v.Parent}
			hostnames[k] = append(hostnames[k], v.Hostname)
		}
	}
	for k, names := range hostnames {
		m := Meta{Kind: k.kind, Namespace: k.namespace, Name: k.name, Source: k.source}
		r.find(Warning, CodeRefused, &m, fmt.Sprintf("%s refused (%s): %s", strings.Join(names, ", "), k.reason, k.message))
	}
}

// plan sorts the results.
func (r *run) plan() *Plan {
	slices.SortFunc(r.verdicts, compareVerdicts)
	r.verdicts = slices.CompactFunc(r.verdicts, func(a, b Verdict) bool { return a == b })
	r.refusals(r.verdicts)
	slices.SortFunc(r.listenerSetPlans, func(a, b GatewayPlan) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(r.findings, compareFindings)
	slices.SortFunc(r.certificates, func(a, b CertificatePlan) int { return comparePlaced(a.Placed, b.Placed) })
	slices.SortFunc(r.grants, func(a, b Grant) int { return comparePlaced(a.Placed, b.Placed) })
	slices.SortFunc(r.redirects, func(a, b Redirect) int { return comparePlaced(a.Placed, b.Placed) })
	return &Plan{
		Gateways:     notNil(r.gatewayPlans),
		ListenerSets: notNil(r.listenerSetPlans),
		Certificates: notNil(r.certificates),
		Grants:       notNil(r.grants),
		Redirects:    notNil(r.redirects),
		Verdicts:     notNil(r.verdicts),
		Findings:     notNil(slices.Compact(r.findings)),
	}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func comparePlaced(a, b Placed) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func compareVerdicts(a, b Verdict) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		compareParents(a.Parent, b.Parent), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Listener, b.Listener), cmp.Compare(a.Reason, b.Reason))
}

func compareParents(a, b Parent) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.SectionName, b.SectionName), cmp.Compare(a.Port, b.Port))
}

func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Source, b.Source))
}
