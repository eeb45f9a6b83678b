package jobs

import (
	"path"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The groups and kinds that are read beside those of the engine.
const (
	ingressGroup     = "networking.k8s.io"
	kindIngress      = "Ingress"
	helmReleaseGroup = "helm.toolkit.fluxcd.io"
	kindHelmRelease  = "HelmRelease"
)

// kind is one kind to read.
type kind struct {
	group, kind string
	// isCluster says that the kind has no namespaces.
	isCluster bool
	// metadata asks for nothing but metadata.
	metadata bool
	selector string
	// keep adds an object to what was read.
	keep func(*part, map[string]any) error
}

// kindsOf are the kinds that the options ask for.
func kindsOf(o ReadOptions) []kind {
	kinds := []kind{
		{group: engine.GatewayGroup, kind: engine.KindGateway, keep: (*part).keepParent},
		{group: engine.GatewayGroup, kind: engine.KindListenerSet, keep: (*part).keepParent},
		{group: engine.GatewayGroup, kind: engine.KindHTTPRoute, keep: (*part).keepLabelled},
		{group: engine.GatewayGroup, kind: engine.KindGRPCRoute, keep: (*part).keepKnowledge},
		{group: engine.GatewayGroup, kind: engine.KindTLSRoute, keep: (*part).keepKnowledge},
		{group: engine.GatewayGroup, kind: engine.KindGrant, keep: (*part).keepLabelled},
		{group: engine.CertManagerGroup, kind: engine.KindCertificate, keep: (*part).keepIdentity},
		{group: engine.CertManagerGroup, kind: engine.KindIssuer, keep: (*part).keepIssuer},
		{group: engine.CertManagerGroup, kind: engine.KindClusterIssuer, isCluster: true, keep: (*part).keepIssuer},
		{kind: engine.KindNamespace, isCluster: true, metadata: true, keep: (*part).keepKnowledge},
	}
	for i, k := range kinds {
		if o.Routes && slices.Contains([]string{engine.KindHTTPRoute, engine.KindGRPCRoute, engine.KindTLSRoute}, k.kind) {
			kinds[i].keep = keepRoute(k.keep)
		}
	}
	if o.Services {
		kinds = append(kinds, kind{kind: engine.KindService, metadata: true, keep: (*part).keepKnowledge})
	}
	if o.Secrets {
		kinds = append(kinds, kind{kind: engine.KindSecret, metadata: true, selector: engine.LabelFor, keep: (*part).keepSecret})
	}
	if o.Ingresses {
		kinds = append(kinds, kind{group: ingressGroup, kind: kindIngress, keep: (*part).keepIngress})
	}
	return kinds
}

// helmReleases is read only if an object says that it comes from one.
var helmReleases = kind{group: helmReleaseGroup, kind: kindHelmRelease, keep: (*part).keepHelmRelease}

// isNeeded says whether nothing is known to be absent without this kind.
func (k kind) isNeeded() bool {
	return slices.Contains(engine.NeededKinds(), engine.GroupKind{Group: k.group, Kind: k.kind})
}

// resource is where the server serves a kind.
type resource struct{ group, version, name string }

// path is that of a list; namespace "" is all of them.
func (r resource) path(namespace string) string {
	root := "/apis/" + r.group
	if r.group == "" {
		root = "/api"
	}
	if namespace != "" {
		return path.Join(root, r.version, "namespaces", namespace, r.name)
	}
	return path.Join(root, r.version, r.name)
}

func (r resource) apiVersion() string {
	if r.group == "" {
		return r.version
	}
	return r.group + "/" + r.version
}

// fullName is how RBAC and CustomResourceDefinitions name a resource.
func (r resource) fullName() string {
	if r.group == "" {
		return r.name
	}
	return r.name + "." + r.group
}
