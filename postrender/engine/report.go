package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// unmanaged says how to begin with a Gateway that has no policy.
func (r *run) unmanaged(g *gateway) {
	if g.Kind == KindListenerSet && !g.claimed {
		return
	}
	message, first := "no policy is given, so nothing is added", "--policy FILE"
	if file := r.policies.File; file != nil {
		message, first = fmt.Sprintf("no entry of policy file %s matches it, so nothing is added", file.Name), "an entry there"
		if g.Kind == KindListenerSet {
			message = fmt.Sprintf("no entry of policy file %s matches its Gateway %s, so nothing is added", file.Name, placedName(g.hostName().Namespace, g.label()))
		}
	}
	if g.claimed {
		message = "routes or Certificates ask for it, but " + message
	}
	fix := fmt.Sprintf("add --issuer NAME, %s, or the annotation %s to the Gateway", first, AnnotationPolicy)
	if r.snapshot.Complete { // where a flag would reach every Gateway
		fix = fmt.Sprintf("add the annotation %s to the Gateway, or %s (policy in the values of the chart)", AnnotationPolicy, first)
	}
	r.find(Warning, CodeNoPolicy, &g.Meta, message+"; "+fix)
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
	r.find(Warning, CodeNoClaims, &g.Meta, fmt.Sprintf("no route or Certificate of this release asks for it; its policy is recorded in %s for the sweep, which serves the routes of other releases", AnnotationRendered))
}

// portGuessed warns of a port that nothing in the Gateway speaks for: a
// controller that listens on other ports serves nothing on it.
func (r *run) portGuessed(g *gateway) {
	if g.httpsPort != g.autoPort {
		r.find(Warning, CodePortGuessed, &g.Meta, fmt.Sprintf("its listeners stay on port %d, where they are, although httpsPort: Auto would take %d for new ones; set httpsPort to %d to move them, or to %d to say that they are right", g.httpsPort, g.autoPort, g.autoPort, g.httpsPort))
		return
	}
	if g.host != nil || g.policy.HTTPSPort != 0 || g.policy.Certificates == Edge || slices.ContainsFunc(g.hand, func(l SourceListener) bool {
		return endsTLS(&l) || l.Port == 80 || l.Port == 443
	}) || len(g.hand) == 0 {
		return
	}
	r.find(Warning, CodePortGuessed, &g.Meta, fmt.Sprintf("its listeners are on other ports than 80 and 443, and httpsPort is taken to be %d; set it to the port on which the controller takes HTTPS (Traefik: 8443)", g.httpsPort))
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
	r.refusedClaims()
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
	if order := cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)); order != 0 {
		return order // mostly, and without a look at the rest
	}
	return cmp.Or(
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
