package jobs

import (
	"context"

	"github.com/gatewright/gatewright/postrender/engine"
)

func (s *sweep) addRedirects(ctx context.Context) {
	resource, _ := s.reading.resource(engine.KindHTTPRoute)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	for _, r := range s.plan.Redirects {
		name := engine.ObjectName{Namespace: r.Namespace, Name: r.Name}
		live := s.reading.HTTPRoutes[name]
		switch {
		case !s.writes(r.Placed):
		case r.Action == engine.Add && s.leftRedirect(r) != "":
			s.report.left(engine.KindHTTPRoute, name, s.leftRedirect(r))
		case r.Action == engine.Add, r.Action == engine.Update:
			err := s.unlessDry(func() error { return w.apply(ctx, resource, r.Object()) })
			s.report.object(engine.KindHTTPRoute, name, r.Action, r.Reason, err)
		case r.Action == engine.Keep && live.handsOver():
			if err := s.handOver(ctx, w, resource, engine.KindHTTPRoute, name, live); err != nil {
				s.report.problem(engine.KindHTTPRoute+" "+name.Namespace+"/"+name.Name, helped(err))
			}
		}
	}
}

// goneRedirects are those that the policy does not ask for any more, unless
// their Gateway is to be left alone.
func (s *sweep) goneRedirects() map[engine.ObjectName]bool {
	out := map[engine.ObjectName]bool{}
	for _, r := range s.plan.Redirects {
		if r.Action != engine.Remove || !s.writes(r.Placed) {
			continue
		}
		name := engine.ObjectName{Namespace: r.Namespace, Name: r.Name}
		if held := s.heldRedirect(r); held != "" {
			s.report.held(engine.KindHTTPRoute, name, held)
		} else {
			out[name] = true
		}
	}
	return out
}

// heldRedirect says why a redirect stays for now, or "".
func (s *sweep) heldRedirect(r engine.Redirect) string {
	for _, p := range s.parts[r.Gateway] {
		if p.source.Kind == engine.KindGateway {
			return s.heldBack(p)
		}
	}
	return s.unprovable
}

func (s *sweep) removeRedirects(ctx context.Context, first map[engine.ObjectName]bool) {
	resource, _ := s.reading.resource(engine.KindHTTPRoute)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	for name := range s.goneRedirects() {
		if !first[name] {
			continue
		}
		err := s.unlessDry(func() error { return w.remove(ctx, resource, name, s.reading.HTTPRoutes[name]) })
		s.report.removed(engine.KindHTTPRoute, name, "the policy asks for no redirect", err)
	}
}
