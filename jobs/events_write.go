package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

const (
	maxEvents = 100
	// eventLife is how long an API server keeps an Event, unless told otherwise.
	eventLife = time.Hour
	// maxEventMessage is what the newer API of Events allows, in bytes.
	maxEventMessage = 1024
)

var eventResource = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// tell writes the Events of a run. They are created and never changed: an Event
// has a name of its object and what it says, so the server itself tells that it
// has one already, and stores nothing. The sweep remembers of no claim that it
// was refused, since remembering would be a write to the Gateway that anybody
// could cause who may write a route: a refused claim costs a request in each run,
// of which there are at most maxEvents, and its owner finds an Event at any time.
func (s *sweep) tell(ctx context.Context, first *sweep) {
	if !s.options.Events || s.options.DryRun != report.Write {
		return
	}
	events := s.events(first)
	count := &s.report.Events
	if len(events) > maxEvents {
		count.Left, events = len(events)-maxEvents, events[:maxEvents]
	}
	s.progress("writing Events")
	var mu sync.Mutex
	each(ctx, events, func(e event) {
		err := s.createEvent(ctx, e)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			count.Written++
		case apierrors.IsAlreadyExists(err):
			count.Known++
		default:
			count.Failed, count.Error = count.Failed+1, helped(err)
		}
	})
}

func (s *sweep) createEvent(ctx context.Context, e event) error {
	object := s.eventObject(e)
	_, err := s.cluster.objects.Resource(eventResource).Namespace(e.namespace).
		Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldManager: engine.FieldManager})
	return err
}

// eventObject is the Event (v1).
func (s *sweep) eventObject(e event) map[string]any {
	_, gvk := s.reading.resource(e.kind)
	uid := string(s.uid(e))
	message := printable(e.message)
	if len(message) > maxEventMessage {
		message = strings.ToValidUTF8(message[:maxEventMessage-len("…")], "") + "…"
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{uid, e.reason, message}, "\x00")))
	level := "Normal"
	if e.warning {
		level = "Warning"
	}
	name := e.name[:min(len(e.name), 200)]
	now := s.now.UTC().Format(time.RFC3339)
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Event",
		"metadata":   map[string]any{"name": strings.TrimRight(name, ".-") + "." + hex.EncodeToString(sum[:8]), "namespace": e.namespace},
		"involvedObject": map[string]any{
			"apiVersion": gvk.GroupVersion().String(), "kind": e.kind, "namespace": e.namespace, "name": e.name, "uid": uid,
		},
		"type": level, "reason": e.reason, "message": message, "count": int64(1),
		"firstTimestamp": now, "lastTimestamp": now,
		"source":             map[string]any{"component": engine.FieldManager},
		"reportingComponent": engine.FieldManager,
	}
}

// printable is a text of which no character steers a terminal: messages repeat
// what anybody wrote who may write a Certificate.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// uid is that of the object of an Event, as kubectl describe asks for it.
func (s *sweep) uid(e event) types.UID {
	name := engine.ObjectName{Namespace: e.namespace, Name: e.name}
	parents := map[string]map[engine.ObjectName]*Parent{engine.KindGateway: s.reading.Gateways, engine.KindListenerSet: s.reading.ListenerSets}
	if p := parents[e.kind][name]; p != nil {
		return p.Object.GetUID()
	}
	if e.kind == engine.KindCertificate {
		return s.reading.Certificates[name].UID
	}
	return s.reading.routes[objectKey{e.kind, name}]
}

// keepRoute remembers the UID of a route, then keeps it as it is kept.
func keepRoute(keep func(*part, map[string]any) error) func(*part, map[string]any) error {
	return func(p *part, object map[string]any) error {
		kind, _ := object["kind"].(string)
		uid := (&unstructured.Unstructured{Object: object}).GetUID()
		if err := keep(p, object); err != nil {
			return err
		}
		p.routes[objectKey{kind, nameOf(object)}] = uid
		return nil
	}
}
