package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// planGateway turns the claims of a Gateway into listeners, Certificates and a
// redirect, and compares them with what was rendered before.
func (r *run) planGateway(g *gateway) {
	if !g.policy.managed {
		r.unmanaged(g)
		return
	}
	plan := GatewayPlan{Namespace: g.Namespace, Name: g.Name, Source: g.Source}
	var listeners []Listener
	if g.plain {
		listeners = append(listeners, r.plainListener(g))
	}
	for _, s := range g.sortedSlots() {
		if l, ok := r.terminateListener(g, s); ok {
			listeners = append(listeners, l)
		}
	}
	plan.Listeners = g.compare(listeners)
	plan.Rendered = g.policy.renderedValue(plan.Listeners)
	r.checkLimit(g, plan.Listeners)
	r.planRedirect(g)
	r.noClaims(g)
	r.portGuessed(g)
	r.gatewayPlans = append(r.gatewayPlans, plan)
}

// terminateListener returns the listener of a slot, unless all its claims are
// refused.
func (r *run) terminateListener(g *gateway, s slot) (Listener, bool) {
	w := g.wanted[s]
	winner, losers := w.winner()
	for _, c := range losers {
		r.verdict(c, refuse(ReasonHostnameConflict, "%s claims %s for %s first; drop the name from one of them", winner.object, s.hostname, g))
	}
	l := Listener{
		Name: ListenerName(s.hostname, s.port), Hostname: s.hostname, Port: s.port,
		Protocol: "HTTPS", Mode: "Terminate", tlsOptions: g.policy.TLSOptions,
	}
	l.AllowedRoutes = r.allowedRoutes(g)
	var a answer
	switch {
	case slices.ContainsFunc(g.hand, func(h SourceListener) bool { return h.Name == l.Name }):
		a = r.nameTaken(g, "listener "+l.Name)
	case winner != nil:
		a = r.useCertificate(g, &l, winner)
	default:
		a = r.useOwnCertificate(g, &l)
	}
	if winner != nil {
		r.verdict(*winner, a)
	}
	for _, c := range w.routes {
		r.verdict(c, a)
	}
	return l, a.accepted
}

// useCertificate serves a listener by the Secret of an annotated Certificate.
func (r *run) useCertificate(g *gateway, l *Listener, c *claim) answer {
	cert := c.certificate
	l.secretName = cert.SecretName
	l.Certificate = placedName(cert.Namespace, cert.Name)
	switch sameNamespace(cert.Namespace, g.Namespace) {
	case unknown:
		r.errs = append(r.errs, r.needNamespace(&cert.Meta, fmt.Sprintf("whether %s may read its Secret depends on the namespace of the release", g)))
	case no:
		l.secretNamespace = cert.Namespace
		r.wantGrant(g, cert)
	}
	return accept(l.Name)
}

// useOwnCertificate serves a listener by a Certificate of ours, or by the one
// that cert-manager's shim makes for it.
func (r *run) useOwnCertificate(g *gateway, l *Listener) answer {
	name := CertificateName(KindGateway, g.Name, l.Hostname)
	l.secretName = name
	if isWildcard(l.Hostname) && !slices.Contains(g.policy.Wildcards, l.Hostname) {
		return refuse(ReasonNoHostname, "the wildcard %s of a route becomes no Certificate unless wildcards in the policy of %s names it; list it there, write a Certificate annotated %s, or a listener by hand",
			l.Hostname, g, AnnotationGateway)
	}
	if r.taken.by(g, name) {
		return r.nameTaken(g, "Certificate or Secret "+name)
	}
	if g.policy.Certificates == PerHostname || ignoredByShim(g.Gateway, l.Name) {
		l.Certificate = placedName(g.Namespace, name)
		r.wantCertificate(g, l.Hostname)
	}
	return accept(l.Name)
}

func (r *run) nameTaken(g *gateway, what string) answer {
	r.find(Critical, CodeNameTaken, &g.Meta, what+" is in use by something that gatewright did not make; rename or remove it")
	return refuse(ReasonHostnameConflict, "%s is in use by something that gatewright did not make; rename or remove it", what)
}

