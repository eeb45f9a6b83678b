package engine

import (
	"cmp"
	"slices"
)

// SnapshotKind heads the file of a snapshot, with [PolicyAPIVersion].
const SnapshotKind = "Snapshot"

// SnapshotHeader is the first document of a snapshot's file. It says what the
// documents behind it are all of.
type SnapshotHeader struct {
	APIVersion string `json:"apiVersion" yaml:"apiVersion"`
	Kind       string `json:"kind" yaml:"kind"`
	// Namespaces are the only ones that were read; none means all.
	Namespaces []string       `json:"namespaces,omitempty" yaml:"namespaces,omitempty"`
	Kinds      []SnapshotPart `json:"kinds" yaml:"kinds"`
}

// SnapshotPart says what a snapshot knows of one kind.
type SnapshotPart struct {
	Group   string `json:"group,omitempty" yaml:"group,omitempty"`
	Kind    string `json:"kind" yaml:"kind"`
	Version string `json:"version,omitempty" yaml:"version,omitempty"`
	// Served is false where the API server does not know the kind.
	Served bool `json:"served" yaml:"served"`
	// Complete says that there are no objects of the kind but those in the file.
	Complete bool   `json:"complete" yaml:"complete"`
	Objects  int    `json:"objects" yaml:"objects"`
	Error    string `json:"error,omitempty" yaml:"error,omitempty"`
}

// NeededKinds are the kinds without which nothing is known to be absent.
func NeededKinds() []GroupKind {
	return []GroupKind{
		{CertManagerGroup, KindCertificate},
		{GatewayGroup, KindGRPCRoute},
		{GatewayGroup, KindGateway},
		{GatewayGroup, KindHTTPRoute},
		{GatewayGroup, KindListenerSet},
		{GatewayGroup, KindGrant},
		{GatewayGroup, KindTLSRoute},
		{"", KindNamespace},
	}
}

// Missing names the needed kinds that were not read whole, each with the reason.
// Without any, the file is a complete snapshot.
func (h *SnapshotHeader) Missing() []string {
	var missing []string
	for _, needed := range NeededKinds() {
		i := slices.IndexFunc(h.Kinds, func(p SnapshotPart) bool { return p.Kind == needed.Kind && p.Group == needed.Group })
		switch {
		case i < 0:
			missing = append(missing, needed.Kind+": it was not asked for")
		case !h.Kinds[i].Complete:
			missing = append(missing, cmp.Or(h.Kinds[i].Error, needed.Kind+": it was not read whole"))
		}
	}
	return missing
}

// Has says whether a snapshot holds all objects of a kind.
func (h *SnapshotHeader) Has(kind GroupKind) bool {
	return slices.ContainsFunc(h.Kinds, func(p SnapshotPart) bool { return (GroupKind{p.Group, p.Kind}) == kind && p.Complete })
}

// NotServed are the kinds that the API server was seen not to serve.
func (h *SnapshotHeader) NotServed() []GroupKind {
	var kinds []GroupKind
	for _, p := range h.Kinds {
		if !p.Served && p.Complete {
			kinds = append(kinds, GroupKind{p.Group, p.Kind})
		}
	}
	return kinds
}
