package engine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds that the engine reads. Every version of a kind is read alike.
const (
	KindGateway     = "Gateway"
	KindListenerSet = "ListenerSet"
	KindHTTPRoute   = "HTTPRoute"
	KindGRPCRoute   = "GRPCRoute"
	KindTLSRoute    = "TLSRoute"
	KindCertificate = "Certificate"
	KindGrant       = "ReferenceGrant"
	KindNamespace   = "Namespace"
	KindSecret      = "Secret"
	KindService     = "Service"
	KindIssuer      = "Issuer"
	// KindClusterIssuer is an issuer for all namespaces.
	KindClusterIssuer = "ClusterIssuer"
)

// The API groups of those kinds.
const (
	GatewayGroup     = "gateway.networking.k8s.io"
	CertManagerGroup = "cert-manager.io"
)

// Snapshot is what the engine sees of the world. The order of the objects
// carries no meaning.
type Snapshot struct {
	Gateways []*Gateway
	// ListenerSets are parents like Gateways, of which they are a part.
	ListenerSets []*Gateway
	Routes       []*Route
	Certificates []*Certificate
	Namespaces   []*Namespace
	// Secrets holds names only, so that no computed name overwrites one.
	Secrets []*Meta
	Grants  []*ReferenceGrant
	// Services holds names only.
	Services []*Meta
	Issuers  []*Issuer
	// IssuerKinds are the kinds of issuers of which a complete snapshot holds all:
	// any other issuer may be there.
	IssuerKinds []string
	// ServicesUnread says of a complete snapshot that it is so but for Services.
	ServicesUnread bool
	// Complete says that the snapshot holds every object of the cluster. A
	// post-render sees one release: what it does not see is unknown, never absent.
	Complete bool
	// ReadNamespaces are the only ones of which a complete snapshot holds the
	// objects; without any it holds those of all. What is elsewhere is unknown.
	ReadNamespaces []string
	// NotServed are the kinds that the API server was seen not to serve.
	NotServed []GroupKind

	yields []yield
}

// Meta is what the engine reads of any object's metadata.
type Meta struct {
	Kind string
	// Namespace is "" while the namespace of the release is not known.
	Namespace string
	// Implicit says that the manifest names no namespace, so that objects made
	// beside it name none either.
	Implicit    bool
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	// Created is the zero time where it is not known.
	Created time.Time
	// Source is the file or template of the object, for messages.
	Source string
	// Controller is the kind of the controlling owner, if there is one.
	Controller string
	// Deleting says that the object is being deleted: it is not written any more,
	// and still counts for what it uses.
	Deleting bool
	// Known marks an object of --snapshot: knowledge that adds no claim and is
	// never edited.
	Known bool
	// Index is that of its [Origin]. It decides nothing but which of two manifests
	// that are the same in all else is planned.
	Index int `json:"-"`
}

// Gateway is a Gateway, or a ListenerSet, as far as the engine reads it.
type Gateway struct {
	Meta
	Listeners []SourceListener
	// AllowedListeners says which namespaces' ListenerSets a Gateway takes: None
	// (the API's default), Same, All or Selector.
	AllowedListeners         string
	AllowedListenersSelector *metav1.LabelSelector
	// Parent is the Gateway of a ListenerSet.
	Parent ParentRef
	// Holders are the namespaces that hold a hostname, by hostname: they keep it
	// in a race. The caller knows how long.
	Holders map[string]string
	// Quotas are the namespaces that claimed a listener of ours last, by its name.
	Quotas map[string]string
	// Yielded are the hostnames whose listeners of ours are given up for a time,
	// so that a chart can bring its own, with that time as messages say it.
	Yielded map[string]string
	// Reports says that its status tells of some listener.
	Reports bool
}

