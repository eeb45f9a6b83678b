package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// planParent turns the claims of a Gateway or ListenerSet into listeners,
// Certificates and a redirect, and compares them with what is there.
func (r *run) planParent(g *gateway) {
	if !g.policy.managed {
		r.unmanaged(g)
		return
	}
	g.planFrom = len(r.verdicts)
	listeners := r.completeStanding(g)
	r.planApexCertificate(g)
	listeners = r.withoutWaiting(g, listeners)
	r.leaveOutUnusable(g)
	for _, s := range g.sortedSlots() {
		if l, ok := r.terminateListener(g, s); ok {
			listeners = append(listeners, l)
		}
	}
	listeners = r.keepsOne(g, r.withinLimits(g, r.compare(g, listeners)))
	r.answerWaiting(g, listeners)
	g.listeners = listeners
	plan := GatewayPlan{Namespace: g.Namespace, Name: g.Name, Source: g.Source, Index: g.Index, Listeners: listeners, Action: Keep,
		Quota: g.policy.MaxListenersPerNamespace > 0, OneNamespace: g.policy.HostnameOwnership == OneNamespace, IdleYields: r.idleYields(g)}
	if !r.snapshot.Complete { // in a cluster the annotation is the release's, and not ours to write
		plan.Rendered = g.policy.renderedValue(listeners)
	}
	changed := !r.snapshot.Complete && plan.Rendered != g.Annotations[AnnotationRendered]
	if changed || slices.ContainsFunc(listeners, func(l Listener) bool { return l.Action != Keep }) {
		plan.Action = Update
	}
	r.planRedirect(g)
	r.noClaims(g)
	r.portGuessed(g)
	r.addPlan(g, plan)
}

// terminateListener returns the listener of a slot, unless all its claims are
// refused.
func (r *run) terminateListener(g *gateway, s slot) (Listener, bool) {
	w := g.wanted[s]
	if a, refused := r.refusedSlot(g, s, w); refused {
		r.answerAll(w.all(), a)
		return Listener{}, false
	}
	owner, w := r.own(g, s, w)
	winner, losers := w.winner()
	for _, c := range losers {
		r.verdict(c, refuse(ReasonHostnameConflict, "%s claims %s for %s first; drop the name from one of them", winner.object, s.hostname, g))
	}
	if winner == nil && len(w.routes) == 0 {
		return Listener{}, false
	}
	l := Listener{
		Name: ListenerName(s.hostname, s.port), Hostname: s.hostname, Port: s.port,
		Protocol: "HTTPS", Mode: "Terminate", tlsOptions: g.policy.TLSOptions, claims: w.all(),
	}
	a := r.secretFor(g, &l, winner)
	if winner != nil {
		r.verdict(*winner, a)
	}
	r.answerAll(w.routes, a)
	if !a.accepted {
		return Listener{}, false
	}
	if wider := r.waitsBehind(g, &l); wider != nil {
		g.waiting = append(g.waiting, waitingListener{s, l, wider})
		return Listener{}, false
	}
	l.AllowedRoutes = r.allowedRoutes(g)
	if g.policy.HostnameOwnership == OneNamespace {
		l.AllowedRoutes = r.narrowed(g, owner)
	}
	l.Holder = owner
	r.fill(g, s)
	return l, true
}

// refusedSlot refuses all claims of a slot that cannot have a listener, whoever
// asks.
func (r *run) refusedSlot(g *gateway, s slot, w *wanted) (answer, bool) {
	if a, refused := r.closedSlot(g, s, w); refused {
		return a, true
	}
	if a, refused := r.takesOver(g, s); refused {
		return a, true
	}
	return g.filledElsewhere(s)
}

// closedSlot refuses all claims of a slot, whoever has the hostname.
func (r *run) closedSlot(g *gateway, s slot, w *wanted) (answer, bool) {
	passthrough := g.displacedBy(s.port, s.hostname)
	if passthrough == nil {
		passthrough = r.withdrawnBy(g, s.hostname)
	}
	switch {
	case g.Yielded[s.hostname] != "":
		return g.yielded(s.hostname, s.hostname), true
	case passthrough != nil:
		return refuse(ReasonNoHostname, "passthrough listener %s (%s) answers %s on port %d; drop the hostname here, or the entry in the policy", passthrough.Name, passthrough.Hostname, s.hostname, passthrough.Port), true
	case isWildcard(s.hostname) && len(w.certificates) == 0 && !slices.Contains(g.policy.Wildcards, s.hostname):
		return refuse(ReasonNoHostname, "the wildcard %s of a route becomes no Certificate unless wildcards in the policy of %s names it; list it there, write a Certificate annotated %s, or a listener by hand",
			s.hostname, g, AnnotationGateway), true
	}
	return answer{}, false
}

