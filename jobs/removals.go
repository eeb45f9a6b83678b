package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/postrender/engine"
)

// A removal needs time, proof and permission. Time: the listener has been stale
// for the whole grace period, by the mark in the state. Proof: two full reads
// and plans agree. Permission: nothing of what holds removals back applies.

// breakerCount and breakerShare are what a run may remove of a parent's
// listeners of ours without being told so: no more than the count, or no more
// than the share.
const (
	breakerCount = 3
	breakerShare = 0.20
)

// removal is a listener that a plan takes away.
type removal struct {
	listener engine.Listener
	// held says why it stays for now, or is "".
	held string
	// refusal is of a listener that waits, although something asks for it.
	refusal string
}

// ripe says whether nothing holds the removal back.
func (r removal) ripe() bool { return r.held == "" }

// removals returns what the plan of a parent takes away, with what holds it
// back. The marks are those of the state of this run.
func (s *sweep) removals(p *parent, state engine.State) []removal {
	var out []removal
	why := s.heldBack(p)
	for _, l := range p.plan.Listeners {
		if l.Action != engine.Remove {
			continue
		}
		r := removal{listener: l}
		switch since := state.Stale[l.Name]; {
		case p.source.Yielded[l.Hostname] != "":
		case why != "":
			r.held = why
		case l.Immediate:
		case s.now.Sub(since) < s.options.Grace:
			r.held, r.refusal = staleUntil(since, s.options.Grace), l.Refusal
		default:
			r.held = s.unproven(p, l, state)
		}
		out = append(out, r)
	}
	return s.breaker(p, out)
}

// staleUntil says since when something is stale, and when it may go.
func staleUntil(since time.Time, grace time.Duration) string {
	return fmt.Sprintf("stale since %s, %s", since.UTC().Format(time.RFC3339), goesAfter(since, grace))
}

// goesAfter says when something may go that is stale since a time.
func goesAfter(since time.Time, grace time.Duration) string {
	return "goes after " + since.Add(grace).UTC().Format(time.RFC3339)
}

// unproven says why the absence of claims for one listener is not proven.
func (s *sweep) unproven(p *parent, l engine.Listener, state engine.State) string {
	if kind := s.unservedOf(state.Claimants[l.Name]); kind != "" {
		return fmt.Sprintf("%ss claimed it, and the server %s that kind now", kind, unserved)
	}
	source := p.listener(l.Name)
	if s.options.Namespaces != nil && !admitsOnly(source, p.source.Namespace, s.options.Namespaces) {
		return "it admits namespaces that are not read"
	}
	return ""
}

// lostNamespace says that a namespace which was asked for by name, and is not
// there, holds objects all the same, or "". One of the answers is wrong; without
// its labels, claims from it may not be admitted.
func (s *sweep) lostNamespace() string {
	snapshot := s.reading.Snapshot
	found := map[string]bool{}
	for _, n := range snapshot.Namespaces {
		found[n.Name] = true
	}
	var objects []engine.Meta
	for _, g := range slices.Concat(snapshot.Gateways, snapshot.ListenerSets) {
		objects = append(objects, g.Meta)
	}
	for _, r := range snapshot.Routes {
		objects = append(objects, r.Meta)
	}
	for _, c := range snapshot.Certificates {
		objects = append(objects, c.Meta)
	}
	for _, m := range objects {
		if s.options.Namespaces != nil && !found[m.Namespace] {
			return fmt.Sprintf("namespace %s %s: the server does not know it, and %s is in it", m.Namespace, unreadable, &m)
		}
	}
	return ""
}

// unservedOf returns the first of the kinds that the server does not serve, or "".
func (s *sweep) unservedOf(kinds []string) string {
	for _, kind := range kinds {
		if !s.reading.serves(kind) {
			return kind
		}
	}
	return ""
}

// admitsOnly says whether a listener admits routes of the listed namespaces at
// most.
func admitsOnly(l *engine.SourceListener, own string, namespaces []string) bool {
	admitted := l.Admits(own)
	return len(admitted) > 0 && !slices.ContainsFunc(admitted, func(n string) bool { return !slices.Contains(namespaces, n) })
}

// heldBack says why nothing of a parent is removed in this run, or "".
func (s *sweep) heldBack(p *parent) string {
	if s.unprovable != "" {
		return s.unprovable
	}
	if by := stateWriter(p.live.Managed); by != "" {
		return fmt.Sprintf("%s wrote annotation %s, so its marks prove nothing; remove the annotation", by, engine.AnnotationState)
	}
	if err := s.unread[p.source.String()]; err != nil {
		return unreadState(err)
	}
	if by, at := lastRelease(p.live.Managed); s.now.Sub(at) < s.options.Settle {
		return fmt.Sprintf("%s wrote it %s ago; removals wait for %s", by, s.now.Sub(at).Round(time.Second), s.options.Settle)
	}
	return s.heldByFlux(p)
}

func unreadState(err error) string {
	return err.Error() + "; nothing of it is removed until the annotation is removed or corrected"
}

