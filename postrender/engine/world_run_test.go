package engine

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

func (w *world) snapshot(objects []map[string]any) *Snapshot {
	s := &Snapshot{Complete: w.complete}
	for _, object := range objects {
		if err := s.Decode(object, Origin{Namespace: w.release, Known: w.known[keyOf(object)]}); err != nil {
			panic(err)
		}
	}
	s.ServicesUnread = w.complete && w.unread
	for _, c := range s.Certificates {
		c.Owned, c.Ready = c.Owned || w.owned[c.String()], c.Ready || w.isReady(c.String())
	}
	for _, route := range s.Routes {
		route.Owned = route.Owned || w.owned[route.String()]
	}
	for _, g := range slices.Concat(s.Gateways, s.ListenerSets) {
		g.Quotas = w.quotas
		g.Holders, g.Yielded = w.holdersOf(g), w.yielded
		for i := range g.Listeners {
			g.Listeners[i].Owned = w.owned[g.String()+" "+g.Listeners[i].Name]
		}
	}
	return s
}

// holdersOf is what a sweep remembers of who holds the hostnames of a parent.
func (w *world) holdersOf(g *Gateway) map[string]string {
	holders := map[string]string{}
	maps.Copy(holders, w.holders)
	for key, namespace := range w.held {
		if hostname, of := strings.CutPrefix(key, g.String()+" "); of {
			holders[hostname] = namespace
		}
	}
	return holders
}

func (w *world) compute(objects []map[string]any) (*Plan, error) {
	return Compute(w.snapshot(objects), w.policies)
}

// planBytes is all that a plan says.
func planBytes(plan *Plan) string {
	data, err := json.MarshalIndent(plan, "", " ")
	if err != nil {
		panic(err)
	}
	objects := []any{string(data)}
	for _, g := range slices.Concat(plan.Gateways, plan.ListenerSets) {
		objects = append(objects, g.Rendered)
	}
	for _, object := range madeBy(plan) {
		objects = append(objects, object)
	}
	return fmt.Sprint(objects...)
}

// madeBy returns the whole objects of a plan, but for those that go.
func madeBy(plan *Plan) []map[string]any {
	var out []map[string]any
	for _, c := range plan.Certificates {
		if c.Action != Remove {
			out = append(out, c.Object())
		}
	}
	for _, g := range plan.Grants {
		if g.Action != Remove {
			out = append(out, g.Object())
		}
	}
	for _, r := range plan.Redirects {
		if r.Action != Remove {
			out = append(out, r.Object())
		}
	}
	return out
}

// parentPlan returns what is planned for a Gateway or ListenerSet, or nil.
func parentPlan(plan *Plan, object map[string]any) *GatewayPlan {
	plans := map[any][]GatewayPlan{KindGateway: plan.Gateways, KindListenerSet: plan.ListenerSets}[object["kind"]]
	for i := range plans {
		if plans[i].Name == metadata(object)["name"] && plans[i].Namespace == metadata(object)["namespace"] {
			return &plans[i]
		}
	}
	return nil
}

// listenersOf returns the listeners that an object has, those that it has
// after the plan, and what was planned.
func listenersOf(plan *Plan, object map[string]any) (before, after []map[string]any, planned *GatewayPlan) {
	spec, _ := object["spec"].(map[string]any)
	list, _ := spec["listeners"].([]any)
	for _, l := range list {
		before = append(before, l.(map[string]any))
	}
	if planned = parentPlan(plan, object); planned == nil {
		return before, before, nil
	}
	for _, l := range before {
		if !slices.ContainsFunc(planned.Listeners, func(p Listener) bool { return p.Name == l["name"] }) {
			after = append(after, l)
		}
	}
	for _, l := range planned.Listeners {
		if l.Action != Remove {
			after = append(after, l.Object())
		}
	}
	return before, after, planned
}

// apply carries out a plan on the objects of the world, as a render does or, in
// a whole cluster, the sweep.
func (w *world) apply(plan *Plan) []map[string]any {
	gone := map[string]bool{}
	for _, c := range plan.Certificates {
		gone[keyOf(objectAt(KindCertificate, c.Placed))] = c.Action != Keep
	}
	for _, g := range plan.Grants {
		gone[keyOf(objectAt(KindGrant, g.Placed))] = g.Action != Keep
	}
	for _, r := range plan.Redirects {
		gone[keyOf(objectAt(KindHTTPRoute, r.Placed))] = r.Action != Keep
	}
	var out []map[string]any
	present := map[string]bool{}
	for _, object := range w.objects {
		if key := keyOf(object); !gone[key] {
			present[key] = true
			out = append(out, w.applyParent(plan, object))
		}
	}
	for _, object := range madeBy(plan) {
		if !present[keyOf(object)] {
			out = append(out, object)
			w.owned[keyOf(object)], w.fresh[keyOf(object)] = w.complete, true
		}
	}
	return out
}

// isReady says whether a Certificate holds a certificate: all of them, none, or
// some that the seed decides; none that was made only just now.
func (w *world) isReady(key string) bool {
	if w.ready < 2 || w.fresh[key] {
		return w.ready == 1 && !w.fresh[key]
	}
	sum := fnv.New32()
	fmt.Fprint(sum, w.ready, key)
	return sum.Sum32()%2 == 0
}

func objectAt(kind string, at Placed) map[string]any {
	return map[string]any{"kind": kind, "metadata": map[string]any{"name": at.Name, "namespace": at.Namespace}}
}

func (w *world) applyParent(plan *Plan, object map[string]any) map[string]any {
	_, after, planned := listenersOf(plan, object)
	if planned == nil || w.known[keyOf(object)] {
		return object
	}
	object = jsonMap(object)
	annotations, _ := metadata(object)["annotations"].(map[string]any)
	if !w.complete {
		metadata(object)["annotations"] = with(annotations, AnnotationRendered, planned.Rendered)
	}
	key := fmt.Sprintf("%s %s/%s ", object["kind"], planned.Namespace, planned.Name)
	for _, l := range planned.Listeners {
		if w.complete {
			w.owned[key+l.Name] = l.Action != Remove
		}
		if w.complete && w.held != nil && l.Action != Remove && l.Holder != "" {
			w.held[key+l.Hostname] = l.Holder
		}
	}
	list := []any{}
	for _, l := range after {
		list = append(list, l)
	}
	object["spec"] = with(object["spec"].(map[string]any), "listeners", list)
	return object
}
