package engine

import (
	"fmt"
	"slices"
)

// refusedBy are the refused verdicts by kind and name of the parent, sorted.
type refusedBy map[string]map[ObjectName][]*Verdict

// refusedClaims says of what goes for want of a claim that there is one, and why
// that is refused, so that nobody looks for a route that has gone. The verdicts
// are sorted.
func (r *run) refusedClaims() {
	refused := refusedBy{KindGateway: {}, KindListenerSet: {}}
	for i := range r.verdicts {
		v := &r.verdicts[i]
		if parents := refused[v.Parent.Kind]; parents != nil && v.refused() {
			name := ObjectName{v.Parent.Namespace, v.Parent.Name}
			parents[name] = append(parents[name], v)
		}
	}
	for i := range r.gatewayPlans {
		refused.explain(KindGateway, &r.gatewayPlans[i], r.unclaimed())
	}
	for i := range r.listenerSetPlans {
		refused.explain(KindListenerSet, &r.listenerSetPlans[i], r.unclaimed())
	}
	for i := range r.certificates {
		if c := &r.certificates[i]; c.Action == Remove && c.Reason == r.unclaimed() {
			refused.explainCertificate(c)
		}
	}
}

// explain gives the listeners that go for want of a claim the refusal of theirs.
func (refused refusedBy) explain(kind string, g *GatewayPlan, unclaimed string) {
	for i := range g.Listeners {
		l := &g.Listeners[i]
		if l.Action != Remove || l.Reason != unclaimed || l.Hostname == "" {
			continue
		}
		l.Refusal = refused.says(kind, ObjectName{g.Namespace, g.Name}, func(v *Verdict) bool {
			return Covers(l.Hostname, v.Hostname) && (l.Protocol == "TLS") == (v.Kind == KindTLSRoute)
		})
		if l.Refusal != "" {
			l.Reason = l.Refusal
		}
	}
}

func (refused refusedBy) explainCertificate(c *CertificatePlan) {
	kind, parent := KindGateway, c.Gateway
	if c.ListenerSet.Name != "" {
		kind, parent = KindListenerSet, c.ListenerSet
	}
	why := refused.says(kind, parent, func(v *Verdict) bool { return v.Kind != KindTLSRoute && slices.Contains(c.DNSNames, v.Hostname) })
	if why != "" {
		c.Reason = why
	}
}

// says names the first claim that asks for something of a parent and is refused,
// and why; "" for none.
func (refused refusedBy) says(kind string, parent ObjectName, asks func(*Verdict) bool) string {
	verdicts := refused[kind][parent]
	i := slices.IndexFunc(verdicts, asks)
	if i < 0 {
		return ""
	}
	v := verdicts[i]
	return fmt.Sprintf("%s %s asks for %s, and is refused (%s): %s", v.Kind, placedName(v.Namespace, v.Name), v.Hostname, v.Reason, v.Message)
}
