package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/postrender/engine"
)

// A Secret outlives its Certificate, unless cert-manager makes it the
// Certificate's own. The sweep removes it only where the policy asks for that
// and all of this holds: it is certainly one that cert-manager issued for a
// Certificate of ours, that Certificate is gone, nothing that can be seen names
// it, and it has been so, by a mark on it, for the whole time of the policy.

// CodeSecretsKept is the code of the finding that Secrets which a policy would
// have removed are kept, for want of rights.
const CodeSecretsKept = "SecretsKept"

// The metadata that cert-manager gives to Secrets.
const (
	annotationCertificate = engine.CertManagerGroup + "/certificate-name"
	labelNextKey          = engine.CertManagerGroup + "/next-private-key"
)

// orphan is a Secret whose Certificate is gone, or one that still carries the
// mark of that.
type orphan struct {
	name engine.ObjectName
	live Identity
	// claimed says that it is in use, or to be kept, so that a mark goes.
	claimed bool
	// marked is the time of the mark, zero without one; fresh says that it is to be
	// marked now.
	marked time.Time
	fresh  bool
	// held says why it stays for now, or is "".
	held string
}

// findOrphans looks for Secrets to mark, to unmark, or to remove.
func (s *sweep) findOrphans(ctx context.Context) {
	s.orphans = nil
	if k := s.reading.kind(engine.KindSecret); k == nil || !k.Complete {
		if k != nil {
			s.keepSecrets(k.Err.Error())
		}
		return
	}
	certificates := s.certificateNames()
	for _, secret := range s.reading.Snapshot.Secrets {
		name := engine.ObjectName{Namespace: secret.Namespace, Name: secret.Name}
		live := s.reading.Secrets[name]
		if !issuedForUs(secret, live) || !s.writesSecret(secret) {
			continue
		}
		marked, _ := time.Parse(time.RFC3339, live.Annotations[annotationStale])
		o := orphan{name: name, live: live, marked: marked}
		after, removes := s.retention(secret)
		if !removes || certificates[name] || len(s.secretUsers[name]) > 0 || s.mentioned().of(name) != "" {
			o.claimed = true
		} else if o.held = s.unseenSecretUser(name); o.held == "" {
			o.fresh, o.held = marked.IsZero() && s.unprovable == "", s.heldSecret(secret, marked, after)
		}
		if !o.claimed || live.Annotations[annotationStale] != "" {
			s.orphans = append(s.orphans, o)
		}
	}
	s.askPods(ctx)
}

// issuedForUs says whether cert-manager issued a Secret for a Certificate as we
// make them, in this namespace: by our label, which the Certificate gave it, by
// the name of the Certificate, which is the Secret's own, and by who wrote its
// content, since labels and annotations are copied about with a Secret. What
// something else controls goes with that.
func issuedForUs(secret *engine.Meta, live Identity) bool {
	return secret.Labels[engine.LabelFor] != "" && secret.Labels[labelNextKey] == "" &&
		secret.Annotations[annotationCertificate] == secret.Name && engine.IsCertificateName(secret.Name) &&
		live.Issued && !live.Terminating && secret.Controller == ""
}

// writesSecret says whether this run writes what belongs to the Secret's
// Gateway.
func (s *sweep) writesSecret(secret *engine.Meta) bool {
	return s.options.Gateways == nil || slices.ContainsFunc(s.options.Gateways, func(g engine.ObjectName) bool { return isFor(secret, g) })
}

// isFor says whether an object of ours was made for the Gateway, which stands in
// its namespace.
func isFor(m *engine.Meta, gateway engine.ObjectName) bool {
	return gateway.Namespace == m.Namespace && engine.ForLabel(gateway.Name) == m.Labels[engine.LabelFor]
}

// retention says whether the policy has the Secret removed, and after what time.
func (s *sweep) retention(secret *engine.Meta) (after time.Duration, removes bool) {
	switch r := s.options.Policies.SecretRetention(secret.Namespace, secret.Labels[engine.LabelFor]); r.Mode {
	case engine.RetainDelete:
		return s.options.Grace, true
	case engine.RetainAfter:
		return r.After.Duration, true
	}
	return 0, false
}

// certificateNames are the Certificates that live, or that the plan wants.
func (s *sweep) certificateNames() map[engine.ObjectName]bool {
	names := map[engine.ObjectName]bool{}
	for name := range s.reading.Certificates {
		names[name] = true
	}
	for _, c := range s.plan.Certificates {
		if c.Action != engine.Remove {
			names[engine.ObjectName{Namespace: c.Namespace, Name: c.Name}] = true
		}
	}
	return names
}

