package flux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Options are what HelmReleases are rendered with.
type Options struct {
	// All renders every HelmRelease, not only those that opt in by annotation.
	All bool
	// Namespace is that of objects whose manifests, and the kustomizations beside
	// them, name none.
	Namespace string
	// Root is the absolute path of the folder that the paths of files are relative to.
	// It is needed only where a kustomization stands above that folder.
	Root string
	// Sources says where the artifacts of sources are on disk.
	Sources map[SourceName]string
	// Policies are those that stand on no HelmRelease and on no Gateway.
	Policies engine.PolicySources
	// Snapshot holds what is known of the cluster.
	Snapshot []postrender.File
	// IgnoreMissingValues renders without the values that are not at hand.
	IgnoreMissingValues bool
	// Object reads an object of the cluster: a source, or a ConfigMap or Secret, which
	// is not in the files. It returns nil if there is none. A run without a cluster
	// has no Object.
	Object func(ctx context.Context, name SourceName) (map[string]any, error)
	// RenderChart renders a chart.
	RenderChart func(ctx context.Context, chart Chart) (Rendered, error)
}

// Result is what becomes of the files.
type Result struct {
	// Found counts the HelmReleases in the files, Releases are those that opt in.
	Found    int
	Changes  []Change
	Releases []Release
	Findings []engine.Finding
}

// Release is a HelmRelease that was rendered, and its plan.
type Release struct {
	Namespace, Name, File string
	Plan                  *engine.Plan
}

// run is one run over a repository.
type run struct {
	options    Options
	files      *files
	folders    []*kustomization
	repository *repository
	result     Result
	// live are the objects of the cluster that were asked for.
	live map[key]found
	// hidden is what no error about the current release may say.
	hidden []string
	// skipped are Gateways and ListenerSets of the current release that get nothing.
	skipped map[key]bool
}

