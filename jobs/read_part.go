package jobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

const (
	// lastApplied repeats the whole object, of a Secret its data too.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	// ourPrefix is that of all our annotations.
	ourPrefix = "gatewright.dev/"
)

// part is what one list gave, in memory.
type part struct {
	snapshot   engine.Snapshot
	parents    map[engine.ObjectName]*Parent
	identities map[engine.ObjectName]Identity
	ingresses  map[engine.ObjectName]string
	releases   map[engine.ObjectName]HelmReleaseState
}

func newPart() *part {
	return &part{
		parents:    map[engine.ObjectName]*Parent{},
		identities: map[engine.ObjectName]Identity{},
		ingresses:  map[engine.ObjectName]string{},
		releases:   map[engine.ObjectName]HelmReleaseState{},
	}
}

// memory keeps what the engine needs of one kind.
type memory struct {
	keep    func(*part, map[string]any) error
	pending *part
	parts   []*part
}

func (m *memory) begin() error {
	m.pending = newPart()
	return nil
}

func (m *memory) add(object map[string]any) error { return m.keep(m.pending, object) }

func (m *memory) commit() error {
	m.parts = append(m.parts, m.pending)
	return nil
}

// keepKnowledge keeps what the engine reads.
func (p *part) keepKnowledge(object map[string]any) error {
	if err := p.snapshot.Decode(object, engine.Origin{}); err != nil {
		return err
	}
	shed(object)
	return nil
}

func (p *part) keepParent(object map[string]any) error {
	managed, err := managedFields(object)
	if err != nil {
		return err
	}
	if err := p.keepKnowledge(object); err != nil {
		return err
	}
	p.parents[nameOf(object)] = &Parent{Object: &unstructured.Unstructured{Object: object}, Managed: managed}
	return nil
}

// keepLabelled keeps the identity of what may be ours.
func (p *part) keepLabelled(object map[string]any) error {
	if labels := metadataOf(object, "labels"); labels[engine.LabelFor] != nil {
		p.identify(object)
	}
	return p.keepKnowledge(object)
}

func (p *part) keepIdentity(object map[string]any) error {
	p.identify(object)
	return p.keepKnowledge(object)
}

func (p *part) keepIngress(object map[string]any) error {
	var ingress struct {
		Spec struct {
			TLS []struct{ SecretName string }
		}
	}
	if err := convert(object, &ingress); err != nil {
		return err
	}
	name := nameOf(object)
	for _, tls := range ingress.Spec.TLS {
		secret := engine.ObjectName{Namespace: name.Namespace, Name: tls.SecretName}
		if _, known := p.ingresses[secret]; !known && secret.Name != "" {
			p.ingresses[secret] = fmt.Sprintf("%s %s/%s", kindIngress, name.Namespace, name.Name)
		}
	}
	return nil
}

func (p *part) keepHelmRelease(object map[string]any) error {
	var release struct {
		Metadata struct{ Generation int64 }
		Spec     struct{ Suspend bool }
		Status   struct {
			ObservedGeneration int64
			Conditions         []metav1.Condition
		}
	}
	if err := convert(object, &release); err != nil {
		return err
	}
	state := HelmReleaseState{Suspended: release.Spec.Suspend, Reconciling: release.Status.ObservedGeneration != release.Metadata.Generation}
	for _, condition := range release.Status.Conditions {
		switch condition.Type {
		case "Ready":
			state.Ready = string(condition.Status)
		case "Reconciling":
			state.Reconciling = state.Reconciling || condition.Status == metav1.ConditionTrue
		}
	}
	p.releases[nameOf(object)] = state
	return nil
}

func (p *part) identify(object map[string]any) {
	meta := unstructured.Unstructured{Object: object}
	annotations := meta.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool { return !strings.HasPrefix(key, ourPrefix) })
	if len(annotations) == 0 {
		annotations = nil
	}
	p.identities[nameOf(object)] = Identity{
		UID:             types.UID(meta.GetUID()),
		ResourceVersion: meta.GetResourceVersion(),
		Annotations:     annotations,
		Terminating:     meta.GetDeletionTimestamp() != nil,
	}
}

// shed drops what is large and of no use once the engine has decoded an object.
func shed(object map[string]any) {
	delete(object, "status")
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
}

// prune drops from an object, in place, what nobody may read, and the largest
// thing that nobody needs to. Of a Secret, tools put data into annotations too.
func prune(object map[string]any) {
	annotations := metadataOf(object, "annotations")
	delete(annotations, lastApplied)
	if object["kind"] != engine.KindSecret {
		return
	}
	maps.DeleteFunc(annotations, func(key string, _ any) bool {
		return !strings.HasPrefix(key, ourPrefix) && !strings.HasPrefix(key, engine.CertManagerGroup+"/")
	})
}

// metadataOf is a mapping of the metadata, nil if there is none.
func metadataOf(object map[string]any, field string) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	value, _ := meta[field].(map[string]any)
	return value
}

func nameOf(object map[string]any) engine.ObjectName {
	meta, _ := object["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	return engine.ObjectName{Namespace: namespace, Name: name}
}

// managedFields are kept as the bytes that they came as: as maps they take many
// times the room.
func managedFields(object map[string]any) ([]metav1.ManagedFieldsEntry, error) {
	var meta struct {
		ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
	}
	err := convert(object["metadata"], &meta)
	return meta.ManagedFields, err
}

// convert reads fields into a struct.
func convert(from, into any) error {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return &answerError{err.Error()}
	}
	return nil
}
