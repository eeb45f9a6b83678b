package engine

import "fmt"

// lintSelector finds a listener whose selector is missing. The API server lets
// it pass and does not say what it means; to Kubernetes it selects nothing.
func (r *linter) lintSelector(e *endpoint) {
	if e.hand.AllowedFrom == FromSelector && e.hand.AllowedSelector == nil {
		r.find(Warning, CodeSelectorMissing, &e.g.Meta, fmt.Sprintf("listener %s admits namespaces by a selector and has none, so it admits no route; add allowedRoutes.namespaces.selector", e.name))
	}
}

func (r *linter) lintAllowedListeners(g *gateway) {
	if g.AllowedListeners == FromSelector && g.AllowedListenersSelector == nil {
		r.find(Warning, CodeSelectorMissing, &g.Meta, "spec.allowedListeners admits namespaces by a selector and has none, so it takes no ListenerSet; add allowedListeners.namespaces.selector")
	}
}

// visit is how a route meets the listeners of a parent for one hostname, ""
// for whatever they answer.
type visit struct {
	kind, namespace, sectionName string
	port                         int
	hostname                     string
}

// lintAdmission warns of routes that get no verdict of being served or refused,
// since they ask for no hostname or opted out, and that no listener admits:
// they serve nothing, and a hand-written listener is why.
func (r *linter) lintAdmission(g *gateway) {
	problems := map[visit]string{}
	for _, a := range g.attached {
		if a.route.Kind == KindTLSRoute {
			continue
		}
		for _, hostname := range r.unjudged(a) {
			v := visit{a.route.Kind, a.route.Namespace, a.ref.SectionName, a.ref.Port, hostname}
			problem, known := problems[v]
			if !known {
				problem = r.turnedAway(g, a.route, v)
				problems[v] = problem
			}
			if problem != "" {
				r.find(Warning, CodeNotAdmitted, &a.route.Meta, "no listener of "+g.String()+" serves it: "+problem)
			}
		}
	}
}

// unjudged returns the hostnames for which a route on a parent has no verdict,
// or one that is no refusal.
func (r *linter) unjudged(a attachment) []string {
	if len(a.route.Hostnames) == 0 {
		return []string{""}
	}
	ref := a.ref
	return r.optedOut[asker{a.route.Kind, a.route.Namespace, a.route.Name, Parent{ref.Kind, ref.Namespace, ref.Name, ref.SectionName, ref.Port}}]
}

// asker is an object and how it names a parent.
type asker struct {
	kind, namespace, name string
	parent                Parent
}

// optedOut looks up the hostnames that nothing is added for, since their object
// does not want it.
func optedOut(verdicts []Verdict) map[asker][]string {
	out := map[asker][]string{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Reason == ReasonOptedOut {
			key := asker{v.Kind, v.Namespace, v.Name, v.Parent}
			out[key] = append(out[key], v.Hostname)
		}
	}
	return out
}

// turnedAway says why the hand-written listeners that would answer a route do
// not admit it, or "" if some listener does, or none would answer.
func (r *linter) turnedAway(g *gateway, route *Route, v visit) string {
	c := claim{object: &route.Meta, parent: Parent{SectionName: v.sectionName, Port: v.port}}
	var near *endpoint
	for i := range r.endpoints[g] {
		e := &r.endpoints[g][i]
		answers := e.protocol == "HTTP" || e.protocol == "HTTPS"
		if !answers || !c.selects(e.name, e.port) || !(v.hostname == "" || Covers(e.hostname, v.hostname)) {
			continue
		}
		if r.admits(e, v.kind, v.namespace) != no {
			return ""
		}
		if e.hand != nil && (near == nil || specificity(e.hostname) > specificity(near.hostname)) {
			near = e
		}
	}
	if near == nil {
		return ""
	}
	return r.attach(route, g, near.hand, near.hostname).message
}

// lintRouteKinds warns of an HTTPRoute and a GRPCRoute that one listener serves
// for one hostname: an implementation may accept only the older.
func (r *linter) lintRouteKinds() {
	type place struct {
		kind, namespace, name, listener, hostname string
	}
	http := map[place]*Verdict{}
	at := func(v *Verdict) place {
		return place{v.Parent.Kind, v.Parent.Namespace, v.Parent.Name, v.Listener, v.Hostname}
	}
	var grpc []*Verdict
	for i := range r.verdicts {
		if v := &r.verdicts[i]; v.Accepted && v.Kind == KindGRPCRoute {
			grpc = append(grpc, v)
			http[at(v)] = nil
		}
	}
	for i := range r.verdicts {
		if v := &r.verdicts[i]; len(grpc) > 0 && v.Accepted && v.Kind == KindHTTPRoute {
			if first, asked := http[at(v)]; asked && (first == nil || compareVerdicts(*v, *first) < 0) {
				http[at(v)] = v
			}
		}
	}
	for _, v := range grpc {
		if other := http[at(v)]; other != nil {
			m := Meta{Kind: v.Kind, Namespace: v.Namespace, Name: v.Name, Source: v.Source}
			r.find(Warning, CodeMixedRouteKinds, &m, fmt.Sprintf("it and HTTPRoute %s ask for %s of listener %s, and an implementation may accept only the older of them; give one another hostname",
				placedName(other.Namespace, other.Name), v.Hostname, v.Listener))
		}
	}
}