// stateWriter returns the manager that owns the annotation state beside ours, or
// "". Marks that somebody else keeps in place are not the sweep's.
func stateWriter(managed []metav1.ManagedFieldsEntry) string {
	for _, entry := range managed {
		ours := entry.Manager == engine.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
		if !ours && entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+engine.AnnotationState+`"`) {
			return entry.Manager
		}
	}
	return ""
}

// heldByFlux leaves what a HelmRelease renders alone while that is suspended,
// at work, or cannot be asked.
func (s *sweep) heldByFlux(p *parent) string {
	name := engine.ObjectName{Namespace: p.source.Labels[fluxNamespace], Name: p.source.Labels[fluxName]}
	if name.Name == "" {
		return ""
	}
	release, found := s.reading.HelmReleases[name]
	switch {
	case !found && !s.reading.complete(kindHelmRelease):
		return fmt.Sprintf("HelmRelease %s/%s renders it and %s", name.Namespace, name.Name, unreadable)
	case release.Suspended:
		return fmt.Sprintf("HelmRelease %s/%s is suspended", name.Namespace, name.Name)
	case release.Reconciling:
		return fmt.Sprintf("HelmRelease %s/%s is reconciling", name.Namespace, name.Name)
	}
	return ""
}

// The labels that Flux puts on what a HelmRelease renders.
const (
	fluxName      = "helm.toolkit.fluxcd.io/name"
	fluxNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// breaker holds back the removals of a parent where there are so many at once
// that a mistake is likelier than that nobody wants them. What is displaced, or
// yielded, does not count.
func (s *sweep) breaker(p *parent, removals []removal) []removal {
	counts := func(r removal) bool { return r.ripe() && !r.listener.Immediate }
	stale, ours := 0, 0
	for _, r := range removals {
		if counts(r) {
			stale++
		}
	}
	for i := range p.source.Listeners {
		if p.ours(&p.source.Listeners[i]) {
			ours++
		}
	}
	if most := s.options.MaxRemovals; most > 0 && stale <= most || most == 0 && (stale <= breakerCount || float64(stale) <= breakerShare*float64(ours)) {
		return removals
	}
	for i, r := range removals {
		if counts(r) {
			removals[i].held = fmt.Sprintf("%s %d of %d listeners would go at once; look at them, then allow it by --max-removals %d", tripped, stale, ours, stale)
		}
	}
	return removals
}

// tripped begins the reason of what the circuit breaker holds back. The others
// are in the reasons of what is held back because nobody knows enough.
const (
	tripped    = "too many:"
	unreadable = "cannot be read"
	unserved   = "does not serve"
	undated    = "carry no date"
)

// needsSomebody says whether what holds a removal back is something that time
// alone does not mend.
func needsSomebody(held string) bool {
	return strings.HasPrefix(held, tripped) || strings.Contains(held, unreadable) || strings.Contains(held, unserved) || strings.Contains(held, undated) || held == unsteady
}

// nextState is what the sweep remembers of a parent after this plan: marks of
// listeners that have become stale, and none of those that are claimed again.
func (s *sweep) nextState(p *parent, before engine.State) engine.State {
	after := engine.State{
		Stale:     map[string]time.Time{},
		Claimants: map[string][]string{},
		Quotas:    map[string]string{},
		Holders:   map[string]engine.Holder{},
		Yields:    map[string]time.Time{},
	}
	held := map[string]string{}
	for _, l := range p.plan.Listeners {
		switch claimants := l.Claimants(); {
		case l.Action == engine.Remove && !l.Immediate:
			// Time counts only while claims would be seen: a definition that comes
			// back comes back without its objects.
			if s.unprovable == "" && s.unservedOf(before.Claimants[l.Name]) == "" {
				after.Stale[l.Name] = s.since(before, l.Name)
			}
			after.Claimants[l.Name] = before.Claimants[l.Name]
		default:
			after.Claimants[l.Name] = optionalKinds(claimants)
		}
		if namespace := cmp.Or(l.Namespace(), before.Quotas[l.Name]); namespace != "" && p.plan.Quota && !l.Immediate {
			after.Quotas[l.Name] = namespace
		}
		if l.Holder != "" {
			held[l.Hostname] = l.Holder
		}
	}
	maps.DeleteFunc(after.Claimants, func(_ string, kinds []string) bool { return len(kinds) == 0 })
	if p.plan.OneNamespace {
		s.nextHolders(p, before, held, after.Holders)
	}
	for hostname, text := range p.source.Yielded {
		if until, err := time.Parse(time.RFC3339, text); err == nil && !slices.Contains(p.plan.IdleYields, hostname) {
			after.Yields[hostname] = until
		}
	}
	return after
}

// since is when a listener became stale: now, unless it was before.
func (s *sweep) since(before engine.State, listener string) time.Time {
	if at, marked := before.Stale[listener]; marked {
		return at
	}
	return s.now.UTC().Truncate(time.Second)
}

// optionalKinds returns the kinds of claimants, which are "Kind namespace/name",
// that a cluster may do without: the sweep does not remove anything where
// HTTPRoutes or Certificates are not served.
func optionalKinds(claimants []string) []string {
	var kinds []string
	for _, claimant := range claimants {
		kind, _, _ := strings.Cut(claimant, " ")
		if kind == engine.KindGRPCRoute || kind == engine.KindTLSRoute {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
