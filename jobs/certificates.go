package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// addCertificates writes the Certificates that are missing or differ, and sees
// to the marks of those that have become stale, or are claimed again.
func (s *sweep) addCertificates(ctx context.Context) {
	s.withoutCertificate, s.made = map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	resource, _ := s.reading.resource(engine.KindCertificate)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	each(ctx, s.pendingCertificates(), func(c engine.CertificatePlan) {
		name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
		live, exists := s.reading.Certificates[name]
		err := s.addCertificate(ctx, w, resource, c, live)
		mu.Lock()
		defer mu.Unlock()
		s.made[name.Namespace+"/"+name.Name] = err == nil
		if err != nil && !exists {
			s.withoutCertificate[name.Namespace+"/"+name.Name] = true
		}
		s.report.certificate(c, s.heldCertificate(c), err)
	})
}

func (s *sweep) mark(ctx context.Context, w *objectWriter, resource schema.GroupVersionResource, name engine.ObjectName, live Identity, since string) error {
	err := s.unlessDry(func() error { return w.mark(ctx, resource, name, live, since) })
	if err == nil && s.options.DryRun == report.Write {
		s.report.wrote()
	}
	return err
}

// pendingCertificates are those that something is to be done about, or said of.
func (s *sweep) pendingCertificates() []engine.CertificatePlan {
	var out []engine.CertificatePlan
	left := s.leftSecrets()
	for _, c := range s.plan.Certificates {
		name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
		live := s.reading.Certificates[name]
		if why := left[engine.ObjectName{Namespace: c.Namespace, Name: c.SecretName}]; why != "" && c.Action == engine.Add && s.writes(c.Placed) {
			s.report.left(engine.KindCertificate, name, why)
			continue
		}
		kept := c.Action == engine.Keep && live.Annotations[annotationStale] == "" && !live.handsOver()
		if s.writes(c.Placed) && !kept {
			out = append(out, c)
		}
	}
	return out
}

func (s *sweep) addCertificate(ctx context.Context, w *objectWriter, resource schema.GroupVersionResource, c engine.CertificatePlan, live Identity) error {
	name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
	marked := live.Annotations[annotationStale] != ""
	switch {
	case live.Terminating:
		return errors.New("it is being deleted; the next run makes it again")
	case c.Action == engine.Add, c.Action == engine.Update:
		err := s.unlessDry(func() error { return w.apply(ctx, resource, c.Object()) })
		if err != nil || !marked {
			return err
		}
		return s.unlessDry(func() error { return w.unmark(ctx, resource, name) })
	case c.Action == engine.Keep && live.handsOver():
		err := s.handOver(ctx, w, resource, engine.KindCertificate, name, live)
		if err != nil || !marked {
			return err
		}
		return s.mark(ctx, w, resource, name, Identity{}, "")
	case c.Action == engine.Keep && marked:
		return s.mark(ctx, w, resource, name, live, "")
	case c.Action == engine.Remove && !marked && s.secretUser(c) == "" && s.unprovable == "":
		return s.mark(ctx, w, resource, name, live, s.now.UTC().Format(time.RFC3339))
	}
	return nil
}

// unlessDry does something unless nothing may be asked of the server.
func (s *sweep) unlessDry(do func() error) error {
	if s.options.DryRun == report.DryRunClient {
		return nil
	}
	return do()
}

// writes says whether this run writes what belongs to a Gateway; an orphan
// belongs to none.
func (s *sweep) writes(placed engine.Placed) bool {
	if placed.Gateway.Name == "" {
		return s.options.Gateways == nil
	}
	return s.chosen(placed.Gateway)
}

// heldCertificate says what keeps a Certificate that is to be removed, or "".
func (s *sweep) heldCertificate(c engine.CertificatePlan) string {
	live := s.reading.Certificates[engine.ObjectName{Namespace: c.Namespace, Name: c.Name}]
	since, err := time.Parse(time.RFC3339, live.Annotations[annotationStale])
	user := s.secretUser(c)
	switch {
	case user != "":
		return user
	case s.unprovable != "":
		return s.unprovable
	case err != nil:
		return "stale from now on, " + goesAfter(s.now, s.options.Grace)
	case s.now.Sub(since) < s.options.Grace:
		return staleUntil(since, s.options.Grace)
	case !s.reading.serves(engine.KindListenerSet) && !ofGateway(c):
		return "the server " + unserved + " ListenerSets now, and it may be for one"
	}
	for _, p := range s.parts[c.Gateway] {
		if why := s.heldBack(p); why != "" {
			return why
		}
	}
	return ""
}

