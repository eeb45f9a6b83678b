// Package notify tells Flux's notification-controller what a sweep did to the
// Gateways of HelmReleases.
package notify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/runtime/events"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// The reasons of events.
const (
	// ReasonListeners: listeners of a Gateway were added, updated or removed.
	ReasonListeners = "ListenersChanged"
	// ReasonAttention: something failed, was refused, or waits for somebody.
	ReasonAttention = "ListenersNeedAttention"
)

// patience is how long one event may take: Flux's recorder tries for longer,
// and nobody waits for a Job's last words.
const patience = 2 * time.Second

// Event is one message about one Gateway of a HelmRelease.
type Event struct {
	// Release is "namespace/name" of the HelmRelease, Kind and Gateway what was
	// written.
	Release, Kind, Gateway string
	// Attention says that somebody has to look.
	Attention bool
	Message   string
}

// Events returns what a report has to say of Gateways that HelmReleases render,
// sorted: nothing where nothing changed.
func Events(r *report.Report) []Event {
	if r.DryRun != report.Write {
		return nil
	}
	type key struct {
		object    string
		attention bool
	}
	lines := map[key][]string{}
	for _, c := range r.Changes {
		object := fmt.Sprintf("%s %s/%s", c.Kind, c.Namespace, c.Name)
		what := cmp.Or(c.Hostname, c.Listener)
		switch c.Outcome {
		case report.Made:
			lines[key{object, false}] = append(lines[key{object, false}], fmt.Sprintf("%s: %s", what, past[c.Action]))
		case report.Refused, report.Broken:
			lines[key{object, true}] = append(lines[key{object, true}], fmt.Sprintf("%s: not %s: %s", what, past[c.Action], c.Reason))
		}
	}
	for _, p := range r.Problems {
		lines[key{p.Object, true}] = append(lines[key{p.Object, true}], p.Message)
	}
	var out []Event
	for k, messages := range lines {
		if release := r.HelmReleases[k.object]; release != "" {
			kind, name, _ := strings.Cut(k.object, " ")
			slices.Sort(messages)
			out = append(out, Event{release, kind, name, k.attention, strings.Join(slices.Compact(messages), "\n")})
		}
	}
	slices.SortFunc(out, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Release, b.Release), cmp.Compare(a.Gateway, b.Gateway), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	return out
}

var past = map[engine.Action]string{engine.Add: "added", engine.Update: "updated", engine.Remove: "removed"}

// Send posts events to notification-controller, each with the HelmRelease as the
// object that an Alert can select, and the Gateway beside it. An address that
// does not answer costs two seconds: the rest is not sent then.
func Send(address string, all []Event) error {
	failed := make(chan error, len(all)+1)
	log := funcr.New(func(_, args string) { failed <- errors.New(args) }, funcr.Options{})
	recorder, err := events.NewRecorder(log, address, "gatewright", events.WithScheme(scheme()), events.WithRetryMax(1))
	if err != nil {
		return fmt.Errorf("events address %s: %w", address, err)
	}
	for i, e := range all {
		done := make(chan struct{})
		go func() {
			defer close(done)
			send(recorder, e)
		}()
		select {
		case <-done:
		case <-time.After(patience):
			failed <- fmt.Errorf("no answer in %s", patience)
		}
		select {
		case err := <-failed:
			return fmt.Errorf("events address %s: %w; %d of %d events were not sent", address, err, len(all)-i, len(all))
		default:
		}
	}
	return nil
}

func send(recorder events.Recorder, e Event) {
	severity, reason := corev1.EventTypeNormal, ReasonListeners
	if e.Attention {
		severity, reason = corev1.EventTypeWarning, ReasonAttention
	}
	namespace, name, _ := strings.Cut(e.Release, "/")
	release := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	namespace, name, _ = strings.Cut(e.Gateway, "/")
	var related runtime.Object = &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if e.Kind == engine.KindListenerSet {
		related = &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	recorder.Eventf(release, related, severity, reason, "Sweep", "%s %s\n%s", e.Kind, e.Gateway, e.Message)
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{helmv2.AddToScheme, gatewayv1.Install} {
		if err := add(s); err != nil {
			panic(err) // types that are compiled in
		}
	}
	return s
}
