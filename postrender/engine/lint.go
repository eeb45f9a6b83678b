package engine

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// lint looks over the finished plan for what the API server accepts and nobody
// wants. Each check adds findings and changes nothing. A Gateway without a
// policy is nobody's business here.
func (r *run) lint() {
	l := newLinter(r)
	for _, s := range l.sites() {
		l.lintPorts(s)
		l.lintSameHostname(s)
		l.lintSharedSecrets(s)
	}
	for _, g := range l.managed {
		l.lintLimit(g)
		l.lintOpenedPorts(g)
		l.lintAllowedListeners(g)
		l.lintAdmission(g)
		l.lintNobodyIssues(g)
		l.lintGivenSecret(g)
		for i := range l.endpoints[g] {
			l.lintEndpoint(&l.endpoints[g][i])
		}
	}
	l.lintRouteKinds()
	l.lintMissingIssuers()
	l.lintChallenges()
	l.lintWildcards()
	l.lintTwoGateways()
	l.lintBudget()
	if len(l.managed) > 0 {
		l.lintWriters()
	}
}

func (r *linter) lintEndpoint(e *endpoint) {
	r.lintServerSpeaksFirst(e)
	if e.hand != nil {
		r.lintCertificateRefs(e)
		r.lintSecretGrants(e)
		r.lintSelector(e)
	}
}

// linter is a finished run, with what the checks look up.
type linter struct {
	*run
	managed   []*gateway
	endpoints map[*gateway][]endpoint
	issuers   map[issuerKey]Issuer
	optedOut  map[asker][]string
	claimed   map[ObjectName]bool // Secrets
}

func newLinter(r *run) *linter {
	l := &linter{
		run:       r,
		endpoints: map[*gateway][]endpoint{},
		issuers:   indexIssuers(r.snapshot.Issuers),
		optedOut:  optedOut(r.verdicts),
		claimed:   claimedSecrets(r.by.annotated),
	}
	planned := map[parentName]map[string][]Listener{}
	note := func(kind string, plans []GatewayPlan) {
		for _, p := range plans {
			key := parentName{kind, p.Name}
			if planned[key] == nil {
				planned[key] = map[string][]Listener{}
			}
			planned[key][p.Namespace] = p.Listeners
		}
	}
	note(KindGateway, r.gatewayPlans)
	note(KindListenerSet, r.listenerSetPlans)
	for _, g := range r.parents {
		if g.policy.managed {
			l.managed = append(l.managed, g)
			l.endpoints[g] = g.endpoints(planned[parentName{g.Kind, g.Name}][g.Namespace])
		}
	}
	return l
}

// endpoint is a listener as it will stand after the plan: hand is set for a
// hand-written one, ours for one that we compute.
type endpoint struct {
	g    *gateway
	hand *SourceListener
	ours *Listener

	name, hostname, protocol, mode string
	port                           int

	source *SourceListener // once it was asked for
}

// endpoints returns the listeners of a parent after the plan.
func (g *gateway) endpoints(planned []Listener) []endpoint {
	out := make([]endpoint, 0, len(g.hand)+len(planned))
	for i := range g.hand {
		l := &g.hand[i]
		out = append(out, endpoint{g: g, hand: l, name: l.Name, hostname: l.Hostname, protocol: l.Protocol, mode: l.TLSMode, port: l.Port})
	}
	for i := range planned {
		if l := &planned[i]; l.Action != Remove {
			out = append(out, endpoint{g: g, ours: l, name: l.Name, hostname: l.Hostname, protocol: l.Protocol, mode: l.Mode, port: l.Port})
		}
	}
	return out
}

// secrets returns the Secrets that the listener presents.
func (e *endpoint) secrets() []ObjectName {
	refs := []ObjectName{}
	switch {
	case e.ours == nil:
		refs = e.hand.CertificateRefs
	case e.ours.secretName != "":
		refs = append(refs, ObjectName{e.ours.secretNamespace, e.ours.secretName})
	}
	return refs
}

// ofApex says whether the listener is one of those that a mode of an apex asks
// for: they share one certificate on purpose. In a cluster those of a release
// count as hand-written, and are known by their record.
func (e *endpoint) ofApex() bool {
	if !isApexMode(e.g.policy.Certificates) {
		return false
	}
	if e.hand != nil {
		return e.g.Rendered()[e.name]
	}
	return len(e.ours.claims) == 0
}

// admits says whether the listener takes routes of a kind from a namespace.
func (r *linter) admits(e *endpoint, kind, namespace string) tri {
	if e.source == nil {
		e.source = e.asSource()
	}
	if !admitsKind(e.source, kind) {
		return no
	}
	return r.admitsNamespace(e.g, e.source, namespace)
}

// asSource is the listener as a route meets it.
func (e *endpoint) asSource() *SourceListener {
	if e.hand != nil {
		return e.hand
	}
	namespaces := reader{object: e.ours.AllowedRoutes, problem: new(string)}.child("namespaces")
	l := &SourceListener{Protocol: e.protocol, AllowedFrom: namespaces.textOr("from", FromSame)}
	if selector, ok := namespaces.object["selector"].(map[string]any); ok {
		l.AllowedSelector = namespaces.selector(selector)
	}
	return l
}

// site is a Gateway with its ListenerSets: their listeners share its ports. A
// ListenerSet whose Gateway is not planned here stands alone.
type site struct {
	g         *gateway
	endpoints []*endpoint
}

// sites returns them in the order of the parents, so that what has precedence
// comes first.
func (r *linter) sites() []*site {
	var out []*site
	byGateway := map[*gateway]*site{}
	for _, g := range r.managed {
		s := byGateway[g.host]
		switch {
		case g.barred != "":
			continue // its Gateway does not take its listeners
		case s == nil:
			s = &site{g: g}
			byGateway[g] = s
			out = append(out, s)
		}
		for i := range r.endpoints[g] {
			s.endpoints = append(s.endpoints, &r.endpoints[g][i])
		}
	}
	return out
}

// in names the listener in a finding about g, with its object where that is
// another.
func (e *endpoint) in(g *gateway) string {
	if e.g == g {
		return "listener " + e.name
	}
	return fmt.Sprintf("listener %s of %s", e.name, e.g)
}

// listed sorts and joins names, but only the first few.
func listed(names []string) string {
	const shown = 3
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if more := len(names) - shown; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), more)
	}
	return strings.Join(names, ", ")
}

// patternsAbove yields the hostnames that accept all that a hostname stands for
// and more, the narrowest first and "" last.
func patternsAbove(hostname string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := strings.TrimPrefix(hostname, "*."); rest != ""; {
			_, rest, _ = strings.Cut(rest, ".")
			if rest != "" && !yield("*."+rest) {
				return
			}
		}
		if hostname != "" {
			yield("")
		}
	}
}
