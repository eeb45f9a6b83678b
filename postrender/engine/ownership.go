package engine

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// OneNamespace is the value of hostnameOwnership that gives a hostname to one
// namespace.
const OneNamespace = "OneNamespace"

// servedClaim is a claim that a listener serves which is not made for it. It
// waits for the others, since the namespaces may race for the hostname.
type servedClaim struct {
	claim
	listener string
	// wide says that several namespaces may race there: not on a plain listener
	// beside HTTPS ones, nor where one namespace alone is admitted.
	wide bool
}

func (r *run) answerByStanding(g *gateway, c claim, s *standing) {
	if s.Mode != "Passthrough" {
		r.depthFinding(g, c, s)
	}
	g.served = append(g.served, servedClaim{c, s.Name, g.races(s.Protocol)})
}

// answerByHand accepts a claim by a hand-written listener, or by one that the
// release rendered, unless another namespace has the hostname.
func (r *run) answerByHand(g *gateway, c claim, l *SourceListener) {
	if g.policy.HostnameOwnership != OneNamespace && c.object.Kind != KindTLSRoute {
		r.verdict(c, accept(l.Name)) // nothing to wait for
		return
	}
	g.served = append(g.served, servedClaim{c, l.Name, g.races(l.Protocol) && len(l.Admits(g.Namespace)) != 1})
}

// races says whether listeners of the protocol are what a hostname is published
// by.
func (g *gateway) races(protocol string) bool {
	return protocol != "HTTP" || g.policy.Certificates == Edge
}

// verdictsOfServed decides the races on listeners that several namespaces share:
// there a lost race is a verdict and a finding, and keeps nobody out.
func (r *run) verdictsOfServed() {
	for _, g := range r.parents {
		races := map[servedName][]claim{}
		if g.policy.HostnameOwnership == OneNamespace {
			for _, s := range g.served {
				races[s.name()] = append(races[s.name()], s.claim)
			}
		}
		holders := map[servedName]holding{}
		for name, race := range races {
			namespace, contested := g.holder(name.hostname, race)
			holders[name] = holding{namespace, contested, contested && withoutNamespace(race) != nil}
		}
		slices.SortStableFunc(g.served, func(a, b servedClaim) int { return compareMeta(a.object, b.object) })
		r.sharedSNI(g, g.served)
		for _, s := range g.served {
			r.verdictOfServed(g, s, holders[s.name()])
		}
	}
}

// servedName is what namespaces race for, holding who won it.
type servedName struct{ listener, hostname string }

type holding struct {
	namespace          string
	contested, unknown bool
}

func (s *servedClaim) name() servedName { return servedName{s.listener, s.hostname} }

func (r *run) verdictOfServed(g *gateway, s servedClaim, holder holding) {
	if a, refused := g.overLimit[s.listener]; refused {
		r.verdict(s.claim, a)
		return
	}
	switch {
	case !s.wide || !holder.contested:
		r.verdict(s.claim, accept(s.listener))
		return
	case holder.unknown:
		r.verdict(s.claim, refuse(reasonNamespaceUnknown, "whether %s of %s is claimed from one namespace or several depends on the namespace of the release; add --namespace", s.hostname, g))
		return
	case s.object.Namespace == holder.namespace:
		r.verdict(s.claim, accept(s.listener))
		return
	}
	r.verdict(s.claim, lost(g, s.hostname, holder.namespace))
	r.find(Warning, CodeLostRace, s.object, fmt.Sprintf("%s belongs to namespace %s, and listener %s admits this route all the same, since it serves more namespaces; drop the hostname here", s.hostname, holder.namespace, s.listener))
}

func lost(g *gateway, hostname, holder string) answer {
	return refuse(ReasonHostnameConflict, "%s of %s belongs to namespace %s; drop the hostname here, or there", hostname, g, holder)
}

// holder returns the namespace that a hostname belongs to, and whether others
// claim it too. The one that held it before keeps it; a free name goes to
// priority namespaces first, then to the oldest claim, then by namespace and
// name. Claims of one namespace never conflict.
func (g *gateway) holder(hostname string, claims []claim) (namespace string, contested bool) {
	if g.policy.HostnameOwnership != OneNamespace || len(claims) == 0 {
		return "", false
	}
	ranked := slices.SortedFunc(slices.Values(claims), func(a, b claim) int {
		return cmp.Or(
			cmp.Compare(g.rank(hostname, a.object), g.rank(hostname, b.object)),
			compareAge(a.object, b.object),
			cmp.Compare(a.object.Namespace, b.object.Namespace),
			cmp.Compare(a.object.Name, b.object.Name))
	})
	namespace = ranked[0].object.Namespace
	if held := g.Holders[hostname]; held != "" {
		namespace = held // also while its claim is only just gone: the caller knows how long
	}
	return namespace, slices.ContainsFunc(ranked, func(c claim) bool { return c.object.Namespace != namespace })
}

func (g *gateway) rank(hostname string, m *Meta) int {
	switch {
	case g.Holders[hostname] == m.Namespace && m.Namespace != "":
		return 0
	case slices.ContainsFunc(g.policy.PriorityNamespaces, func(pattern string) bool {
		matched, err := path.Match(pattern, m.Namespace)
		return err == nil && matched
	}):
		return 1
	}
	return 2
}

// own decides the race for a terminate listener and narrows it to the
// namespace that the hostname belongs to. It returns the claims that are left.
// A release sees only its own claims, so where several of its namespaces claim
// a name nobody can say whose it is.
func (r *run) own(g *gateway, s slot, w *wanted) (owner string, kept *wanted) {
	if g.policy.HostnameOwnership != OneNamespace {
		return "", w
	}
	all := r.rivals(g, s.hostname)
	owner, contested := g.holder(s.hostname, all)
	if !contested && !slices.ContainsFunc(w.all(), func(c claim) bool { return c.object.Namespace != owner }) {
		return owner, w
	}
	if c := withoutNamespace(all); c != nil {
		r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether %s of %s is claimed from one namespace or several depends on the namespace of the release", s.hostname, g)))
		return owner, &wanted{}
	}
	if !r.snapshot.Complete {
		r.answerAll(w.all(), refuse(ReasonHostnameConflict, "%s belongs to one namespace, and this release claims it from several (%s); claim it from one", s.hostname, strings.Join(namespacesOf(all), ", ")))
		return owner, &wanted{}
	}
	kept = &wanted{}
	for _, c := range w.all() {
		switch {
		case c.object.Namespace != owner:
			r.verdict(c, lost(g, s.hostname, owner))
		case c.certificate != nil:
			kept.certificates = append(kept.certificates, c)
		default:
			kept.routes = append(kept.routes, c)
		}
	}
	return owner, kept
}

// answerAll gives several claims one answer.
func (r *run) answerAll(claims []claim, a answer) {
	for _, c := range claims {
		r.verdict(c, a)
	}
}

// withoutNamespace returns a claim whose namespace is not known, or nil.
func withoutNamespace(claims []claim) *claim {
	i := slices.IndexFunc(claims, func(c claim) bool { return c.object.Namespace == "" })
	if i < 0 {
		return nil
	}
	return &claims[i]
}

func namespacesOf(claims []claim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, orNone(c.object.Namespace))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// narrowed admits only the namespace that a hostname belongs to.
func (r *run) narrowed(g *gateway, owner string) map[string]any {
	return r.fromList(g, []string{owner})
}
