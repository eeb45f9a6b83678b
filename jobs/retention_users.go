package jobs

import (
	"context"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/postrender/engine"
)

// mentions maps the names of Secrets of ours to the object, the first by name,
// that mentions each. Namespace "" is any.
type mentions map[engine.ObjectName]string

// of returns what mentions a Secret, or "".
func (m mentions) of(secret engine.ObjectName) string {
	if user := m[secret]; user != "" {
		return user
	}
	return m[engine.ObjectName{Name: secret.Name}]
}

// note looks through part of an object for names as our Secrets have them, in
// whatever field: none of theirs can then be overlooked, and a Secret that is
// kept for nothing does no harm. Annotations say "namespace/name", too.
func (m mentions) note(user, namespace string, value any) {
	switch v := value.(type) {
	case map[string]any:
		within := namespace
		if other, ok := v["namespace"].(string); ok && other != "" {
			within = other
		}
		for _, field := range v {
			if _, isText := field.(string); isText {
				m.note(user, within, field)
			} else {
				m.note(user, namespace, field)
			}
		}
	case []any:
		for _, item := range v {
			m.note(user, namespace, item)
		}
	case string:
		name := engine.ObjectName{Namespace: namespace, Name: v}
		if before, after, qualified := strings.Cut(v, "/"); qualified {
			name = engine.ObjectName{Namespace: before, Name: after}
		}
		if first, known := m[name]; (!known || user < first) && engine.IsCertificateName(name.Name) {
			m[name] = user
		}
	}
}

func (m mentions) object(object map[string]any) {
	name := nameOf(object)
	kind, _ := object["kind"].(string)
	user := (&engine.Meta{Kind: kind, Namespace: name.Namespace, Name: name.Name}).String()
	m.note(user, name.Namespace, object["spec"])
	m.note(user, name.Namespace, metadataOf(object, "annotations"))
}

// keepIssuer keeps what the engine reads, and the Secrets that it names. Those of
// a ClusterIssuer lie in a namespace that only cert-manager knows.
func (p *part) keepIssuer(object map[string]any) error {
	p.mentions.object(object)
	return p.keepKnowledge(object)
}

func (p *part) keepPod(object map[string]any) error {
	p.mentions.object(object)
	return nil
}

// keepSecret keeps the identity of a Secret, and whether cert-manager wrote its
// certificate.
func (p *part) keepSecret(object map[string]any) error {
	managed, err := managedFields(object)
	if err != nil {
		return err
	}
	if err := p.keepIdentity(object); err != nil {
		return err
	}
	identity := p.identities[nameOf(object)]
	identity.Issued = isIssued(managed)
	p.identities[nameOf(object)] = identity
	return nil
}

// isIssued says whether cert-manager owns the certificate in a Secret. A copy
// that something made of it belongs to that.
func isIssued(managed []metav1.ManagedFieldsEntry) bool {
	for _, entry := range managed {
		if strings.HasPrefix(entry.Manager, "cert-manager") && entry.FieldsV1 != nil &&
			strings.Contains(entry.FieldsV1.GetRawString(), `"f:tls.crt"`) {
			return true
		}
	}
	return false
}

// secretMentions are the Secrets that what was read mentions, beside the
// Certificates, which write them.
func (s *sweep) secretMentions() mentions {
	m := mentions{}
	for _, parents := range []map[engine.ObjectName]*Parent{s.reading.Gateways, s.reading.ListenerSets} {
		for _, p := range parents {
			m.object(p.Object.Object)
		}
	}
	maps.Copy(m, s.reading.mentions)
	maps.Copy(m, s.reading.IngressSecrets)
	return m
}

// unseenSecretUser says what may use a Secret and cannot be seen, or "".
func (s *sweep) unseenSecretUser(secret engine.ObjectName) string {
	for _, k := range []struct{ kind, plural string }{{kindIngress, "Ingresses"}, {engine.KindIssuer, "Issuers"}, {engine.KindClusterIssuer, "ClusterIssuers"}} {
		if !s.reading.complete(k.kind) {
			return k.plural + " " + unreadable + ", and one may name the Secret" + s.reading.fix(k.kind)
		}
	}
	return s.unseenUser(secret)
}

// pods is read only in the namespaces of Secrets that would go.
var pods = kind{kind: "Pod", keep: (*part).keepPod}

// askPods holds the Secrets that Pods use, or may use.
func (s *sweep) askPods(ctx context.Context) {
	asked := map[string]func(engine.ObjectName) string{}
	for i, o := range s.orphans {
		if o.claimed || o.held != "" {
			continue
		}
		uses := asked[o.name.Namespace]
		if uses == nil {
			uses = s.podsIn(ctx, o.name.Namespace)
			asked[o.name.Namespace] = uses
		}
		s.orphans[i].held = uses(o.name)
	}
}

// podsIn reads the Pods of a namespace and returns what says which of them uses
// a Secret.
func (s *sweep) podsIn(ctx context.Context, namespace string) func(engine.ObjectName) string {
	s.progress("reading Pods of " + namespace)
	results, err := s.cluster.readKinds(ctx, []kind{pods}, ReadOptions{Namespaces: []string{namespace}}, newMemory)
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return func(engine.ObjectName) string {
			return fmt.Sprintf("the Pods of namespace %s cannot be read, and one may use it: %v", namespace, err)
		}
	}
	users := mentions{}
	for _, p := range results[0].sink.(*memory).parts {
		for secret, user := range p.mentions {
			users[secret] = user
		}
	}
	return func(secret engine.ObjectName) string {
		if user := users.of(secret); user != "" {
			return user + " uses it"
		}
		return ""
	}
}
