package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Sweep is one pass over the cluster: it reads all of it, plans, adds what is
// missing, marks what has become stale, and removes, after a second full read
// and plan, what has been stale for long enough. What was done is in the report,
// also beside an error, which says why nothing, or not everything, was done.
func (c *Cluster) Sweep(ctx context.Context, o Options) (*report.Report, error) {
	r := newRecorder(report.New(o.Now(), o.DryRun))
	first := &sweep{cluster: c, options: o, began: time.Now(), now: o.Now(), report: r}
	if err := first.look(ctx); err != nil {
		return r.Report, r.fail(err)
	}
	last := first
	if len(o.Leave) > 0 {
		first.leave(ctx)
	} else {
		last = first.sweep(ctx)
	}
	var lost *LeaseLostError
	if errors.As(context.Cause(ctx), &lost) {
		r.problem(fmt.Sprintf("Lease %s/%s", lost.Lease.Namespace, lost.Lease.Name), lost.Error())
	}
	last.conclude()
	last.tell(ctx, first)
	if lost != nil {
		return r.Report, nil // some may be written: a problem, as all that fails then
	}
	return r.Report, ctx.Err()
}

// sweep is one look at the cluster, and what is done by it.
type sweep struct {
	cluster *Cluster
	options Options
	report  *recorder
	// began is when the run began, by the clock here; now is its time, by the API
	// server's since timedAt, by the clock here.
	began, now, timedAt time.Time

	reading *Reading
	plan    *engine.Plan
	parents []*parent
	// parts are the parents by Gateway.
	parts map[engine.ObjectName][]*parent
	// unread are the states that cannot be read; unprovable says why nothing at
	// all may be removed, or is "".
	unread     map[string]error
	unprovable string
	// goes are the removals that nothing holds back: names of listeners by parent.
	goes map[string]map[string]bool
	// orphans are the Secrets whose Certificate is gone.
	orphans []orphan
	// secretUsers are the listeners and Certificates that name a Secret; mentioned
	// are the Secrets that anything but a Certificate mentions, in whatever field.
	secretUsers map[engine.ObjectName][]string
	mentioned   func() mentions
	// claimed are the claims of the plan, once they are asked for.
	claimed map[claim]bool
	// withoutCertificate are the Certificates that could not be written, so that
	// no listener is added for them.
	withoutCertificate map[string]bool
	// made are those that this run wrote.
	made map[string]bool
	// refused are the listeners that the server did not take, by parent and name.
	refused map[string]map[string]string
}

// look reads the cluster and plans. An error means that nothing may be written.
func (s *sweep) look(ctx context.Context) error {
	s.progress("reading the cluster")
	reading, err := s.cluster.Read(ctx, ReadOptions{
		Namespaces: s.options.Namespaces, Services: s.options.Services, Ingresses: true,
		Secrets: s.options.Policies.RemovesSecrets(), Routes: s.options.Events,
		Progress: func(kind string, objects int) { s.progress(fmt.Sprintf("reading %ss: %d", kind, objects)) },
	})
	if err != nil {
		return err
	}
	s.reading, s.report.Kinds = reading, reading.kinds()
	s.keepTime()
	reading.Snapshot.ServicesUnread = !reading.complete(engine.KindService)
	if err := s.cluster.missing(reading); err != nil {
		return err
	}
	for _, kind := range []string{engine.KindHTTPRoute, engine.KindCertificate} {
		if !reading.serves(kind) {
			s.unprovable = fmt.Sprintf("the server %s %ss, so nobody knows what they asked for", unserved, kind)
		}
	}
	s.unprovable = cmp.Or(s.unprovable, s.lostNamespace())
	return s.think()
}

// think plans what was read.
func (s *sweep) think() error {
	s.progress("planning")
	s.unread = s.reading.Snapshot.Hold(s.now, s.options.Grace)
	s.yield()
	plan, err := engine.Compute(s.reading.Snapshot, s.options.Policies)
	if err != nil {
		return err
	}
	s.plan = plan
	s.parents = s.matchParents()
	s.parts = byGateway(s.parents)
	s.goes = map[string]map[string]bool{}
	s.secretUsers, s.mentioned = secretUsers(s.reading.Snapshot), sync.OnceValue(s.secretMentions)
	s.claimed = nil
	return nil
}

// yield puts the yields of the command into what was read.
func (s *sweep) yield() {
	for _, y := range s.options.Yields {
		if y.For == 0 {
			s.reading.Snapshot.EndYield(y.Gateway, y.Hostname)
		} else {
			s.reading.Snapshot.Yield(y.Gateway, y.Hostname, s.now.Add(y.For))
		}
	}
}

// sweep adds, marks and removes. It returns the look that knows most.
func (s *sweep) sweep(ctx context.Context) (last *sweep) {
	s.add(ctx)
	last = s
	if s.anythingGoes() {
		last = s.removeAfterSecondLook(ctx)
	}
	last.reportInfrastructure(ctx)
	return last
}

