package engine

import (
	"slices"
)

// allowedRoutes is the policy's attach, made once for all listeners.
func (r *run) allowedRoutes(g *gateway) map[string]any {
	if g.allowed == nil {
		g.allowed = r.admitted(g)
	}
	return g.allowed
}

// admitted is the policy's attach with every default spelled out: two field
// managers that write it must write the same. Kinds are left out, so that all
// listeners of a port take the same ones.
func (r *run) admitted(g *gateway) map[string]any {
	switch attach := g.policy.Attach; attach.From {
	case FromAll:
		return fromNamespaces(FromAll, nil)
	case FromList:
		return r.fromList(g, attach.Namespaces)
	case FromSelector:
		return fromNamespaces(FromSelector, jsonMap(attach.Selector))
	}
	return fromNamespaces(FromSame, nil)
}

// fromList admits the namespaces of a list: Same where that is only the
// parent's own.
func (r *run) fromList(g *gateway, namespaces []string) map[string]any {
	sorted := slices.Compact(slices.Sorted(slices.Values(namespaces)))
	if len(sorted) == 1 {
		switch sameNamespace(sorted[0], g.Namespace) {
		case yes:
			return fromNamespaces(FromSame, nil)
		case unknown:
			r.errs = append(r.errs, r.needNamespace(&g.Meta, "whether its listeners admit its own namespace or another depends on the namespace of the release"))
		}
	}
	values := make([]any, len(sorted))
	for i, namespace := range sorted {
		values[i] = namespace
	}
	return fromNamespaces(FromSelector, map[string]any{"matchExpressions": []any{
		map[string]any{"key": metadataName, "operator": "In", "values": values},
	}})
}

func fromNamespaces(from string, selector map[string]any) map[string]any {
	namespaces := map[string]any{"from": from}
	if selector != nil {
		namespaces["selector"] = selector
	}
	return map[string]any{"namespaces": namespaces}
}
