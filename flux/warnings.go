package flux

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"

	v2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/gatewright/gatewright/postrender/engine"
)

// kustomizePatch is a patch of a post-renderer.
type kustomizePatch = kustomize.Patch

// The codes of findings about HelmReleases. Each is described in flux/README.md.
const (
	// CodeChartWithoutListeners: a Gateway has no listener that could be appended to.
	CodeChartWithoutListeners = "ChartWithoutListeners"
	// CodeTakenOut: a HelmRelease that was rendered does not opt in any more.
	CodeTakenOut = "TakenOut"
	// CodePatchMissesTarget: a patch that stands is for a Gateway that is gone.
	CodePatchMissesTarget = "PatchMissesTarget"
	// CodeValuesMissing: values are not at hand and were left out of account.
	CodeValuesMissing = "ValuesMissing"
	// CodeSubstitution: values wait for a substitution by Flux.
	CodeSubstitution = "Substitution"
	// CodeSourceLogin: the login of a source is not at hand.
	CodeSourceLogin = "SourceLogin"
	// CodeNotVerified: the signature of a chart is not checked.
	CodeNotVerified = "NotVerified"
	// CodeFloatingVersion: the chart may change without a commit.
	CodeFloatingVersion = "FloatingVersion"
	// CodeNotWhole: a HelmRelease opts in and names no chart.
	CodeNotWhole = "NotWhole"
	// CodeOldAPI: a HelmRelease is of an API version that Flux has given up.
	CodeOldAPI = "OldAPI"
	// CodeNotListed: a kustomization does not list the file of a HelmRelease.
	CodeNotListed = "NotListed"
	// CodeNamespaceMoved: a kustomization moves companions to another namespace.
	CodeNamespaceMoved = "NamespaceMoved"
	// CodeKustomizationWaits: a Kustomization of Flux waits for companions.
	CodeKustomizationWaits = "KustomizationWaits"
	// CodeSuspended: a HelmRelease is suspended.
	CodeSuspended = "Suspended"
	// CodeRemoteCluster: a HelmRelease is for another cluster.
	CodeRemoteCluster = "RemoteCluster"
	// CodeClientSideApply: a HelmRelease is applied client-side.
	CodeClientSideApply = "ClientSideApply"
	// CodeWaitsForCertificates: a release waits for Certificates of its own.
	CodeWaitsForCertificates = "WaitsForCertificates"
	// CodeDriftIgnored: drift of listeners is ignored.
	CodeDriftIgnored = "DriftIgnored"
)

// isWhole tells whether a HelmRelease can be rendered. One that names no chart
// is a patch for a kustomization.
func (r *run) isWhole(hr *release) bool {
	_, annotated := hr.Annotations[engine.AnnotationPolicy]
	switch {
	case hr.version != "v2":
		r.find(engine.Warning, CodeOldAPI, hr, fmt.Sprintf("it is of %s/%s, which is not rendered; write it as %s/v2", releaseGroup, hr.version, releaseGroup))
		return false
	case hr.Spec.Chart != nil || hr.Spec.ChartRef != nil:
		return true
	case annotated:
		r.find(engine.Warning, CodeNotWhole, hr, "it names no chart, as a patch for a kustomization does, so it is not rendered; put the annotation on the whole HelmRelease")
	}
	return false
}

// warn tells what can go wrong with a HelmRelease for which something is
// written.
func (r *run) warn(hr *release, out *outcome, content content) {
	r.warnPatches(hr, content.parents)
	r.warnVersion(hr)
	r.warnSubstitution(hr)
	if out.entry == nil && len(out.companions) == 0 {
		return
	}
	r.warnCompanions(hr, out.companions)
	r.warnWait(hr, content.certificates)
	if hr.Spec.Suspend {
		r.find(engine.Warning, CodeSuspended, hr, "it is suspended: its listeners come when it is resumed, and its Certificates at once")
	}
	if hr.Spec.KubeConfig != nil {
		r.find(engine.Warning, CodeRemoteCluster, hr, "its release is in another cluster (spec.kubeConfig), and its companion file is applied to this one; have a Kustomization with the same kubeConfig apply that file, and run the sweep there")
	}
	install, upgrade := hr.GetInstall(), hr.GetUpgrade()
	if install.ServerSideApply != nil && !*install.ServerSideApply || upgrade.ServerSideApply == v2.ServerSideApplyDisabled {
		r.find(engine.Warning, CodeClientSideApply, hr, "it is applied client-side, so each change of its listeners drops those of the sweep until that runs again; set spec.upgrade.serverSideApply: enabled and leave spec.install.serverSideApply out")
	}
	for _, rule := range hr.GetDriftDetection().Ignore {
		if slices.ContainsFunc(rule.Paths, ignoresListeners) && mayBeGateway(rule.Target) {
			r.find(engine.Warning, CodeDriftIgnored, hr, "spec.driftDetection ignores the listeners, which hides real drift; nothing that gatewright does needs it")
		}
	}
}

func ignoresListeners(pointer string) bool {
	return strings.HasPrefix("/spec/listeners", pointer) || strings.HasPrefix(pointer, "/spec/listeners/")
}

// mayBeGateway tells whether a target takes Gateways: its kind is a pattern, and may
// be left out.
func mayBeGateway(target *kustomize.Selector) bool {
	if target == nil || target.Kind == "" {
		return true
	}
	kind, err := regexp.Compile("^(?:" + target.Kind + ")$")
	return err == nil && kind.MatchString(engine.KindGateway)
}

