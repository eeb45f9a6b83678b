package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The codes of what a preflight finds. Each is described in jobs/README.md.
const (
	// CodeWouldBeRefused: the API server would not take the next version of an
	// object of the release.
	CodeWouldBeRefused = "WouldBeRefused"
	// CodeListenersAtRisk: the next change of the chart's listeners takes those of
	// the sweep with it.
	CodeListenersAtRisk = "ListenersAtRisk"
	// CodeNotAdoptable: Helm refuses to take over an object that exists.
	CodeNotAdoptable = "NotAdoptable"
	// CodePreflightForbidden: the caller may not ask, so it is not known whether the
	// API server would take an object.
	CodePreflightForbidden = "PreflightForbidden"
)

// Blocks says of a finding of a preflight that the upgrade fails by it, or may,
// for all that is known.
func Blocks(f engine.Finding) bool {
	return f.Severity == engine.Critical || f.Code == CodePreflightForbidden
}

// Release is the one that a preflight is for.
type Release struct{ Name, Namespace string }

func (r Release) String() string { return r.Namespace + "/" + r.Name }

// Preflight asks the API server by dry run whether it would take the Gateways
// and ListenerSets of a release's next version, and the Certificates that exist,
// written as the release's manager writes them, and says what blocks them. It changes nothing. Objects are the
// manifests as they come out of a post-render.
func (c *Cluster) Preflight(ctx context.Context, objects []map[string]any, release Release) ([]engine.Finding, error) {
	reading, err := c.Read(ctx, ReadOptions{})
	if err != nil {
		return nil, err
	}
	if err := c.missing(reading); err != nil {
		return nil, err
	}
	next := reading.overwritten(objects, release)
	written := reading.parentsWritten(next)
	findings := reading.Snapshot.Gaps()
	for _, u := range next {
		found, err := c.wouldTake(ctx, reading, u, release, written)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// wouldTake says what stands in the way of one object.
func (c *Cluster) wouldTake(ctx context.Context, reading *Reading, next *unstructured.Unstructured, release Release, written []metav1.ManagedFieldsEntry) ([]engine.Finding, error) {
	switch next.GetKind() {
	case engine.KindGateway, engine.KindListenerSet:
		return c.wouldTakeParent(ctx, reading, next, release)
	case engine.KindCertificate:
		return c.wouldAdopt(ctx, reading, next, release, written)
	}
	return nil, nil
}

// parentsWritten is who wrote those Gateways and ListenerSets that exist.
func (r *Reading) parentsWritten(objects []*unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	var managed []metav1.ManagedFieldsEntry
	for _, u := range objects {
		name := engine.ObjectName{Namespace: u.GetNamespace(), Name: u.GetName()}
		parents := map[string]map[engine.ObjectName]*Parent{engine.KindGateway: r.Gateways, engine.KindListenerSet: r.ListenerSets}
		if live := parents[u.GetKind()][name]; live != nil {
			managed = append(managed, live.Managed...)
		}
	}
	return managed
}

// wouldTakeParent asks the server about one parent.
func (c *Cluster) wouldTakeParent(ctx context.Context, reading *Reading, next *unstructured.Unstructured, release Release) ([]engine.Finding, error) {
	name := engine.ObjectName{Namespace: next.GetNamespace(), Name: next.GetName()}
	source := sourceOf(reading.Snapshot.Gateways, name)
	if next.GetKind() == engine.KindListenerSet {
		source = sourceOf(reading.Snapshot.ListenerSets, name)
	}
	if of := releaseOf(source.Annotations); release.Name != "" && of != "" && of != release.String() {
		return []engine.Finding{notAdoptable(next, of)}, nil
	}
	p := &parent{source: source, rendered: source.Rendered()}
	w := writerOf(reading.parentsWritten([]*unstructured.Unstructured{next}))
	after, found, err := c.ask(ctx, reading, next, w, func(refusal error) string { return blockers(p, next, refusal) })
	if after == nil {
		return found, err
	}
	if lost := lostListeners(p, after); len(lost) > 0 {
		which := "it"
		if !w.apply && !changesListeners(p, after) {
			which = "a version that changes the chart's listeners, which this one does not,"
		}
		return []engine.Finding{finding(next, engine.Warning, CodeListenersAtRisk,
			fmt.Sprintf("written as %s, %s takes the sweep's listeners for %s with it; %s", w, which, strings.Join(lost, ", "), cure))}, nil
	}
	return nil, nil
}

// ask asks the server whether it would take an object, and returns what would be
// there then. Without that, the findings say why; help is for a refusal.
func (c *Cluster) ask(ctx context.Context, reading *Reading, next *unstructured.Unstructured, w writer, help func(refusal error) string) (*unstructured.Unstructured, []engine.Finding, error) {
	resource, _ := reading.resource(next.GetKind())
	read := resource.Version
	resource.Version = next.GroupVersionKind().Version // as Helm asks
	after, err := c.dryRun(ctx, resource, next, w)
	switch {
	case isGone(err):
		return nil, nil, nil // it went meanwhile, or its namespace is to be made by the release
	case isUnauthorized(err):
		return nil, []engine.Finding{forbidden(next, err)}, nil
	case isRefusal(err), apierrors.IsConflict(err), apierrors.IsNotFound(err) && resource.Version != read:
		return nil, []engine.Finding{finding(next, engine.Critical, CodeWouldBeRefused,
			fmt.Sprintf("written as %s, the API server would refuse it: %s%s", w, serverWords(err), help(err)))}, nil
	case err != nil:
		return nil, nil, fmt.Errorf("%s %s/%s: dry run as %s: %w", next.GetKind(), next.GetNamespace(), next.GetName(), w.manager, err)
	}
	return after, nil, nil
}

func finding(u *unstructured.Unstructured, severity engine.Severity, code, message string) engine.Finding {
	return engine.Finding{Severity: severity, Code: code, Object: fmt.Sprintf("%s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName()), Message: message}
}

const cure = "run gatewright sweep right after the upgrade, or upgrade once with Helm 4 and --server-side=true, after which they stay"

func sourceOf(list []*engine.Gateway, name engine.ObjectName) *engine.Gateway {
	i := slices.IndexFunc(list, func(g *engine.Gateway) bool { return g.Namespace == name.Namespace && g.Name == name.Name })
	if i < 0 {
		return &engine.Gateway{}
	}
	return list[i]
}

// writer is how a release writes an object.
type writer struct {
	manager string
	// apply says that it applies, else it patches what changed; force that it takes
	// fields over.
	apply, force bool
}

func (w writer) String() string {
	switch {
	case !w.apply:
		return w.manager + " writes without server-side apply"
	case w.force:
		return w.manager + " applies by force"
	}
	return w.manager + " applies"
}

// writerOf finds in managedFields how a release wrote an object last. A new one
// is taken to be applied, as Helm 4 does.
func writerOf(managed []metav1.ManagedFieldsEntry) writer {
	w := writer{manager: helmManager, apply: true}
	var last metav1.Time
	for _, entry := range managed {
		if !isHelm(entry) || (entry.Time != nil && entry.Time.Before(&last)) {
			continue
		}
		w = writer{entry.Manager, entry.Operation == metav1.ManagedFieldsOperationApply, entry.Manager == "helm-controller"}
		if entry.Time != nil {
			last = *entry.Time
		}
	}
	return w
}

func (c *Cluster) dryRun(ctx context.Context, resource schema.GroupVersionResource, next *unstructured.Unstructured, w writer) (*unstructured.Unstructured, error) {
	client := c.objects.Resource(resource).Namespace(next.GetNamespace())
	all := []string{metav1.DryRunAll}
	if w.apply {
		return client.Apply(ctx, next.GetName(), next, metav1.ApplyOptions{FieldManager: w.manager, Force: w.force, DryRun: all})
	}
	// Without apply, the list of listeners is written as a whole once it changed.
	patch, err := json.Marshal(map[string]any{"spec": next.Object["spec"]})
	if err != nil {
		return nil, err
	}
	return client.Patch(ctx, next.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: w.manager, DryRun: all})
}

// lostListeners are the hostnames of the sweep's listeners that nothing answers
// after a write.
func lostListeners(p *parent, after *unstructured.Unstructured) []string {
	stays := map[string]bool{}
	for _, l := range listenersOf(after) {
		hostname, _ := l["hostname"].(string)
		stays[fmt.Sprintf("%v", l["name"])], stays[fmt.Sprintf("%v %s", l["port"], hostname)] = true, true
	}
	var lost []string
	for _, l := range p.source.Listeners {
		if p.ours(&l) && !stays[l.Name] && !stays[fmt.Sprintf("%d %s", l.Port, l.Hostname)] {
			lost = append(lost, cmp.Or(l.Hostname, l.Name))
		}
	}
	slices.Sort(lost)
	return lost
}

// changesListeners says whether a write leaves other listeners than those that are
// there without the sweep's. A release that does not apply writes the list only
// where its chart's differs from that of before.
func changesListeners(p *parent, after *unstructured.Unstructured) bool {
	var now []map[string]any
	for _, l := range p.source.Listeners {
		if !p.ours(&l) {
			now = append(now, l.Object)
		}
	}
	before, errBefore := json.Marshal(now)
	next, errNext := json.Marshal(listenersOf(after))
	return errBefore != nil || errNext != nil || string(before) != string(next)
}

// atRisk finds the parents whose next change of listeners takes the sweep's with
// it: a release that does not apply replaces the list as a whole.
func (s *sweep) atRisk() []engine.Finding {
	var findings []engine.Finding
	for _, p := range s.parents {
		w := writerOf(p.live.Managed)
		ours := slices.ContainsFunc(p.source.Listeners, func(l engine.SourceListener) bool { return p.ours(&l) })
		if by, _ := lastRelease(p.live.Managed); by == "" || w.apply || !ours {
			continue
		}
		findings = append(findings, finding(p.live.Object, engine.Warning, CodeListenersAtRisk,
			w.String()+", so the next upgrade that changes the chart's listeners takes the sweep's with it; "+cure))
	}
	return findings
}
