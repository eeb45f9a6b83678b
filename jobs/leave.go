package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// leave takes all that is the sweep's out of the Gateways that the options name,
// whoever uses it: first the redirects, which would lead nowhere, then the
// listeners and the annotation state. Certificates stay; the report names them.
//
// It applies as our field manager owns things and no other program could: an
// apply by kubectl under our name would first take over all that kubectl wrote.
func (s *sweep) leave(ctx context.Context) {
	for _, name := range s.options.Leave {
		if s.reading.Gateways[name] == nil {
			s.report.problem(fmt.Sprintf("Gateway %s/%s", name.Namespace, name.Name), "it was not read, so nothing of it is taken out; see whether it is there, and whether --namespaces leaves it out")
			continue
		}
		s.leaveRedirects(ctx, name)
		namespaces := map[string]bool{}
		for _, p := range s.reading.liveParents() {
			if p.gateway() == name {
				namespaces[p.source.Namespace] = true
				p.plan = p.withoutOurs()
				s.leaveParent(ctx, p)
			}
		}
		s.leftCertificates(name, namespaces)
		if len(s.options.Namespaces) > 0 {
			s.report.note(fmt.Sprintf("ListenerSets of Gateway %s/%s in namespaces that were not read are left as they are", name.Namespace, name.Name))
		}
		for _, plan := range s.plan.Gateways {
			if plan.Namespace == name.Namespace && plan.Name == name.Name {
				s.report.note(fmt.Sprintf("Gateway %s/%s still has a policy, by which the next sweep adds its listeners again", name.Namespace, name.Name))
			}
		}
	}
}

// withoutOurs is the plan in which all of our listeners go.
func (p *parent) withoutOurs() *engine.GatewayPlan {
	plan := &engine.GatewayPlan{Namespace: p.source.Namespace, Name: p.source.Name}
	for i := range p.source.Listeners {
		if l := &p.source.Listeners[i]; p.ours(l) {
			plan.Listeners = append(plan.Listeners, engine.Listener{
				Name: l.Name, Hostname: l.Hostname, Port: l.Port, Protocol: l.Protocol, Mode: l.TLSMode,
				Action: engine.Remove, Reason: "the sweep leaves its Gateway",
			})
		}
	}
	return plan
}

func (s *sweep) leaveParent(ctx context.Context, p *parent) {
	if !p.source.KnowsRendered() {
		s.report.problem(p.source.String(), "annotation "+engine.AnnotationRendered+" cannot be read, so nobody knows which listeners are the release's, and none is taken out; render the chart again, or run the version that wrote it")
		return
	}
	goes := map[string]bool{}
	for _, l := range p.plan.Listeners {
		goes[l.Name] = true
	}
	a := p.prepare(engine.State{}, goes, nil)
	if !a.pending {
		return
	}
	out, err := s.write(ctx, a)
	if errors.Is(err, errChanged) {
		err = fmt.Errorf("%w; run the same command again", err)
	}
	s.note(a, out, err)
}

// leaveRedirects removes the redirects of ours on a Gateway.
func (s *sweep) leaveRedirects(ctx context.Context, gateway engine.ObjectName) {
	resource, _ := s.reading.resource(engine.KindHTTPRoute)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	for _, route := range s.reading.Snapshot.Routes {
		name := engine.ObjectName{Namespace: route.Namespace, Name: route.Name}
		live, known := s.reading.HTTPRoutes[name]
		if !known || route.Kind != engine.KindHTTPRoute || !isOursFor(&route.Meta, route.Owned, gateway) {
			continue
		}
		err := s.unlessDry(func() error { return w.remove(ctx, resource, name, live) })
		s.report.removed(engine.KindHTTPRoute, name, "the sweep leaves its Gateway", err)
	}
}

// isOursFor says whether an object, whose spec our manager owns or not, was made
// by the sweep for a parent.
func isOursFor(m *engine.Meta, owned bool, parent engine.ObjectName) bool {
	return owned && m.Namespace == parent.Namespace && m.Labels[engine.LabelFor] == engine.ForLabel(parent.Name)
}

// leftCertificates notes the Certificates of ours that stay, of a Gateway and of
// its ListenerSets, beside which theirs are.
func (s *sweep) leftCertificates(gateway engine.ObjectName, namespaces map[string]bool) {
	names := map[string][]string{}
	for _, c := range s.reading.Snapshot.Certificates {
		beside := engine.ObjectName{Namespace: c.Namespace, Name: gateway.Name}
		if namespaces[c.Namespace] && isOursFor(&c.Meta, c.Owned, beside) {
			names[c.Namespace] = append(names[c.Namespace], c.Name)
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[namespace])
		s.report.note(fmt.Sprintf("Certificates that stay; once nothing uses them: kubectl delete certificate -n %s %s", namespace, strings.Join(names[namespace], " ")))
	}
}
