package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// scenarioResult is what a run gave.
type scenarioResult struct {
	given   *scenarioGiven
	objects []map[string]any
	plan    *Plan
	err     error
}

func (g *scenarioGiven) compute(t testing.TB, left leftBehind) *scenarioResult {
	t.Helper()
	r := &scenarioResult{given: g, objects: g.objects(left)}
	r.plan, r.err = r.again(r.objects)
	return r
}

// again runs the engine on the objects as the cluster would hold them: what
// stands on the Gateway is ours.
func (r *scenarioResult) again(objects []map[string]any) (*Plan, error) {
	snapshot := &Snapshot{Complete: !r.given.Partial}
	for _, object := range objects {
		if err := snapshot.Decode(jsonMap(object), Origin{}); err != nil {
			return nil, err
		}
	}
	for i := range snapshot.Gateways[0].Listeners {
		snapshot.Gateways[0].Listeners[i].Owned = true
	}
	ownAll(snapshot)
	file := &PolicyFile{Name: "policy.yaml", Gateways: []PolicyEntry{{Keys: r.given.Config.policy()}}}
	plan, err := Compute(snapshot, PolicySources{File: file})
	if err != nil || plan.Gateways[0].Frozen == "" {
		return plan, err
	}
	i := slices.IndexFunc(plan.Findings, func(f Finding) bool { return f.Code == CodeKeptAsIs })
	return nil, errors.New(plan.Findings[i].Message)
}

// ownAll makes the Certificates and redirects the sweep's own, and ready.
func ownAll(snapshot *Snapshot) {
	for _, c := range snapshot.Certificates {
		c.Owned, c.Ready = true, true
	}
	for _, route := range snapshot.Routes {
		route.Owned = true
	}
}

// apply returns what is there once the plan is carried out.
func (r *scenarioResult) apply() leftBehind {
	var left leftBehind
	for _, l := range r.listeners() {
		left.listeners = append(left.listeners, l.Object())
	}
	for _, c := range r.plan.Certificates {
		if c.Action != Remove {
			left.objects = append(left.objects, c.Object())
		}
	}
	for _, redirect := range r.plan.Redirects {
		if redirect.Action != Remove {
			left.objects = append(left.objects, redirect.Object())
		}
	}
	return left
}

// listeners returns those that the plan has.
func (r *scenarioResult) listeners() []Listener {
	return slices.DeleteFunc(slices.Clone(r.plan.Gateways[0].Listeners), func(l Listener) bool { return l.Action == Remove })
}

// listenerLines prints the listeners of the plan but the plain one.
func (r *scenarioResult) listenerLines() []string {
	var out []string
	for _, l := range r.listeners() {
		if l.Name == PlainListenerName {
			continue
		}
		line := listenerID(&l) + " from " + r.admitted(&l)
		if r.given.Config.Secret != "" && l.Mode == "Terminate" {
			line += " with " + secretOf(&l)
		}
		out = append(out, line)
	}
	return out
}

func listenerID(l *Listener) string {
	id := fmt.Sprintf("%s:%d", l.Hostname, l.Port)
	if l.Protocol == "TLS" {
		id = l.Name + " " + id
	}
	return l.Protocol + " " + id
}

// admitted reads the namespaces from the listener's manifest.
func (r *scenarioResult) admitted(l *Listener) string {
	names := admittedBy(l)
	switch {
	case slices.Equal(names, []string{scenarioNamespace}):
		return "own"
	case slices.Equal(names, r.given.Config.attached()):
		return "attached"
	}
	return strings.Join(names, "+")
}

func admittedBy(l *Listener) []string {
	namespaces := jsonMap(l.Object())["allowedRoutes"].(map[string]any)["namespaces"].(map[string]any)
	selector, selects := namespaces["selector"].(map[string]any)
	switch {
	case namespaces["from"] == "Same" && !selects:
		return []string{scenarioNamespace}
	case namespaces["from"] != "Selector" || len(selector) != 1:
		return []string{mustJSON(namespaces)}
	}
	expressions := selector["matchExpressions"].([]any)
	first := expressions[0].(map[string]any)
	if len(expressions) != 1 || first["key"] != "kubernetes.io/metadata.name" || first["operator"] != "In" {
		return []string{mustJSON(namespaces)}
	}
	var names []string
	for _, value := range first["values"].([]any) {
		names = append(names, value.(string))
	}
	slices.Sort(names)
	return names
}