func placedName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// allowedRoutes is the policy's attach with every default spelled out: two
// field managers that write it must write the same. Kinds are left out, so that
// all listeners of a port take the same ones.
func (r *run) allowedRoutes(g *gateway) map[string]any {
	switch attach := g.policy.Attach; attach.From {
	case FromAll:
		return fromNamespaces(FromAll, nil)
	case FromList:
		return r.fromList(g, attach.Namespaces)
	case FromSelector:
		return fromNamespaces(FromSelector, jsonMap(attach.Selector))
	}
	return fromNamespaces(FromSame, nil)
}

// fromList admits the namespaces of a list: Same where that is only the
// Gateway's own.
func (r *run) fromList(g *gateway, namespaces []string) map[string]any {
	sorted := slices.Compact(slices.Sorted(slices.Values(namespaces)))
	if len(sorted) == 1 {
		switch sameNamespace(sorted[0], g.Namespace) {
		case yes:
			return fromNamespaces(FromSame, nil)
		case unknown:
			r.errs = append(r.errs, r.needNamespace(&g.Meta, fmt.Sprintf("whether namespace %s is its own depends on the namespace of the release", sorted[0])))
		}
	}
	values := make([]any, len(sorted))
	for i, namespace := range sorted {
		values[i] = namespace
	}
	return fromNamespaces(FromSelector, map[string]any{"matchExpressions": []any{
		map[string]any{"key": metadataName, "operator": "In", "values": values},
	}})
}

func fromNamespaces(from string, selector map[string]any) map[string]any {
	namespaces := map[string]any{"from": from}
	if selector != nil {
		namespaces["selector"] = selector
	}
	return map[string]any{"namespaces": namespaces}
}

// checkLimit fails a render that asks for more listeners than a Gateway takes:
// a cut would throw out a live name for a newcomer.
func (r *run) checkLimit(g *gateway, listeners []Listener) {
	ours := 0
	for _, l := range listeners {
		if l.Action != Remove {
			ours++
		}
	}
	total, limit := len(g.hand)+ours, g.policy.MaxListeners
	if total > limit {
		r.fail(&g.Meta, fmt.Sprintf("it would have %d listeners (%d hand-written, %d computed), and %d is the limit", total, len(g.hand), ours, limit),
			"spread the hostnames over more Gateways, or serve some by a hand-written wildcard listener")
	}
}

// compare gives each listener its action. The order is that of the plan; what
// is removed comes last.
func (g *gateway) compare(listeners []Listener) []Listener {
	before := map[string]SourceListener{}
	for _, l := range g.ours {
		before[l.Name] = l
	}
	for i := range listeners {
		l := &listeners[i]
		old, rendered := before[l.Name]
		delete(before, l.Name)
		switch {
		case !rendered:
			l.Action, l.Reason = Add, "claimed"
		case equalObjects(old.Object, l.Object()):
			l.Action, l.Reason = Keep, "claimed"
		default:
			l.Action, l.Reason = Update, "differs from what was rendered"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		old := before[name]
		gone := Listener{Name: name, Hostname: old.Hostname, Port: old.Port, Protocol: old.Protocol, Mode: old.TLSMode,
			AllowedRoutes: map[string]any{}, Action: Remove, Reason: unclaimed}
		if g.policy.noRemovals {
			gone.Action, gone.Reason = Keep, "the policy holds a key that is not known here"
			gone.object = old.Object
			gone.AllowedRoutes, _ = old.Object["allowedRoutes"].(map[string]any)
		}
		listeners = append(listeners, gone)
	}
	return listeners
}

// equalObjects compares two manifests by what they mean as JSON.
func equalObjects(a, b any) bool { return reflect.DeepEqual(jsonValue(a), jsonValue(b)) }

func jsonValue(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var out any
	if json.Unmarshal(data, &out) != nil {
		return value
	}
	return out
}

func jsonMap(value any) map[string]any {
	out, _ := jsonValue(value).(map[string]any)
	return out
}
