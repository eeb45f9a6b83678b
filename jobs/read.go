package jobs

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

// ReadOptions say what is read beside the kinds that the engine always needs.
type ReadOptions struct {
	// Namespaces are read one by one, as a namespaced role permits; without any,
	// all namespaces are read by one list per kind. What is complete is then complete for
	// these namespaces.
	Namespaces []string
	// Services reads the names of Services.
	Services bool
	// Secrets reads the metadata of Secrets labelled [engine.LabelFor].
	Secrets bool
	// Ingresses reads which Secrets the Ingresses name.
	Ingresses bool
	// Routes keeps the UIDs of all routes.
	Routes bool
	// Progress is called after each page with the number of objects of the kind
	// so far, by one goroutine at a time. It may be nil.
	Progress func(kind string, objects int)
}

// Reading is what was read of a cluster.
type Reading struct {
	// Snapshot is complete if every kind that the engine needs was read whole.
	// Its objects share what they were decoded from with Gateways and
	// ListenerSets below, so nobody may change them.
	Snapshot *engine.Snapshot
	// Kinds tells of every kind asked for, sorted by group and kind.
	Kinds []KindReading

	// Gateways and ListenerSets are the live objects.
	Gateways     map[engine.ObjectName]*Parent
	ListenerSets map[engine.ObjectName]*Parent
	// The other objects that gatewright may write or remove: every Certificate,
	// the HTTPRoutes and ReferenceGrants labelled [engine.LabelFor], and the
	// Secrets read.
	Certificates map[engine.ObjectName]Identity
	HTTPRoutes   map[engine.ObjectName]Identity
	Grants       map[engine.ObjectName]Identity
	Secrets      map[engine.ObjectName]Identity

	// IngressSecrets maps a Secret to the first "Ingress namespace/name" that
	// names it.
	IngressSecrets map[engine.ObjectName]string
	// mentions are the Secrets of ours that Ingresses and issuers mention anywhere.
	mentions mentions
	// routes are the UIDs of routes, by kind and name.
	routes map[objectKey]types.UID
	// HelmReleases holds the HelmReleases that Gateways and ListenerSets say
	// they come from, as far as they exist.
	HelmReleases map[engine.ObjectName]HelmReleaseState
}

// Parent is a live Gateway or ListenerSet. Its managedFields and status are not
// in the object, of which they are the larger part.
type Parent struct {
	Object  *unstructured.Unstructured
	Managed []metav1.ManagedFieldsEntry
}

// Identity is what a write with preconditions, or a removal, needs to know of a
// live object.
type Identity struct {
	UID             types.UID
	ResourceVersion string
	// Annotations holds those of gatewright.
	Annotations map[string]string
	// Terminating says that the object has a deletionTimestamp.
	Terminating bool
	// Shared says that the sweep made the object, and a release applies it by now.
	Shared bool
	// Issued says of a Secret that cert-manager wrote its certificate.
	Issued bool
}

// HelmReleaseState is what the sweep asks of a Flux HelmRelease.
type HelmReleaseState struct {
	// Suspended is spec.suspend.
	Suspended bool
	// Reconciling says that helm-controller is at work, or has not seen the
	// newest generation yet.
	Reconciling bool
	// Ready is the status of the condition Ready: True, False, Unknown, or "".
	Ready string
}

// KindReading tells how the reading of one kind went.
type KindReading struct {
	Group    string `json:"group,omitempty"`
	Version  string `json:"version,omitempty"` // "" if it is not served
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	// Served is false if the server was seen not to know the kind, or if that
	// could not be found out, for which see Err.
	Served bool `json:"served"`
	// Complete says that there is no object of the kind that was not read.
	Complete bool `json:"complete"`
	// Needed says that the snapshot is complete only with this kind.
	Needed  bool `json:"needed"`
	Objects int  `json:"objects"`
	// Absent are those asked for by name that do not exist.
	Absent []string `json:"-"`
	// Pages counts the answers that this took.
	Pages int   `json:"-"`
	Err   error `json:"-"`
}

// Read reads the cluster. A kind that cannot be read is recorded in
// [Reading.Kinds], and the others are read nevertheless; an error is that of ctx
// alone.
func (c *Cluster) Read(ctx context.Context, o ReadOptions) (*Reading, error) {
	all := newReading()
	all.Snapshot.ReadNamespaces = o.namespaces()
	done, err := c.readKinds(ctx, kindsOf(o), o, newMemory)
	if err != nil {
		return nil, err
	}
	all.take(done)
	if namespaces := all.releaseNamespaces(); len(namespaces) > 0 {
		if len(o.Namespaces) > 0 {
			o.Namespaces = namespaces
		}
		if done, err = c.readKinds(ctx, []kind{helmReleases}, o, newMemory); err != nil {
			return nil, err
		}
		all.take(done)
	}
	slices.SortFunc(all.Kinds, func(a, b KindReading) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	isMissing := func(k KindReading) bool { return k.Needed && !k.Complete }
	all.Snapshot.NotServed = notServed(all.Kinds)
	all.Snapshot.Complete = !slices.ContainsFunc(all.Kinds, isMissing)
	for _, kind := range []string{engine.KindIssuer, engine.KindClusterIssuer} {
		if all.complete(kind) {
			all.Snapshot.IssuerKinds = append(all.Snapshot.IssuerKinds, kind)
		}
	}
	return all, nil
}