func (s *sweep) progress(what string) {
	if s.options.Progress != nil {
		s.options.Progress(what)
	}
}

// add writes what is missing: Certificates first, since a listener without one
// serves nothing, then redirects, then listeners with the marks.
func (s *sweep) add(ctx context.Context) {
	s.addSecrets(ctx)
	s.addCertificates(ctx)
	s.addRedirects(ctx)
	s.writeParents(ctx, func(p *parent, state engine.State) *application {
		removals := s.removals(p, state)
		s.goes[p.source.String()] = ripe(removals)
		s.report.stale(p, removals)
		if slices.ContainsFunc(removals, func(r removal) bool { return r.ripe() && r.listener.Immediate }) {
			return nil // what takes the place goes in the same apply, after the second look
		}
		return p.prepare(state, nil, s.without(p))
	})
}

func ripe(removals []removal) map[string]bool {
	out := map[string]bool{}
	for _, r := range removals {
		if r.ripe() {
			out[r.listener.Name] = true
		}
	}
	return out
}

// without are the new and changed listeners of a parent whose Certificate could
// not be written, or is not there: what is planned anew in a run makes none.
func (s *sweep) without(p *parent) map[string]bool {
	out := map[string]bool{}
	for _, l := range p.plan.Listeners {
		if l.Action != engine.Add && l.Action != engine.Update || l.Certificate == "" {
			continue
		}
		namespace, name, _ := strings.Cut(l.Certificate, "/")
		_, lives := s.reading.Certificates[engine.ObjectName{Namespace: namespace, Name: name}]
		if s.withoutCertificate[l.Certificate] || (!lives && !s.made[l.Certificate]) {
			out[l.Name] = true
		}
	}
	return out
}

// anythingGoes says whether a removal is due, or a parent waits for the second
// look to be written.
func (s *sweep) anythingGoes() bool {
	for _, names := range s.goes {
		if len(names) > 0 {
			return true
		}
	}
	return len(s.ripeSecrets()) > 0 || len(s.ripeCertificates()) > 0 || len(s.goneRedirects()) > 0
}

// removeAfterSecondLook reads and plans once more and removes what both looks
// agree on. It returns the second look, or the first where that failed.
func (s *sweep) removeAfterSecondLook(ctx context.Context) *sweep {
	if s.options.DryRun == report.DryRunClient {
		s.remove(ctx, s) // which only says what would go
		return s
	}
	second := &sweep{cluster: s.cluster, options: s.options, began: s.began, now: s.now, timedAt: s.timedAt, report: s.report, withoutCertificate: s.withoutCertificate, made: s.made, refused: s.refused}
	err := second.look(ctx)
	if err == nil {
		err = second.stands(ctx)
	}
	if err != nil {
		s.report.problem("removals", "nothing is removed: "+err.Error())
		s.writeParents(ctx, func(p *parent, state engine.State) *application { return p.prepare(state, nil, s.without(p)) })
		return s
	}
	second.remove(ctx, s)
	return second
}

// stands says whether the kinds that were read are there to stay: a
// CustomResourceDefinition that is being deleted loses its objects one by one,
// and one that is gone has lost them, maybe before they were read.
func (s *sweep) stands(ctx context.Context) error {
	terminating, absent, err := s.cluster.Terminating(ctx)
	if err != nil {
		return err
	}
	if len(terminating) > 0 {
		return fmt.Errorf("the CustomResourceDefinition %s is being deleted, and its objects with it", strings.Join(terminating, ", "))
	}
	for _, k := range s.reading.Kinds {
		if k.Served && slices.Contains(absent, k.Resource+"."+k.Group) {
			return fmt.Errorf("%ss were read, and the CustomResourceDefinition %s.%s does not exist", k.Kind, k.Resource, k.Group)
		}
	}
	return nil
}

// remove carries out the removals that this look and the first agree on:
// Certificates whose listeners are gone since an earlier run, then redirects,
// then listeners, each with the version that was read.
func (s *sweep) remove(ctx context.Context, first *sweep) {
	s.removeSecrets(ctx, first.ripeSecrets())
	s.removeCertificates(ctx, first.ripeCertificates())
	s.removeRedirects(ctx, first.goneRedirects())
	s.writeParents(ctx, func(p *parent, state engine.State) *application {
		removals := s.removals(p, state)
		s.report.stale(p, removals)
		goes := ripe(removals)
		maps.DeleteFunc(goes, func(name string, _ bool) bool { return !first.goes[p.source.String()][name] })
		s.goes[p.source.String()] = goes
		for name := range goes {
			delete(state.Stale, name)
			delete(state.Claimants, name)
			delete(state.Quotas, name)
		}
		return p.prepare(state, goes, s.without(p))
	})
}