// secretFor gives the listener its Secret: that of the annotated Certificate
// which won, or that of a Certificate of ours.
func (r *run) secretFor(g *gateway, l *Listener, winner *claim) answer {
	switch {
	case slices.ContainsFunc(g.hand, func(h SourceListener) bool { return h.Name == l.Name }):
		return r.nameTaken(g, "listener "+l.Name)
	case winner != nil:
		return r.useCertificate(g, l, winner)
	}
	return r.useOwnCertificate(g, l)
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
		name := grantName(g.Kind, g.Name, cert.SecretName)
		foreign := slices.ContainsFunc(r.grantsIn[cert.Namespace], func(grant *ReferenceGrant) bool {
			return grant.Name == name && grant.Labels[LabelFor] == ""
		})
		switch {
		case !foreign:
			r.wantGrant(g, cert)
		case !r.grantedSecret(g, cert):
			return r.nameTaken(g, "ReferenceGrant "+placedName(cert.Namespace, name))
		}
	}
	return accept(l.Name)
}

func notPermitted(g *gateway, cert *Certificate) answer {
	return refuse(ReasonRefNotPermitted, "no ReferenceGrant in namespace %s lets %s read Secret %s; the owner of that namespace can add one", cert.Namespace, g, cert.SecretName)
}

// useOwnCertificate serves a listener by a Certificate of ours, or by the one
// that cert-manager's shim makes for it.
func (r *run) useOwnCertificate(g *gateway, l *Listener) answer {
	name := CertificateName(g.Kind, g.Name, l.Hostname)
	l.secretName = name
	if r.isTaken(g, name) {
		return r.nameTaken(g, "Certificate or Secret "+name)
	}
	if g.policy.writesCertificates() || ignoredByShim(g, l.Name) {
		if a, refused := r.nobodyIssues(g, l.Hostname); refused {
			return a
		}
		l.Certificate = placedName(g.Namespace, name)
		r.wantCertificate(g, l.Hostname, l.claimants())
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

// compare gives each listener its action. The order is that of the plan; what
// is removed comes last.
func (r *run) compare(g *gateway, listeners []Listener) []Listener {
	before := make(map[string]*SourceListener, len(g.ours))
	for i := range g.ours {
		before[g.ours[i].Name] = &g.ours[i]
	}
	for i := range listeners {
		l := &listeners[i]
		old, rendered := before[l.Name]
		delete(before, l.Name)
		l.Reason = l.claimants()
		switch {
		case !rendered:
			l.Action, l.known = Add, r.knows(g, l.Name)
		case equalObjects(old.Object, l.manifest()):
			l.Action = Keep
		default:
			l.Action, l.Reason = Update, old.whyDiffers(l.manifest())
			if why := r.keepsCertificate(g, *old, l, listeners); why != "" {
				g.goOnPresenting(l, *old, why)
			}
		}
	}
	all := slices.Grow(listeners, len(before))
	for _, name := range slices.Sorted(maps.Keys(before)) {
		l := r.stale(g, *before[name], listeners)
		l.Immediate = l.Action == Remove && g.goesAtOnce(*before[name])
		all = append(all, l)
	}
	for i := range listeners {
		all[i].takesPlace = all[i].displaces(all[len(listeners):])
	}
	return all
}

// stale decides about a listener of ours that no claim asks for.
func (r *run) stale(g *gateway, old SourceListener, remaining []Listener) Listener {
	l := Listener{Name: old.Name, Hostname: old.Hostname, Port: old.Port, Protocol: old.Protocol, Mode: old.TLSMode,
		AllowedRoutes: map[string]any{}, Action: Remove, Reason: r.unclaimed()}
	if until := g.Yielded[old.Hostname]; until != "" {
		l.Reason = "it is yielded until " + until
	}
	reason := r.keptBy(g, old, remaining)
	if g.policy.noRemovals {
		reason = "the policy holds a key that is not known here"
	}
	if reason != "" {
		g.keep(&l, old, reason)
	}
	return l
}

// keep leaves a listener that nothing claims as it is.
func (g *gateway) keep(l *Listener, old SourceListener, reason string) {
	*l = old.asItIs(reason)
	g.stays[old.Name] = true
	g.top().ports.take(old.Port, old.Protocol, old.Hostname, g.occupant(old.Name))
}

// asItIs plans a listener that stays whatever is claimed.
func (l *SourceListener) asItIs(reason string) Listener {
	kept := Listener{Name: l.Name, Hostname: l.Hostname, Port: l.Port, Protocol: l.Protocol, Mode: l.TLSMode,
		AllowedRoutes: map[string]any{}, Action: Keep, Reason: reason, object: l.Object}
	if allowed, ok := l.Object["allowedRoutes"].(map[string]any); ok {
		kept.AllowedRoutes = allowed
	}
	return kept
}

const policyAsks = "the policy asks for it"

// claimants names what asks for the listener.
func (l *Listener) claimants() string {
	if len(l.claims) == 1 {
		return l.claims[0].object.String()
	}
	if len(l.claims) == 0 {
		return policyAsks
	}
	first := slices.MinFunc(l.claims, func(a, b claim) int { return compareMeta(a.object, b.object) })
	names := map[string]bool{}
	for _, c := range l.claims {
		names[c.object.String()] = true
	}
	if more := len(names) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", first.object, more)
	}
	return first.object.String()
}

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