// SourceListener is a listener that the snapshot's Gateway has.
type SourceListener struct {
	Name     string
	Hostname string // "" accepts every hostname
	Port     int
	Protocol string // HTTP, HTTPS, TLS, TCP, UDP or an implementation's own
	TLSMode  string // Terminate, Passthrough, or "" without tls
	// AllowedFrom is Same, All or Selector, with the API's default filled in.
	AllowedFrom     string
	AllowedSelector *metav1.LabelSelector
	AllowedKinds    []GroupKind
	// CertificateRefs names Secrets only; HasRefs says that there are references
	// of any kind.
	CertificateRefs []ObjectName
	HasRefs         bool
	// Owned says that our field manager owns the listener, and Shared that another
	// one applies it too.
	Owned, Shared bool
	// Status is what the status of the parent tells of it.
	Status ListenerStatus
	// Object is the listener as it was written.
	Object map[string]any

	owners []fieldOwner // the managers beside ours that own a part of it
	admits []string     // of a listener of ours that admits namespaces by name
	lost   string       // why another listener has its place, or ""
}

// ListenerStatus is what the status of a Gateway or ListenerSet tells of one of
// its listeners: whether anything, the condition that says that it does not serve,
// "" for none, and whether that is of before the last change of the parent.
type ListenerStatus struct {
	Told bool
	Bad  string
	Old  bool
}

// GroupKind names a kind of route.
type GroupKind struct{ Group, Kind string }

// ObjectName is a namespaced name. Namespace "" is the namespace of the object
// that holds the reference, or the unknown namespace of the release.
type ObjectName struct{ Namespace, Name string }

// Route is an HTTPRoute, GRPCRoute or TLSRoute.
type Route struct {
	Meta
	Hostnames []string
	Parents   []ParentRef
	// Backends are the backendRefs of each rule.
	Backends [][]BackendRef
	// RedirectsToHTTPS says that every rule of the route redirects to https.
	RedirectsToHTTPS bool
	// Owned says that our field manager alone owns the spec.
	Owned bool
	// Object is the whole manifest of a route that gatewright made, else nil.
	Object map[string]any
}

// BackendRef is one backendRef of a rule, with the API's defaults filled in but
// for the namespace ("" is the route's own).
type BackendRef struct{ Group, Kind, Namespace, Name string }

// ParentRef is one parentRef of a route, with the API's defaults filled in but
// for the namespace ("" is the route's own).
type ParentRef struct {
	Group, Kind, Namespace, Name, SectionName string
	Port                                      int
}

// Certificate is a cert-manager Certificate.
type Certificate struct {
	Meta
	DNSNames    []string
	IPAddresses []string
	SecretName  string
	IsCA        bool
	// Ready is the condition of that name: the Secret holds a certificate.
	Ready bool
	// Owned says that our field manager alone owns the spec: in a cluster, such a
	// Certificate is the sweep's own.
	Owned bool
	// EditedBy is a field manager that owns fields of the spec beside ours, or "".
	EditedBy string
	// Object is the whole manifest.
	Object map[string]any
}

// ReferenceGrant is a ReferenceGrant: each of From may name each of To.
type ReferenceGrant struct {
	Meta
	From []BackendRef // Group, Kind and Namespace
	To   []BackendRef // Group, Kind and Name, "" for any
	// Object is the whole manifest.
	Object map[string]any
}

// Issuer is a cert-manager Issuer or ClusterIssuer.
type Issuer struct {
	Meta
	// ACME says that it orders from an ACME server; HTTP01 and DNS01 that it has
	// solvers of the kind.
	ACME, HTTP01, DNS01 bool
	// CASecret is the Secret of the CA that an Issuer signs with, "" for none.
	CASecret string
	// Server is the URL of the ACME server.
	Server string
}

// Namespace is a namespace with its labels.
type Namespace struct{ Meta }

// String returns "Kind namespace/name", or "Kind name" without a namespace.
func (m *Meta) String() string {
	if m.Namespace == "" {
		return m.Kind + " " + orNone(m.Name)
	}
	return m.Kind + " " + m.Namespace + "/" + orNone(m.Name)
}