// ofGateway says whether a Certificate has a name that a Gateway's have, rather
// than a ListenerSet's.
func ofGateway(c engine.CertificatePlan) bool {
	gateway := c.Gateway.Name
	if metadata, ok := c.Object()["metadata"].(map[string]any); ok && gateway == "" {
		labels, _ := metadata["labels"].(map[string]any)
		gateway, _ = labels[engine.LabelFor].(string)
	}
	return slices.ContainsFunc(c.DNSNames, func(hostname string) bool {
		return c.Name == engine.CertificateName(engine.KindGateway, gateway, hostname)
	})
}

// secretUser returns what names the Secret of a Certificate, as far as it can be
// seen, or why that cannot be seen; "" for nobody.
func (s *sweep) secretUser(c engine.CertificatePlan) string {
	secret := engine.ObjectName{Namespace: c.Namespace, Name: c.SecretName}
	for _, user := range slices.Concat(s.secretUsers[secret], []string{s.mentioned().of(secret)}) {
		if user != "" && user != engine.KindCertificate+" "+c.Namespace+"/"+c.Name {
			return user + " names its Secret"
		}
	}
	return s.unseenSecretUser(secret)
}

// secretUsers lists what names Secrets: listeners, and the Certificates that
// write them.
func secretUsers(snapshot *engine.Snapshot) map[engine.ObjectName][]string {
	users := map[engine.ObjectName][]string{}
	for _, g := range slices.Concat(snapshot.Gateways, snapshot.ListenerSets) {
		for _, l := range g.Listeners {
			for _, ref := range l.CertificateRefs {
				ref.Namespace = cmp.Or(ref.Namespace, g.Namespace)
				users[ref] = append(users[ref], fmt.Sprintf("listener %s of %s", l.Name, g))
			}
		}
	}
	for _, c := range snapshot.Certificates {
		secret := engine.ObjectName{Namespace: c.Namespace, Name: c.SecretName}
		users[secret] = append(users[secret], c.String())
	}
	return users
}

// unseenUser says that a namespace which is not read may use a Secret: a grant
// lets it.
func (s *sweep) unseenUser(secret engine.ObjectName) string {
	for _, grant := range s.reading.Snapshot.Grants {
		if s.options.Namespaces == nil || grant.Namespace != secret.Namespace {
			continue
		}
		for _, from := range grant.From {
			if !slices.Contains(s.options.Namespaces, from.Namespace) {
				return fmt.Sprintf("%s lets namespace %s use it, which is not read", grant, from.Namespace)
			}
		}
	}
	return ""
}

// ripeCertificates are those that this look would remove.
func (s *sweep) ripeCertificates() map[engine.ObjectName]bool {
	out := map[engine.ObjectName]bool{}
	for _, c := range s.plan.Certificates {
		if c.Action == engine.Remove && s.writes(c.Placed) && s.heldCertificate(c) == "" {
			out[engine.ObjectName{Namespace: c.Namespace, Name: c.Name}] = true
		}
	}
	return out
}

func (s *sweep) removeCertificates(ctx context.Context, first map[engine.ObjectName]bool) {
	resource, _ := s.reading.resource(engine.KindCertificate)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	for _, c := range s.plan.Certificates {
		name := engine.ObjectName{Namespace: c.Namespace, Name: c.Name}
		if !first[name] || c.Action != engine.Remove {
			continue
		}
		if held := s.heldCertificate(c); held != "" {
			s.report.certificate(c, held, nil)
			continue
		}
		err := s.unlessDry(func() error { return w.remove(ctx, resource, name, s.reading.Certificates[name]) })
		s.report.removed(engine.KindCertificate, name, c.Reason, err)
	}
}
