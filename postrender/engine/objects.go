package engine

import (
	"maps"
)

// The objects of a plan as manifests: maps of strings, bools, numbers, []any
// and map[string]any. Every atomic list, and every default in it, is spelled
// out, so that two field managers that apply the same object do not conflict.

// Object returns the listener as an entry of spec.listeners.
func (l Listener) Object() map[string]any {
	if l.object != nil {
		return l.object
	}
	object := l.manifest()
	object["allowedRoutes"] = copyOf(l.AllowedRoutes)
	return object
}

// manifest is the listener with a part that it shares with others, for looking
// at.
func (l *Listener) manifest() map[string]any {
	object := map[string]any{
		"name":          l.Name,
		"port":          int64(l.Port),
		"protocol":      l.Protocol,
		"allowedRoutes": l.AllowedRoutes,
	}
	if l.Hostname != "" {
		object["hostname"] = l.Hostname
	}
	if tls := l.tls(); tls != nil {
		object["tls"] = tls
	}
	return object
}

// Secret names the Secret that a listener of ours ends TLS with. Its namespace is
// "" where it is the parent's; both are where there is none.
func (l Listener) Secret() ObjectName { return ObjectName{l.secretNamespace, l.secretName} }

// tls returns the part about TLS: none of a plain listener, and no certificate
// where the connection is handed through.
func (l *Listener) tls() map[string]any {
	if l.Mode == "" {
		return nil
	}
	tls := map[string]any{"mode": l.Mode}
	if l.secretName != "" {
		ref := map[string]any{"group": "", "kind": KindSecret, "name": l.secretName}
		if l.secretNamespace != "" {
			ref["namespace"] = l.secretNamespace
		}
		tls["certificateRefs"] = []any{ref}
	}
	if len(l.tlsOptions) > 0 {
		tls["options"] = anyMap(l.tlsOptions)
	}
	return tls
}

// Object returns the Certificate (cert-manager.io/v1). It has no commonName,
// which is limited to 64 characters.
func (c CertificatePlan) Object() map[string]any {
	if c.object != nil {
		return c.object
	}
	return copyOf(c.manifest()).(map[string]any)
}

// manifest is the Certificate with parts that it shares with others, for
// looking at.
func (c *CertificatePlan) manifest() map[string]any {
	spec := maps.Clone(c.template.spec)
	spec["secretName"] = c.SecretName
	spec["dnsNames"] = anyList(c.DNSNames)
	spec["issuerRef"] = map[string]any{"group": c.IssuerRef.Group, "kind": c.IssuerRef.Kind, "name": c.IssuerRef.Name}
	labels, annotations := c.template.labels, c.template.annotations
	if c.release != nil {
		labels, annotations = maps.Clone(labels), maps.Clone(annotations)
	}
	metadata := c.metadata(labels)
	made, _ := metadata["annotations"].(map[string]any)
	maps.Copy(annotations, made)
	metadata["annotations"] = annotations
	return map[string]any{"apiVersion": CertManagerGroup + "/v1", "kind": KindCertificate, "metadata": metadata, "spec": spec}
}

// Object returns the ReferenceGrant, written as v1beta1, which every cluster
// serves.
func (g Grant) Object() map[string]any {
	from := make([]any, len(g.From))
	for i, namespace := range g.From {
		from[i] = map[string]any{"group": GatewayGroup, "kind": g.fromKind, "namespace": namespace}
	}
	return map[string]any{
		"apiVersion": GatewayGroup + "/v1beta1",
		"kind":       KindGrant,
		"metadata":   g.metadata(map[string]any{LabelFor: ForLabel(g.Gateway.Name)}),
		"spec": map[string]any{
			"from": from,
			"to":   []any{map[string]any{"group": "", "kind": KindSecret, "name": g.Secret}},
		},
	}
}

// Object returns the HTTPRoute (gateway.networking.k8s.io/v1).
func (r Redirect) Object() map[string]any {
	return map[string]any{
		"apiVersion": GatewayGroup + "/v1",
		"kind":       KindHTTPRoute,
		"metadata":   r.metadata(map[string]any{LabelFor: ForLabel(r.Gateway.Name)}),
		"spec": map[string]any{
			"parentRefs": []any{map[string]any{"group": GatewayGroup, "kind": KindGateway, "name": r.Gateway.Name, "sectionName": r.Listener}},
			"rules": []any{map[string]any{
				"matches": []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/"}}},
				"filters": []any{map[string]any{
					"type":            "RequestRedirect",
					"requestRedirect": map[string]any{"scheme": "https", "statusCode": int64(301)},
				}},
			}},
		},
	}
}

// metadata names no namespace where the manifest that the object stands beside
// names none: Helm puts both into the namespace of the release.
func (p Placed) metadata(labels map[string]any) map[string]any {
	metadata := map[string]any{"name": p.Name, "labels": labels}
	if !p.Implicit && p.Namespace != "" {
		metadata["namespace"] = p.Namespace
	}
	if p.release != nil {
		labels[managedBy] = "Helm"
		metadata["annotations"] = map[string]any{releaseName: p.release.name, releaseNamespace: p.release.namespace}
	}
	return metadata
}

// Helm's marks of the release that an object belongs to.
const (
	managedBy        = "app.kubernetes.io/managed-by"
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
)

// helmRelease is the release that a Gateway belongs to.
type helmRelease struct{ name, namespace string }

// helmRelease returns the release of a parent, or nil. What the sweep makes for
// it carries the same marks, so that a later version of the chart can take the
// object over: Helm refuses those of nobody. They are no proof of anything.
func (g *gateway) helmRelease() *helmRelease {
	name, namespace := g.Annotations[releaseName], g.Annotations[releaseNamespace]
	if name == "" || namespace == "" || g.Labels[managedBy] != "Helm" {
		return nil
	}
	return &helmRelease{name, namespace}
}

// copyOf copies a manifest, or a part of one.
func copyOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, field := range v {
			out[key] = copyOf(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copyOf(v[i])
		}
		return out
	}
	return value
}

func anyMap(in map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range in {
		out[key] = value
	}
	return out
}

func anyList(in []string) []any {
	out := make([]any, len(in))
	for i, value := range in {
		out[i] = value
	}
	return out
}

func with(in map[string]any, key string, value any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, in)
	out[key] = value
	return out
}
