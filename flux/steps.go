package flux

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"

	"github.com/fluxcd/pkg/apis/kustomize"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	v2 "github.com/fluxcd/helm-controller/api/v2"
)

// Steps runs the post-renderers of a HelmRelease on a rendered chart as
// helm-controller does: each by kustomize, then the common metadata, then the
// labels that say where an object comes from. Hooks are rendered with the
// manifests, by themselves, or not at all, as the HelmRelease says; what comes
// back holds those that were.
func Steps(hr *v2.HelmRelease, chart Rendered) ([]byte, error) {
	switch hr.GetPostRenderStrategy() {
	case v2.PostRenderStrategyNoHooks:
		return steps(hr, chart.Manifests)
	case v2.PostRenderStrategySeparate:
		if _, err := steps(hr, chart.Hooks); err != nil {
			return nil, err
		}
		return steps(hr, chart.Manifests)
	}
	return steps(hr, joined(chart.Manifests, chart.Hooks))
}

func steps(hr *v2.HelmRelease, manifests []byte) ([]byte, error) {
	if len(bytes.TrimSpace(manifests)) == 0 {
		return manifests, nil
	}
	var err error
	for _, step := range hr.Spec.PostRenderers {
		if step.Kustomize == nil {
			continue
		}
		if manifests, err = build(step.Kustomize, manifests); err != nil {
			return nil, err
		}
	}
	if common := hr.Spec.CommonMetadata; common != nil {
		if manifests, err = addMetadata(manifests, common.Labels, common.Annotations); err != nil {
			return nil, err
		}
	}
	origin := map[string]string{releaseGroup + "/name": hr.Name, releaseGroup + "/namespace": hr.Namespace}
	return addMetadata(manifests, origin, nil)
}

// joined is one stream of two.
func joined(a, b []byte) []byte {
	if len(bytes.TrimSpace(b)) == 0 {
		return a
	}
	return bytes.Join([][]byte{a, b}, []byte("\n---\n"))
}

// Kustomize is not safe for concurrent use.
var kustomizing sync.Mutex

// build runs one post-renderer: a kustomization of the manifests.
func build(step *v2.Kustomize, manifests []byte) ([]byte, error) {
	config := types.Kustomization{Resources: []string{"manifests.yaml"}}
	config.APIVersion, config.Kind = types.KustomizationVersion, types.KustomizationKind
	for _, image := range step.Images {
		config.Images = append(config.Images, types.Image{Name: image.Name, NewName: image.NewName, NewTag: image.NewTag, Digest: image.Digest})
	}
	for _, patch := range step.Patches {
		config.Patches = append(config.Patches, types.Patch{Patch: patch.Patch, Target: selector(patch.Target)})
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	disk := filesys.MakeFsInMemory()
	if err := disk.WriteFile("manifests.yaml", manifests); err != nil {
		return nil, err
	}
	if err := disk.WriteFile("kustomization.yaml", text); err != nil {
		return nil, err
	}
	kustomizing.Lock()
	defer kustomizing.Unlock()
	options := krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	result, err := krusty.MakeKustomizer(&options).Run(disk, ".")
	if err != nil {
		return nil, err
	}
	return result.AsYaml()
}

func selector(target *kustomize.Selector) *types.Selector {
	if target == nil {
		return nil
	}
	out := &types.Selector{LabelSelector: target.LabelSelector, AnnotationSelector: target.AnnotationSelector}
	out.Group, out.Version, out.Kind = target.Group, target.Version, target.Kind
	out.Name, out.Namespace = target.Name, target.Namespace
	return out
}

// addMetadata puts labels and annotations on every object.
func addMetadata(manifests []byte, labels, annotations map[string]string) ([]byte, error) {
	kustomizing.Lock()
	defer kustomizing.Unlock()
	resources := provider.NewDefaultDepProvider().GetResourceFactory()
	all, err := resmap.NewFactory(resources).NewResMapFromBytes(manifests)
	if err != nil {
		return nil, err
	}
	for _, object := range all.Resources() {
		if err := set(labels, object.GetLabels, object.SetLabels); err != nil {
			return nil, err
		}
		if err := set(annotations, object.GetAnnotations, object.SetAnnotations); err != nil {
			return nil, err
		}
	}
	return all.AsYaml()
}

// set adds pairs to those of an object.
func set(pairs map[string]string, get func(...string) map[string]string, put func(map[string]string) error) error {
	if len(pairs) == 0 {
		return nil
	}
	both := maps.Clone(get())
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, pairs)
	return put(both)
}
