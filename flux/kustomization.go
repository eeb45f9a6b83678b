package flux

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// kustomization is the kustomization of a folder.
type kustomization struct {
	path string
	// root is what paths are relative to, "" if that is not known.
	root string
	types.Kustomization
}

// absolute returns the path of a file in one way only, as far as that can be known:
// ../apps/web.yaml may be web.yaml.
func (k *kustomization) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(k.root, name)
}

// kustomizations reads those of all folders, sorted by path. One that cannot be
// read is none: kustomize itself says what is wrong with it.
func kustomizations(all []File, root string) []*kustomization {
	var out []*kustomization
	for _, file := range all {
		if !isKustomization(file.Path) {
			continue
		}
		k := &kustomization{path: file.Path, root: root}
		// Flux has an API with a kind of the same name.
		if err := yaml.Unmarshal(file.Data, &k.Kustomization); err == nil && !strings.HasPrefix(k.APIVersion, kustomizeGroup) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b *kustomization) int { return strings.Compare(a.path, b.path) })
	return out
}

// isResource tells whether the i-th resource is a file.
func (k *kustomization) isResource(i int, file string) bool {
	return k.absolute(path.Join(path.Dir(k.path), k.Resources[i])) == k.absolute(file)
}

// lists tells whether a file is among the resources.
func (k *kustomization) lists(file string) bool {
	for i := range k.Resources {
		if k.isResource(i, file) {
			return true
		}
	}
	return false
}

// listing returns the kustomizations by which a file is applied: those that list
// it, or that of its folder.
func listing(all []*kustomization, file string) []*kustomization {
	var out []*kustomization
	for _, k := range all {
		if k.lists(file) {
			out = append(out, k)
		}
	}
	for _, k := range all {
		if len(out) == 0 && path.Dir(k.path) == path.Dir(file) {
			return []*kustomization{k}
		}
	}
	return out
}

// generate adds the ConfigMaps and Secrets that a kustomization makes of files
// and literals, by the names that HelmReleases of the folder use.
func (r *repository) generate(all []File, k *kustomization, namespace string) {
	contents := map[string]string{}
	for _, file := range all {
		contents[file.Path] = string(file.Data)
	}
	add := func(kind string, args types.GeneratorArgs) {
		data, encrypted := map[string]any{}, false
		for _, source := range args.FileSources {
			name, file, named := strings.Cut(source, "=")
			if !named {
				name, file = path.Base(source), source
			}
			if text, found := contents[path.Join(path.Dir(k.path), file)]; found {
				data[name] = text
				encrypted = encrypted || isEncrypted(text)
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
		value := map[string]any{field: data}
		if encrypted {
			value[sopsKey] = true
		}
		r.objects[id] = &object{id, k.path, value}
	}
	for _, args := range k.ConfigMapGenerator {
		add(kindConfigMap, args.GeneratorArgs)
	}
	for _, args := range k.SecretGenerator {
		add(kindSecret, args.GeneratorArgs)
	}
}

// isEncrypted tells whether SOPS has encrypted a file of values, which Flux
// decrypts before it makes a Secret of it.
func isEncrypted(text string) bool {
	return strings.Contains(text, "ENC[AES256_GCM,") && strings.Contains(text, sopsKey)
}