func secretOf(l *Listener) string {
	tls, _ := jsonMap(l.Object())["tls"].(map[string]any)
	refs, _ := tls["certificateRefs"].([]any)
	if len(refs) != 1 {
		return fmt.Sprintf("(%d Secrets)", len(refs))
	}
	ref := refs[0].(map[string]any)
	if ref["group"] != "" || ref["kind"] != KindSecret || ref["namespace"] != nil {
		return mustJSON(ref)
	}
	return ref["name"].(string)
}

func (r *scenarioResult) certs() [][]string {
	var out [][]string
	for _, c := range r.plan.Certificates {
		if c.Action != Remove {
			out = append(out, c.DNSNames)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// verdicts gives each route and parentRef one word, or one for each hostname
// where they differ.
func (r *scenarioResult) verdicts() map[string]any {
	words := map[string]map[string]any{}
	for _, v := range r.plan.Verdicts {
		if v.Kind == KindGateway {
			continue // an entry of passthrough
		}
		for _, route := range r.routesOf(&v) {
			if words[route] == nil {
				words[route] = map[string]any{}
			}
			words[route][v.Hostname] = v.Reason
		}
	}
	out := map[string]any{}
	for route, byHostname := range words {
		reasons := slices.Collect(maps.Values(byHostname))
		out[route] = reasons[0]
		if slices.ContainsFunc(reasons, func(reason any) bool { return reason != reasons[0] }) {
			out[route] = byHostname
		}
	}
	return out
}

// routesOf returns the key of the route and parentRef that a verdict is about.
func (r *scenarioResult) routesOf(v *Verdict) []string {
	key := strings.TrimSuffix(v.Kind, "Route")[:1] + " " + v.Namespace + "/" + v.Name
	for _, route := range r.given.Routes {
		if key != "H "+route.H && key != "T "+route.T {
			continue
		}
		var out []string
		for i, p := range route.Parents {
			if p == (scenarioParent{v.Parent.SectionName, v.Parent.Port}) {
				out = append(out, fmt.Sprintf("%s#%d", key, i+1))
			}
		}
		if route.Parents != nil {
			return out
		}
	}
	return []string{key}
}

// heard is all that the owner of a route is told.
func (r *scenarioResult) heard(route string) string {
	var b strings.Builder
	for _, v := range r.plan.Verdicts {
		if slices.Contains(r.routesOf(&v), route) {
			fmt.Fprintln(&b, v.Hostname, v.Reason, v.Listener, v.Message)
		}
	}
	kind := map[string]string{"H": KindHTTPRoute, "T": KindTLSRoute}[route[:1]]
	for _, f := range r.plan.Findings {
		if f.Object == kind+route[1:] {
			fmt.Fprintln(&b, f.Code, f.Message)
		}
	}
	return b.String()
}

func (r *scenarioResult) refusedOf(route string) []string {
	var out []string
	for _, v := range r.plan.Verdicts {
		if !v.Accepted && slices.Contains(r.routesOf(&v), route) {
			out = append(out, v.Hostname)
		}
	}
	return out
}

// changes lists what a plan does to what was there.
func (r *scenarioResult) changes() []string {
	var out []string
	note := func(action Action, what string) {
		if action != Keep {
			out = append(out, string(action)+" "+what)
		}
	}
	for _, l := range r.plan.Gateways[0].Listeners {
		note(l.Action, listenerID(&l))
	}
	first := len(out)
	for _, c := range r.plan.Certificates {
		note(c.Action, "Certificate "+strings.Join(c.DNSNames, ", "))
	}
	slices.Sort(out[first:])
	for _, redirect := range r.plan.Redirects {
		note(redirect.Action, "redirect")
	}
	return out
}

func mustJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}
