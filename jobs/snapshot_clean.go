package jobs

import (
	"maps"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// clean drops from an object, in place, what the engine does not read: it is
// large, or other people's business.
func clean(object map[string]any) {
	cleanMetadata(object)
	spec, _ := object["spec"].(map[string]any)
	isOurs := metadataOf(object, "labels")[engine.LabelFor] != nil
	switch object["kind"] {
	case engine.KindCertificate:
		cleanKeystores(spec)
		cleanStatus(object)
		return
	case engine.KindGateway, engine.KindListenerSet:
		cleanListenerStatus(object)
		return
	case engine.KindIssuer, engine.KindClusterIssuer:
		object["spec"] = cleanIssuer(spec)
	case engine.KindHTTPRoute, engine.KindGRPCRoute, engine.KindTLSRoute:
		if !isOurs {
			cleanRules(spec)
		}
	}
	delete(object, "status")
}

// cleanMetadata keeps of managedFields those that tell who owns a spec that the
// sweep may own.
func cleanMetadata(object map[string]any) {
	meta, _ := object["metadata"].(map[string]any)
	entries, _ := meta["managedFields"].([]any)
	delete(meta, "managedFields")
	isShared := slices.Contains([]any{engine.KindGateway, engine.KindListenerSet, engine.KindCertificate}, object["kind"])
	if !isShared && metadataOf(object, "labels")[engine.LabelFor] == nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(entry any) bool {
		fields, _ := entry.(map[string]any)
		return fields["subresource"] != nil
	})
	if len(entries) > 0 {
		meta["managedFields"] = entries
	}
}

// cleanStatus keeps the conditions alone.
func cleanStatus(object map[string]any) {
	status, _ := object["status"].(map[string]any)
	delete(object, "status")
	if conditions := status["conditions"]; conditions != nil {
		object["status"] = map[string]any{"conditions": conditions}
	}
}

// cleanListenerStatus keeps the conditions of listeners alone: they say which one
// serves.
func cleanListenerStatus(object map[string]any) {
	status, _ := object["status"].(map[string]any)
	delete(object, "status")
	list, _ := status["listeners"].([]any)
	kept := []any{}
	for _, entry := range list {
		if l, ok := entry.(map[string]any); ok {
			kept = append(kept, keepFields(l, "name", "conditions"))
		}
	}
	if len(kept) > 0 {
		object["status"] = map[string]any{"listeners": kept}
	}
}

// cleanKeystores drops passwords that stand in the Certificate itself.
func cleanKeystores(spec map[string]any) {
	keystores, _ := spec["keystores"].(map[string]any)
	for _, store := range keystores {
		if fields, ok := store.(map[string]any); ok {
			delete(fields, "password")
		}
	}
}

// cleanIssuer keeps which solvers an issuer has, but not their settings, where
// people put credentials.
func cleanIssuer(spec map[string]any) map[string]any {
	kept := map[string]any{}
	if ca, ok := spec["ca"].(map[string]any); ok {
		kept["ca"] = keepFields(ca, "secretName")
	}
	acme, ok := spec["acme"].(map[string]any)
	if !ok {
		return kept
	}
	keptACME := keepFields(acme, "server")
	if solvers, ok := acme["solvers"].([]any); ok {
		var all []any
		for _, solver := range solvers {
			fields, _ := solver.(map[string]any)
			only := keepFields(fields, "http01", "dns01")
			for name := range only {
				only[name] = map[string]any{}
			}
			all = append(all, only)
		}
		keptACME["solvers"] = all
	}
	kept["acme"] = keptACME
	return kept
}

// cleanRules keeps of a route's rules where they forward and redirect to. The
// headers that they match and set may be secrets.
func cleanRules(spec map[string]any) {
	rules, _ := spec["rules"].([]any)
	for i, rule := range rules {
		fields, _ := rule.(map[string]any)
		kept := keepFields(fields, "name", "backendRefs", "filters")
		keepItems(kept, "backendRefs", "group", "kind", "namespace", "name", "port", "weight")
		keepItems(kept, "filters", "type", "requestRedirect")
		rules[i] = kept
	}
}

// keepItems keeps the fields named of each item of a list.
func keepItems(object map[string]any, list string, fields ...string) {
	items, _ := object[list].([]any)
	for i, item := range items {
		if values, ok := item.(map[string]any); ok {
			items[i] = keepFields(values, fields...)
		}
	}
}

// keepFields is a copy with the fields named, as far as there are.
func keepFields(object map[string]any, fields ...string) map[string]any {
	kept := maps.Clone(object)
	maps.DeleteFunc(kept, func(field string, _ any) bool { return !slices.Contains(fields, field) })
	if kept == nil {
		kept = map[string]any{}
	}
	return kept
}
