package flux

import (
	"cmp"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// kustomization is the kustomization of a folder.
type kustomization struct {
	path string
	types.Kustomization
}

// kustomizations reads those of all folders, by folder. One that cannot be read
// is none: kustomize itself says what is wrong with it.
func kustomizations(all []File) map[string]*kustomization {
	out := map[string]*kustomization{}
	for _, file := range all {
		if !isKustomization(file.Path) {
			continue
		}
		k := &kustomization{path: file.Path}
		if err := yaml.Unmarshal(file.Data, &k.Kustomization); err == nil && k.APIVersion != fluxKustomization {
			out[path.Dir(file.Path)] = k
		}
	}
	return out
}

// fluxKustomization is the API of Flux that has a kind of the same name.
const fluxKustomization = "kustomize.toolkit.fluxcd.io/v1"

// generate adds the ConfigMaps and Secrets that a kustomization makes of files
// and literals, by the names that HelmReleases of the folder use.
func (r *repository) generate(all []File, k *kustomization, namespace string) {
	contents := map[string]string{}
	for _, file := range all {
		contents[file.Path] = string(file.Data)
	}
	add := func(kind string, args types.GeneratorArgs) {
		data := map[string]any{}
		for _, source := range args.FileSources {
			name, file, named := strings.Cut(source, "=")
			if !named {
				name, file = path.Base(source), source
			}
			if text, found := contents[path.Join(path.Dir(k.path), file)]; found {
				data[name] = text
			}
		}
		for _, literal := range args.LiteralSources {
			if name, text, found := strings.Cut(literal, "="); found {
				data[name] = text
			}
		}
		field := "data"
		if kind == kindSecret {
			field = "stringData"
		}
		id := key{kind, cmp.Or(k.Namespace, args.Namespace, namespace), args.Name}
		r.objects[id] = &object{id, k.path, map[string]any{field: data}}
	}
	for _, args := range k.ConfigMapGenerator {
		add(kindConfigMap, args.GeneratorArgs)
	}
	for _, args := range k.SecretGenerator {
		add(kindSecret, args.GeneratorArgs)
	}
}
