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
	// maxForeignAnnotation is far more than an annotation has that says something
	// about a hostname.
	maxForeignAnnotation = 1 << 10
)

// part is what one list gave, in memory.
type part struct {
	snapshot   engine.Snapshot
	parents    map[engine.ObjectName]*Parent
	identities map[engine.ObjectName]Identity
	ingresses  map[engine.ObjectName]string
	mentions   mentions
	routes     map[objectKey]types.UID
	releases   map[engine.ObjectName]HelmReleaseState
	shared     *intern
}

func newPart(shared *intern) *part {
	return &part{
		shared:     shared,
		parents:    map[engine.ObjectName]*Parent{},
		identities: map[engine.ObjectName]Identity{},
		ingresses:  map[engine.ObjectName]string{},
		mentions:   mentions{},
		routes:     map[objectKey]types.UID{},
		releases:   map[engine.ObjectName]HelmReleaseState{},
	}
}

// memory keeps what the engine needs of one kind.
type memory struct {
	keep   func(*part, map[string]any) error
	shared *intern
	parts  []*part // one since each mark
}

func newMemory(k kind) (sink, error) { return &memory{keep: k.keep, shared: newIntern()}, nil }

func (m *memory) add(object map[string]any) error {
	if len(m.parts) == 0 {
		m.parts = append(m.parts, newPart(m.shared))
	}
	return m.keep(m.parts[len(m.parts)-1], object)
}

func (m *memory) mark() (int64, error) {
	m.parts = append(m.parts, newPart(m.shared))
	return int64(len(m.parts) - 1), nil
}

func (m *memory) back(mark int64) error {
	m.parts = append(m.parts[:mark], newPart(m.shared))
	return nil
}

// keepKnowledge keeps what the engine reads.
func (p *part) keepKnowledge(object map[string]any) error {
	dropForeign(object)
	if err := p.decode(object); err != nil {
		return err
	}
	shed(object, "name", "namespace", "labels", "annotations", "ownerReferences")
	return nil
}

// decode adds an object to the snapshot.
func (p *part) decode(object map[string]any) error {
	p.shared.object(object)
	if err := p.snapshot.Decode(object, engine.Origin{Live: true}); err != nil {
		return err
	}
	if n := len(p.snapshot.Routes); n > 0 {
		p.share(&p.snapshot.Routes[n-1].Meta)
	}
	if n := len(p.snapshot.Certificates); n > 0 {
		p.share(&p.snapshot.Certificates[n-1].Meta)
	}
	return nil
}

func (p *part) share(meta *engine.Meta) {
	meta.Labels, meta.Annotations = p.shared.strings(meta.Labels), p.shared.strings(meta.Annotations)
}

func (p *part) keepParent(object map[string]any) error {
	managed, err := managedFields(object)
	if err != nil {
		return err
	}
	if err := p.decode(object); err != nil {
		return err
	}
	delete(object, "status")
	delete(object["metadata"].(map[string]any), "managedFields")
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
	p.mentions.object(object)
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
		Shared:          isShared(object),
	}
}

// shed drops, once the engine has decoded an object, what is large and of no more
// use: its status, and all metadata but the fields named.
func shed(object map[string]any, fields ...string) {
	delete(object, "status")
	meta, _ := object["metadata"].(map[string]any)
	kept := make(map[string]any, len(fields))
	for _, field := range fields {
		if value, found := meta[field]; found {
			kept[field] = value
		}
	}
	object["metadata"] = kept
}

// dropForeign drops the large annotations of what gatewright did not make: anyone
// who may write a route could fill the memory by them.
func dropForeign(object map[string]any) {
	if metadataOf(object, "labels")[engine.LabelFor] != nil {
		return
	}
	maps.DeleteFunc(metadataOf(object, "annotations"), func(key string, value any) bool {
		text, _ := value.(string)
		return len(text) > maxForeignAnnotation && !strings.HasPrefix(key, ourPrefix)
	})
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
