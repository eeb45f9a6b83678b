package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// nobody says what a route would get if it asked. The engine is asked, with
// such a route added, so that the answer is the one that the owner will see.
func (e *explanation) nobody(in *input, hostname string) error {
	e.line(plainTone, "", "nobody asks for it"+in.whereRead())
	for _, g := range slices.Concat(in.snapshot.Gateways, in.snapshot.ListenerSets) {
		if g.Known {
			continue
		}
		trial := in.snapshot
		route := &engine.Route{
			Meta:      engine.Meta{Kind: engine.KindHTTPRoute, Namespace: g.Namespace, Implicit: g.Implicit, Name: trialName},
			Hostnames: []string{hostname},
			Parents:   []engine.ParentRef{{Group: engine.GatewayGroup, Kind: g.Kind, Namespace: g.Namespace, Name: g.Name}},
		}
		trial.Routes = append(trial.Routes[:len(trial.Routes):len(trial.Routes)], route)
		plan, err := engine.Compute(&trial, in.policies)
		if err != nil {
			return err
		}
		e.trial(plan, g)
	}
	if len(in.snapshot.Gateways)+len(in.snapshot.ListenerSets) == 0 {
		e.line(plainTone, "  ", "and there is no Gateway in the input that could serve it; give the manifest of the Gateway too (-f)")
	}
	return nil
}

// whereRead says of a snapshot of some namespaces that it is one, or is "".
func (in *input) whereRead() string {
	only := slices.Compact(slices.Sorted(slices.Values(in.snapshot.ReadNamespaces)))
	if !in.snapshot.Complete || len(only) == 0 {
		return ""
	}
	word := "namespaces"
	if len(only) == 1 {
		word = "namespace"
	}
	return fmt.Sprintf(" in the %s %s; others were not read", word, strings.Join(only, ", "))
}

// trialName cannot be the name of a route that exists.
const trialName = "(trial)"

// trial says what the route gets, and what is found because of it.
func (e *explanation) trial(plan *engine.Plan, g *engine.Gateway) {
	asked := explanation{plan: plan, look: e.look}
	asked.text.WriteString("\n")
	asked.line(plainTone, "", fmt.Sprintf("if an HTTPRoute beside %s%s asked for it:", g, inSource(g.Source)))
	for _, v := range plan.Verdicts {
		if v.Name == trialName {
			asked.outcome(v)
		}
	}
	asked.newFindings(e.plan, g)
	e.text.WriteString(asked.text.String())
}

// newFindings writes what the plan before did not find, and what keeps the Gateway
// from serving anybody.
func (e *explanation) newFindings(before *engine.Plan, g *engine.Gateway) {
	for _, f := range tellable(e.plan.Findings) {
		if !slices.Contains(before.Findings, f) || (f.Object == g.String() && isAboutAll(f)) {
			e.line(warnTone, "  ", f.Code+": "+f.Message)
		}
	}
}
