package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// writers is how many objects are written at a time.
const writers = 8

// rounds is how often a parent is read and planned again that changes while it
// is written.
const rounds = 4

// writeParents writes what compose makes of each parent and its next state; nil
// leaves a parent out. One that changed since it was read is read, planned and
// composed again. One that fails does not stop the others.
func (s *sweep) writeParents(ctx context.Context, compose func(*parent, engine.State) *application) {
	parents := s.parents
	for range rounds {
		changed := s.writeEach(ctx, parents, compose)
		if len(changed) == 0 {
			return
		}
		s.progress(fmt.Sprintf("reading %d Gateways again", len(changed)))
		if parents = s.readAgain(ctx, changed); len(parents) == 0 {
			return
		}
	}
	for _, p := range parents {
		s.report.problem(p.source.String(), "it changes all the time, so it was not written; the next run tries again")
	}
}

// writeEach returns the parents that changed since they were read.
func (s *sweep) writeEach(ctx context.Context, parents []*parent, compose func(*parent, engine.State) *application) []*parent {
	var pending []*application
	for _, p := range parents {
		before, _ := engine.ParseState(p.source.Annotations[engine.AnnotationState])
		state := s.nextState(p, before)
		a := compose(p, state)
		if a != nil && s.unread[p.source.String()] != nil {
			a.keepState()
		}
		if a != nil && a.pending {
			pending = append(pending, a)
		}
	}
	var mu sync.Mutex
	var changed []*parent
	each(ctx, pending, func(a *application) {
		s.progress("writing " + a.parent.source.String())
		out, err := s.write(ctx, a)
		mu.Lock()
		defer mu.Unlock()
		if errors.Is(err, errChanged) {
			changed = append(changed, a.parent)
			return
		}
		s.note(a, out, err)
	})
	return changed
}

// each calls fn for all items, some at a time, until the context ends.
func each[T any](ctx context.Context, items []T, fn func(T)) {
	var group errgroup.Group
	group.SetLimit(writers)
	for _, item := range items {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			fn(item)
			return nil
		})
	}
	_ = group.Wait() // fn reports what fails
}

func (s *sweep) write(ctx context.Context, a *application) (outcome, error) {
	if s.options.DryRun == report.DryRunClient {
		return outcome{}, nil
	}
	resource, gvk := s.reading.resource(a.parent.source.Kind)
	w := &applier{client: s.cluster.objects.Resource(resource), gvk: gvk, dryRun: s.dryRun()}
	return w.apply(ctx, a)
}

func (s *sweep) dryRun() []string {
	if s.options.DryRun == report.DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// resource returns how the server serves a kind.
func (r *Reading) resource(kind string) (schema.GroupVersionResource, schema.GroupVersionKind) {
	k := r.kind(kind)
	return schema.GroupVersionResource{Group: k.Group, Version: k.Version, Resource: k.Resource},
		schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// note records what became of a parent.
func (s *sweep) note(a *application, out outcome, err error) {
	p := a.parent
	if s.refused == nil {
		s.refused = map[string]map[string]string{}
	}
	refused := map[string]string{}
	for _, r := range out.refusals {
		refused[r.listener] = r.reason
	}
	s.refused[p.source.String()] = refused
	s.report.parent(a, out, refused, err)
}

// readAgain reads parents that changed and plans with them. It returns those of
// them that are still to be written.
func (s *sweep) readAgain(ctx context.Context, changed []*parent) []*parent {
	names := map[string]bool{}
	for _, p := range changed {
		err := s.cluster.refresh(ctx, s.reading, p)
		if isGone(err) {
			s.report.note(p.source.String() + " was deleted since it was read, so nothing of it was written")
			continue
		}
		if err != nil {
			s.report.problem(p.source.String(), fmt.Sprintf("it changed since it was read, and cannot be read again: %s", helped(err)))
			continue
		}
		names[p.source.String()] = true
	}
	goes := s.goes
	if err := s.think(); err != nil {
		s.report.problem("plan", err.Error())
		return nil
	}
	s.goes = goes
	var again []*parent
	for _, p := range s.parents {
		if names[p.source.String()] {
			again = append(again, p)
		}
	}
	return again
}

// refresh reads one parent anew.
func (c *Cluster) refresh(ctx context.Context, reading *Reading, p *parent) error {
	resource, _ := reading.resource(p.source.Kind)
	object, err := c.objects.Resource(resource).Namespace(p.source.Namespace).Get(ctx, p.source.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var alone engine.Snapshot
	if err := alone.Decode(object.Object, engine.Origin{Live: true}); err != nil {
		return err
	}
	for _, fresh := range append(alone.Gateways, alone.ListenerSets...) {
		*p.source = *fresh
	}
	p.live.Object, p.live.Managed = object, object.GetManagedFields()
	return nil
}
