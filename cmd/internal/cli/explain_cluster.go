package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// there says who asks for the hostname in the cluster, if anybody does, and what a
// sweep makes of it: the manifests beside it are one release, which serves itself.
func (e *explanation) there(in *input, hostname string) (bool, error) {
	plan, err := in.cluster.compute()
	if err != nil {
		return false, err
	}
	live := explanation{plan: plan, look: e.look}
	if !live.all(in.cluster, hostname) {
		return false, nil
	}
	e.text.WriteString("\n")
	e.line(plainTone, "", "In the cluster, where the sweep serves it:")
	e.text.WriteString(live.text.String())
	return true, nil
}

// unclaimed tells of listeners for the hostname that no claim has, which are stale,
// and of their Certificates. The reasons say since when, and when they go.
func (e *explanation) unclaimed(in *input, hostname string, served map[string]bool) bool {
	found := false
	for _, parents := range []struct {
		kind string
		all  []engine.GatewayPlan
	}{{engine.KindGateway, e.plan.Gateways}, {engine.KindListenerSet, e.plan.ListenerSets}} {
		for _, g := range parents.all {
			of := parents.kind + " " + qualified(g.Namespace, g.Name)
			for _, l := range g.Listeners {
				if !isHostname(l.Hostname, hostname) || served[of+" "+l.Name] {
					continue
				}
				e.stale(fmt.Sprintf("listener %s of %s (%s)", l.Name, of, l.Action), l.Reason+in.mark(of, l))
				found = true
			}
		}
	}
	for _, c := range e.plan.Certificates {
		named := slices.ContainsFunc(c.DNSNames, func(name string) bool { return isHostname(name, hostname) })
		if named && (found || c.Action == engine.Remove) {
			e.stale(fmt.Sprintf("Certificate %s (%s)", qualified(c.Namespace, c.Name), c.Action), c.Reason)
			found = true
		}
	}
	return found
}

// grace says, behind a semicolon, that what a plan of a cluster removes does not go
// at once, if there is such a thing.
func (in *input) grace(plan *engine.Plan) string {
	goes := slices.ContainsFunc(plan.Certificates, func(c engine.CertificatePlan) bool { return c.Action == engine.Remove })
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		goes = goes || slices.ContainsFunc(g.Listeners, func(l engine.Listener) bool { return l.Action == engine.Remove && !l.Immediate })
	}
	if !in.snapshot.Complete || !goes {
		return ""
	}
	return fmt.Sprintf("; a sweep removes what has been stale for %s (--grace)", sweepGrace)
}

// mark says since when a listener of a cluster is stale, behind a semicolon.
func (in *input) mark(parent string, l engine.Listener) string {
	if !in.snapshot.Complete || l.Action != engine.Remove {
		return ""
	}
	for _, g := range slices.Concat(in.snapshot.Gateways, in.snapshot.ListenerSets) {
		if g.Meta.String() != parent {
			continue
		}
		state, _ := engine.ParseState(g.Annotations[engine.AnnotationState])
		if since, marked := state.Stale[l.Name]; marked {
			return fmt.Sprintf("; stale since %s, and goes in the first sweep after %s (with --grace %s, the default)",
				since.UTC().Format(time.RFC3339), since.Add(sweepGrace).UTC().Format(time.RFC3339), sweepGrace)
		}
		return "; the next sweep marks it as stale"
	}
	return ""
}

func (e *explanation) stale(what, reason string) {
	e.text.WriteString("\n")
	e.line(plainTone, "", what)
	e.line(warnTone, "  ", reason)
}

// computed says whether an object is a Certificate that gatewright makes, which
// asks for nothing.
func (e *explanation) computed(m *engine.Meta) bool {
	return m.Kind == engine.KindCertificate && slices.ContainsFunc(e.plan.Certificates, func(c engine.CertificatePlan) bool {
		return c.Namespace == m.Namespace && c.Name == m.Name
	})
}