// warnWait tells of Certificates in the release for which helm-controller waits:
// an order that cannot end before the release is there fails it.
func (r *run) warnWait(hr *release, certificates []string) {
	judged := slices.ContainsFunc(hr.Spec.HealthCheckExprs, func(c kustomize.CustomHealthCheck) bool { return c.Kind == engine.KindCertificate })
	if len(certificates) == 0 || judged || hr.GetWaitStrategy() == v2.WaitStrategyLegacy || hr.GetInstall().GetDisableWait() && hr.GetUpgrade().GetDisableWait() {
		return
	}
	r.find(engine.Warning, CodeWaitsForCertificates, hr, fmt.Sprintf("its release waits until the chart's own Certificates (%s) are ready, and an ACME order that needs the release in place never is; move them out of the release, or add to spec.healthCheckExprs one for cert-manager.io/v1 Certificate with current: \"true\"", strings.Join(certificates, ", ")))
}

// warnPatches tells of patches in the file whose target the chart does not
// render any more: kustomize passes over them without a word.
func (r *run) warnPatches(hr *release, all parents) {
	for _, step := range hr.Spec.PostRenderers {
		if !isOurs(step) {
			continue
		}
		for _, patch := range step.Kustomize.Patches {
			if patch.Target == nil || slices.ContainsFunc(all, func(p map[string]any) bool { return selects(patch.Target, p) }) {
				continue
			}
			r.find(engine.Warning, CodePatchMissesTarget, hr, fmt.Sprintf("the file has a patch for %s %s, which its chart does not render any more, so its listeners are missing in the cluster until flux render is run and committed", patch.Target.Kind, patch.Target.Name))
		}
	}
}

func selects(target *kustomize.Selector, parent map[string]any) bool {
	name, err := regexp.Compile("^(?:" + target.Name + ")$")
	return err == nil && parent["kind"] == target.Kind && name.MatchString(text(parent, "metadata", "name"))
}

// warnVerify tells of a signature that Flux checks and this run does not.
func (r *run) warnVerify(hr *release, source *object) {
	spec, _ := source.value["spec"].(map[string]any)
	if verify, _ := spec["verify"].(map[string]any); verify != nil {
		r.find(engine.Warning, CodeNotVerified, hr, fmt.Sprintf("the signature of its chart is not checked here, as %s has Flux do (spec.verify: %s); check it in CI with that tool, or leave it to Flux", source.key, text(verify, "provider")))
	}
}

// warnVersion tells of a chart that may change while no file does.
func (r *run) warnVersion(hr *release) {
	if hr.Spec.Chart != nil && hr.Spec.Chart.Spec.Verify != nil {
		r.find(engine.Warning, CodeNotVerified, hr, fmt.Sprintf("the signature of its chart is not checked here, as spec.chart.spec.verify (%s) has Flux do; check it in CI with that tool, or leave it to Flux", hr.Spec.Chart.Spec.Verify.Provider))
	}
	if hr.Spec.Chart == nil || hr.Spec.Chart.Spec.SourceRef.Kind != "HelmRepository" {
		return
	}
	if version := hr.Spec.Chart.Spec.Version; !exact.MatchString(version) {
		r.find(engine.Warning, CodeFloatingVersion, hr, fmt.Sprintf("spec.chart.spec.version %q takes new charts without a commit, for which the patches may not be right; name one version, and let a bot raise it", version))
	}
}

var exact = regexp.MustCompile(`^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// warnSubstitution tells of values that Flux fills in later.
func (r *run) warnSubstitution(hr *release) {
	if hr.Spec.Values != nil && variable.Match(hr.Spec.Values.Raw) {
		r.find(engine.Warning, CodeSubstitution, hr, "spec.values hold ${...}, which Flux replaces (postBuild) and this run does not; keep hostnames free of it, or render the result of flux build")
	}
}

var variable = regexp.MustCompile(`\$\{[_a-zA-Z]`)

// warnCompanions tells of what moves, renames or waits for what the companion
// file holds.
func (r *run) warnCompanions(hr *release, companions []map[string]any) {
	if len(companions) == 0 {
		return
	}
	for _, k := range hr.kustomizations {
		r.warnMoved(hr, k.path, k.Namespace, companions)
		if k.NamePrefix != "" || k.NameSuffix != "" {
			r.find(engine.Warning, CodeNamespaceMoved, hr, fmt.Sprintf("%s changes names (namePrefix, nameSuffix), those of the companions, too; move the HelmRelease to a folder whose kustomization does not", k.path))
		}
	}
	for _, o := range r.repository.sorted(kindKustomization) {
		var spec struct {
			Path, TargetNamespace string
			Wait                  bool
		}
		if convert(o.value["spec"], &spec) != nil || !isBelow(hr.file, spec.Path) {
			continue
		}
		r.warnMoved(hr, o.key.String(), spec.TargetNamespace, companions)
		if spec.Wait {
			r.find(engine.Warning, CodeKustomizationWaits, hr, fmt.Sprintf("%s waits until everything in %s is ready, its Certificates too, and what depends on it waits as well; set its spec.wait: false, and spec.healthChecks for what matters", o.key, spec.Path))
		}
	}
}

// isBelow tells whether a file is in a folder or below it.
func isBelow(file, folder string) bool {
	folder = path.Clean(strings.TrimPrefix(folder, "/"))
	return folder == "." || strings.HasPrefix(path.Clean(file), folder+"/")
}

// warnMoved tells of something that puts all objects into one namespace.
func (r *run) warnMoved(hr *release, what, namespace string, companions []map[string]any) {
	for _, object := range companions {
		if own := text(object, "metadata", "namespace"); namespace != "" && own != namespace {
			r.find(engine.Warning, CodeNamespaceMoved, hr, fmt.Sprintf("%s puts everything into namespace %s, and %s %s belongs into %s; move the HelmRelease to a folder for which no namespace is set", what, namespace, object["kind"], text(object, "metadata", "name"), own))
			return
		}
	}
}