// heldSecret says what keeps an orphan for now, or "".
func (s *sweep) heldSecret(secret *engine.Meta, marked time.Time, after time.Duration) string {
	switch {
	case s.unprovable != "":
		return s.unprovable
	case marked.IsZero():
		return "its Certificate is gone; stale from now on, " + goesAfter(s.now, after)
	case s.now.Sub(marked) < after:
		return staleUntil(marked, after)
	}
	return s.heldWithGateway(secret)
}

// heldWithGateway says what keeps everything of a Secret's Gateway, where that
// lives.
func (s *sweep) heldWithGateway(secret *engine.Meta) string {
	for _, g := range s.reading.Snapshot.Gateways {
		name := engine.ObjectName{Namespace: g.Namespace, Name: g.Name}
		if !isFor(secret, name) {
			continue
		}
		if !slices.ContainsFunc(s.parents, func(p *parent) bool { return p.gateway() == name }) {
			return g.String() + " is not managed, or its policy cannot be read"
		}
		if slices.ContainsFunc(s.plan.Findings, func(f engine.Finding) bool {
			return f.Code == engine.CodePolicyUnknownKey && f.Object == g.String()
		}) {
			return "the policy of " + g.String() + " has a key that is not known here"
		}
	}
	for _, p := range s.parents {
		if p.source.Namespace == secret.Namespace && engine.ForLabel(p.gateway().Name) == secret.Labels[engine.LabelFor] {
			if why := s.heldBack(p); why != "" {
				return why
			}
		}
	}
	return ""
}

// addSecrets marks the Secrets whose Certificate is gone, takes the mark from
// those that are wanted again, and reports those that wait.
func (s *sweep) addSecrets(ctx context.Context) {
	s.findOrphans(ctx)
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	each(ctx, s.orphans, func(o orphan) {
		if !o.claimed && o.held != "" {
			s.report.heldSecret(o.name, o.held)
		}
		switch {
		case o.claimed:
			s.noteSecret(o.name, s.mark(ctx, w, secretResource, o.name, o.live, ""))
		case o.fresh:
			s.noteSecret(o.name, s.mark(ctx, w, secretResource, o.name, o.live, s.now.UTC().Format(time.RFC3339)))
		}
	})
}

var secretResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// noteSecret notes what became of a write to a Secret. The right to it may be
// missing, and cert-manager may write it at the time: then it stays.
func (s *sweep) noteSecret(name engine.ObjectName, err error) {
	switch {
	case apierrors.IsForbidden(err):
		s.report.heldSecret(name, serverWords(err))
		s.keepSecrets(serverWords(err))
	case errors.Is(err, errChanged):
		s.report.heldSecret(name, err.Error()+"; the next run looks again")
	case err != nil:
		s.report.removed(engine.KindSecret, name, "", err)
	}
}

// keepSecrets says, once, that Secrets stay for want of rights.
func (s *sweep) keepSecrets(why string) {
	s.report.finding(engine.Finding{
		Severity: engine.Warning, Code: CodeSecretsKept, Object: "Secrets",
		Message: "the policy's secretRetention asks for their removal, and they stay: " + why + "; grant list, patch and delete of secrets and list of pods, or leave secretRetention out",
	})
}

// ripeSecrets are those that this look would remove.
func (s *sweep) ripeSecrets() map[engine.ObjectName]bool {
	out := map[engine.ObjectName]bool{}
	for _, o := range s.orphans {
		if !o.claimed && o.held == "" {
			out[o.name] = true
		}
	}
	return out
}

// removeSecrets removes what this look and the first agree on, each in the very
// version that was read.
func (s *sweep) removeSecrets(ctx context.Context, first map[engine.ObjectName]bool) {
	if len(first) == 0 {
		return
	}
	s.findOrphans(ctx)
	ripe := s.ripeSecrets()
	maps.DeleteFunc(ripe, func(name engine.ObjectName, _ bool) bool { return !first[name] })
	w := &objectWriter{cluster: s.cluster, dryRun: s.dryRun()}
	for _, o := range s.orphans {
		if !ripe[o.name] || ctx.Err() != nil {
			continue
		}
		err := s.unlessDry(func() error { return w.remove(ctx, secretResource, o.name, o.live) })
		if apierrors.IsForbidden(err) || errors.Is(err, errChanged) {
			s.noteSecret(o.name, err)
			continue
		}
		s.report.removed(engine.KindSecret, o.name, "its Certificate is gone since "+o.marked.UTC().Format(time.RFC3339)+" at least, and nothing names it", err)
	}
}