// Render renders the HelmReleases in the files that opt in, and takes what was
// rendered out of those that no longer do. An error is, or joins, [*engine.Error];
// there is no result then.
func Render(ctx context.Context, all []File, options Options) (*Result, error) {
	r := &run{options: options, files: newFiles(all), folders: kustomizations(all, options.Root), live: map[key]found{}}
	var err error
	if r.repository, err = read(all, r.folders, options.Namespace); err != nil {
		return nil, err
	}
	outcomes, err := r.releases(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.write(outcomes); err != nil {
		return nil, err
	}
	r.result.Found, r.result.Changes = len(r.repository.releases), r.files.changes()
	slices.SortFunc(r.result.Findings, func(a, b engine.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.result.Findings = slices.Compact(r.result.Findings)
	return &r.result, nil
}

// releases renders each HelmRelease. If one fails there are no outcomes: what is
// written is all right, or nothing is.
func (r *run) releases(ctx context.Context) ([]outcome, error) {
	var out []outcome
	var errs []error
	for _, hr := range r.repository.releases {
		o, err := r.release(ctx, hr)
		if err != nil {
			errs = append(errs, err)
		}
		out = append(out, o)
	}
	if len(errs) > 0 && len(errs) < len(out) {
		errs = append(errs, onlySome(len(errs), len(out)))
	}
	return out, errors.Join(errs...)
}

func onlySome(wrong, all int) error {
	verb := "are"
	if wrong == 1 {
		verb = "is"
	}
	return fmt.Errorf("nothing is written for any: %d of %d HelmReleases %s wrong", wrong, all, verb)
}

// release renders one HelmRelease: chart, post-renderers, plan, patches.
func (r *run) release(ctx context.Context, hr *release) (outcome, error) {
	out := outcome{release: hr}
	wasRendered := slices.ContainsFunc(hr.Spec.PostRenderers, isOurs)
	if !r.optedIn(hr) {
		if wasRendered {
			r.find(engine.Warning, CodeTakenOut, hr, "it does not opt in, so its listeners and Certificates are taken out; if it was rendered by --all, add --all, or else annotate it with "+engine.AnnotationPolicy)
		}
		return out, nil
	}
	if !r.isWhole(hr) {
		if wasRendered {
			return out, hr.fault("the file has patches for it, and it cannot be rendered any more (it names no chart, or is not of "+releaseGroup+"/v2), so all of its listeners would go",
				"put back what is missing; to take all of it out, remove the annotation "+engine.AnnotationPolicy)
		}
		return out, nil
	}
	if hr.GetReleaseNamespace() == "" || hr.Namespace == "" {
		return out, hr.fault("its manifest names no namespace", "add --namespace NAMESPACE, or metadata.namespace to the manifest")
	}
	if hr.twice != "" {
		return out, hr.fault("Flux refuses its manifest: "+hr.twice, "take one out")
	}
	r.hidden = nil
	stream, err := r.stream(ctx, hr)
	if err != nil {
		return out, err
	}
	content := contentOf(stream)
	policies, err := r.policiesFor(hr, content.parents)
	if err != nil {
		return out, err
	}
	rendered, err := postrender.Render(stream, postrender.Options{
		Policies: policies, Namespace: hr.GetReleaseNamespace(), Release: releaseName(hr), Snapshot: r.options.Snapshot,
	})
	if err != nil {
		return out, fmt.Errorf("%s (%s): %w", hr, hr.file, r.redacted(err))
	}
	if err := policyForgotten(hr, rendered.Plan, content.parents); err != nil {
		return out, err
	}
	return out, r.plan(hr, rendered.Plan, content, &out)
}

// stream is what helm-controller would apply, but for what we add.
func (r *run) stream(ctx context.Context, hr *release) ([]byte, error) {
	chart, err := r.chartOf(ctx, hr)
	if err != nil {
		return nil, err
	}
	if chart.Values, err = r.valuesOf(ctx, hr); err != nil {
		return nil, err
	}
	rendered, err := r.options.RenderChart(ctx, chart)
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w", hr, hr.file, r.redacted(err))
	}
	without := hr.DeepCopy()
	without.Spec.PostRenderers = slices.DeleteFunc(without.Spec.PostRenderers, isOurs)
	stream, err := Steps(without, rendered)
	if err != nil {
		fix := "correct its spec.postRenderers, or the chart"
		if strings.Contains(err.Error(), "already registered id") {
			fix = "if an object is there as a hook, too, set spec.postRenderStrategy: separate; else take one of the two out"
		}
		return nil, hr.fault("helm-controller would fail to post-render it: "+r.redacted(err).Error(), fix)
	}
	return stream, nil
}

// plan turns the plan of a release into what is to be written.
func (r *run) plan(hr *release, plan *engine.Plan, content content, out *outcome) error {
	r.skipped = map[key]bool{}
	entry, err := r.postRenderer(hr, plan, content)
	if err != nil {
		return err
	}
	companions, err := r.companions(hr, plan)
	if err != nil {
		return err
	}
	out.entry, out.companions = entry, companions
	for _, other := range r.result.Releases {
		if other.Namespace == hr.Namespace && other.Name == hr.Name {
			r.find(engine.Warning, engine.CodeDuplicateObject, hr, fmt.Sprintf("it stands in %s, too; give the files of one cluster at a time", other.File))
		}
	}
	r.result.Releases = append(r.result.Releases, Release{hr.Namespace, hr.Name, hr.file, plan})
	for _, f := range plan.Findings {
		f.Source = hr.String() + ", " + hr.file
		r.result.Findings = append(r.result.Findings, f)
	}
	r.warn(hr, out, content)
	return nil
}

// content is what a rendered release holds, as far as it matters here.
type content struct {
	parents parents
	// hooked are those that are hooks: nothing is added to them, but a patch must not
	// select one.
	hooked parents
	// certificates are the names of its Certificates.
	certificates []string
}

// contentOf looks through a stream that kustomize wrote.
func contentOf(stream []byte) content {
	var out content
	for _, document := range postrender.Documents(stream) {
		var value map[string]any
		if yaml.Unmarshal(document, &value) != nil {
			continue // the stream was rendered, so it is no concern of ours
		}
		metadata, _ := value["metadata"].(map[string]any)
		hook := text(metadata, "annotations", "helm.sh/hook") != ""
		group, _, _ := strings.Cut(text(value, "apiVersion"), "/")
		switch kind := value["kind"]; {
		case hook && group == engine.GatewayGroup:
			out.hooked = append(out.hooked, value)
		case hook:
		case group == engine.GatewayGroup && (kind == engine.KindGateway || kind == engine.KindListenerSet):
			out.parents = append(out.parents, value)
		case group == engine.CertManagerGroup && kind == engine.KindCertificate:
			out.certificates = append(out.certificates, text(metadata, "name"))
		}
	}
	return out
}

// find notes a finding about a HelmRelease.
func (r *run) find(severity engine.Severity, code string, hr *release, message string) {
	r.result.Findings = append(r.result.Findings, engine.Finding{
		Severity: severity, Code: code, Object: hr.String(), Source: hr.file, Message: message,
	})
}
