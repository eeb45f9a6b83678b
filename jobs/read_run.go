package jobs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

// parallel is how many kinds are read at a time.
const parallel = 4

// kindResult is how the reading of a kind went, and where its objects are.
type kindResult struct {
	KindReading
	sink sink
}

// readKinds reads each kind into a sink of its own.
func (c *Cluster) readKinds(ctx context.Context, kinds []kind, o ReadOptions, open func(kind) (sink, error)) ([]kindResult, error) {
	results := make([]kindResult, len(kinds))
	for i, k := range kinds {
		var err error
		if results[i].sink, err = open(k); err != nil {
			return nil, err
		}
	}
	found := c.discover(ctx, kinds)
	report := o.reporter()
	slots := make(chan struct{}, parallel)
	var group sync.WaitGroup
	for i, k := range kinds {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			l := &lister{cluster: c, kind: k, sink: results[i].sink, progress: func(objects int) { report(k.kind, objects) }}
			results[i].KindReading = l.run(ctx, found[k.group], o.namespaces())
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortFunc(results, func(a, b kindResult) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return results, nil
}

// reporter calls Progress, if there is one, for one goroutine at a time.
func (o ReadOptions) reporter() func(kind string, objects int) {
	if o.Progress == nil {
		return func(string, int) {}
	}
	var mutex sync.Mutex
	return func(kind string, objects int) {
		mutex.Lock()
		defer mutex.Unlock()
		o.Progress(kind, objects)
	}
}

// namespaces are each named once; nil are all there are.
func (o ReadOptions) namespaces() []string {
	return slices.Compact(slices.Sorted(slices.Values(o.Namespaces)))
}

// run reads the kind, if it is served.
func (l *lister) run(ctx context.Context, found served, namespaces []string) KindReading {
	r := KindReading{Group: l.kind.group, Kind: l.kind.kind, Needed: l.kind.isNeeded()}
	var known bool
	if l.resource, known = found.resources[l.kind.kind]; !known {
		r.Err, r.Complete = found.err, found.err == nil
		return r
	}
	r.Served, r.Version, r.Resource = true, l.resource.version, l.resource.name
	r.Err = l.read(ctx, namespaces)
	r.Complete, r.Objects, r.Pages, r.Absent = r.Err == nil, l.committed, l.pages, l.absent
	return r
}

func newReading() *Reading {
	return &Reading{
		Snapshot:       new(engine.Snapshot),
		Gateways:       map[engine.ObjectName]*Parent{},
		ListenerSets:   map[engine.ObjectName]*Parent{},
		Certificates:   map[engine.ObjectName]Identity{},
		HTTPRoutes:     map[engine.ObjectName]Identity{},
		Grants:         map[engine.ObjectName]Identity{},
		Secrets:        map[engine.ObjectName]Identity{},
		IngressSecrets: map[engine.ObjectName]string{},
		mentions:       mentions{},
		routes:         map[objectKey]types.UID{},
		HelmReleases:   map[engine.ObjectName]HelmReleaseState{},
	}
}

// take adds what was read of each kind.
func (r *Reading) take(results []kindResult) {
	parents := map[string]map[engine.ObjectName]*Parent{engine.KindGateway: r.Gateways, engine.KindListenerSet: r.ListenerSets}
	identities := map[string]map[engine.ObjectName]Identity{
		engine.KindCertificate: r.Certificates, engine.KindHTTPRoute: r.HTTPRoutes, engine.KindGrant: r.Grants, engine.KindSecret: r.Secrets,
	}
	for _, result := range results {
		r.Kinds = append(r.Kinds, result.KindReading)
		for _, p := range result.sink.(*memory).parts {
			r.takeSnapshot(&p.snapshot)
			maps.Copy(r.HelmReleases, p.releases)
			maps.Copy(r.IngressSecrets, p.ingresses)
			maps.Copy(r.mentions, p.mentions)
			maps.Copy(r.routes, p.routes)
			if live := parents[result.Kind]; live != nil {
				maps.Copy(live, p.parents)
			}
			if live := identities[result.Kind]; live != nil {
				maps.Copy(live, p.identities)
			}
		}
	}
}

func (r *Reading) takeSnapshot(from *engine.Snapshot) {
	s := r.Snapshot
	s.Gateways = append(s.Gateways, from.Gateways...)
	s.ListenerSets = append(s.ListenerSets, from.ListenerSets...)
	s.Routes = append(s.Routes, from.Routes...)
	s.Certificates = append(s.Certificates, from.Certificates...)
	s.Namespaces = append(s.Namespaces, from.Namespaces...)
	s.Secrets = append(s.Secrets, from.Secrets...)
	s.Grants = append(s.Grants, from.Grants...)
	s.Services = append(s.Services, from.Services...)
	s.Issuers = append(s.Issuers, from.Issuers...)
}

// releaseNamespaces are the namespaces of the HelmReleases that the Gateways and
// ListenerSets say they come from.
func (r *Reading) releaseNamespaces() []string {
	found := map[string]bool{}
	for _, parents := range []map[engine.ObjectName]*Parent{r.Gateways, r.ListenerSets} {
		for _, parent := range parents {
			labels := parent.Object.GetLabels()
			if namespace := labels[helmReleaseGroup+"/namespace"]; namespace != "" && labels[helmReleaseGroup+"/name"] != "" {
				found[namespace] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
