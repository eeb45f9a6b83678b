package flux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	node "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// key names an object of a repository.
type key struct{ kind, namespace, name string }

func (k key) String() string {
	if k.namespace == "" {
		return k.kind + " " + k.name
	}
	return k.kind + " " + k.namespace + "/" + k.name
}

// object is an object of a repository that is looked up by name.
type object struct {
	key
	file  string
	value map[string]any
}

// release is a HelmRelease and where it stands.
type release struct {
	v2.HelmRelease
	file     string
	document int   // of the file
	path     []any // in the document; empty if it is the whole document
	// version is that of its API.
	version string
	// twice is what is wrong with its document if that has a key twice, or "".
	twice string
	// kustomizations are those by which its file is applied, as far as they are
	// among the files.
	kustomizations []*kustomization
}

func (r *release) String() string { return key{"HelmRelease", r.Namespace, r.Name}.String() }

// fault is an error about the HelmRelease.
func (r *release) fault(message, fix string) error {
	return &engine.Error{Object: r.String(), Source: r.file, Message: message, Fix: fix}
}

// repository is what the files hold.
type repository struct {
	releases []*release
	objects  map[key]*object
	// unread are the documents that might hold such an object and are no YAML.
	unread []string
}

// The kinds that are looked up, beside HelmRelease.
var lookedUp = map[string]string{
	"ConfigMap": "", "Secret": "",
	kindHelmRepository: sourceGroup, kindOCIRepository: sourceGroup, kindHelmChart: sourceGroup, kindGitRepository: sourceGroup,
	kindKustomization: kustomizeGroup,
}

const (
	sourceGroup       = "source.toolkit.fluxcd.io"
	releaseGroup      = "helm.toolkit.fluxcd.io"
	kustomizeGroup    = "kustomize.toolkit.fluxcd.io"
	kindRelease       = "HelmRelease"
	kindKustomization = "Kustomization"
	kindConfigMap     = "ConfigMap"
	kindSecret        = "Secret"
)

// read finds the objects in the files. Of files that are no YAML only those that
// may hold a HelmRelease are an error: folders hold all sorts of templates.
func read(all []File, folders []*kustomization, namespace string) (*repository, error) {
	r := &repository{objects: map[key]*object{}}
	for _, file := range all {
		if isWritten(file.Data) {
			continue
		}
		folder := listing(folders, file.Path)
		for i, text := range postrender.Documents(file.Data) {
			if err := r.document(text, place{file.Path, i, folder, namespace}); err != nil {
				return nil, fmt.Errorf("%s, document %d: %w", file.Path, i+1, err)
			}
		}
	}
	for _, folder := range folders {
		r.generate(all, folder, namespace)
	}
	slices.SortStableFunc(r.releases, func(a, b *release) int { return strings.Compare(a.file, b.file) })
	return r, nil
}

// place is where a document stands.
type place struct {
	file      string
	document  int
	folder    []*kustomization // by which it is applied
	namespace string           // of what names none
}

// namespaceOf returns the namespace of an object that says the given one.
func (p place) namespaceOf(own string) string {
	switch {
	case len(p.folder) > 0 && p.folder[0].Namespace != "":
		return p.folder[0].Namespace
	case own != "":
		return own
	}
	return p.namespace
}

func (r *repository) document(text []byte, at place) error {
	mentioned := bytes.Contains(text, []byte(kindRelease))
	for kind := range lookedUp {
		mentioned = mentioned || bytes.Contains(text, []byte(kind))
	}
	if !mentioned {
		return nil
	}
	var value map[string]any
	if err := yaml.Unmarshal(text, &value); err != nil {
		if bytes.Contains(text, []byte("kind: "+kindRelease)) {
			return err
		}
		r.unread = append(r.unread, fmt.Sprintf("%s, document %d", at.file, at.document+1))
		return nil
	}
	before := len(r.releases)
	if err := r.add(value, at, nil); err != nil {
		return err
	}
	for _, hr := range r.releases[before:] {
		hr.twice = keyTwice(text) // Flux refuses such a document
	}
	return nil
}

// keyTwice says which key of a document stands in a mapping twice, or "".
func keyTwice(text []byte) string {
	var root node.Node
	if node.Unmarshal(text, &root) != nil {
		return ""
	}
	return twiceIn(&root)
}

func twiceIn(n *node.Node) string {
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == node.MappingNode && i%2 == 0 {
			if seen[child.Value] && child.Kind == node.ScalarNode {
				return fmt.Sprintf("the key %s stands twice in one mapping, again in line %d", child.Value, child.Line)
			}
			seen[child.Value] = true
		}
		if found := twiceIn(child); found != "" {
			return found
		}
	}
	return ""
}

// add keeps an object, or the items of a List.
func (r *repository) add(value map[string]any, at place, where []any) error {
	kind, _ := value["kind"].(string)
	if items, isList := value["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		for i, item := range items {
			if value, isMap := item.(map[string]any); isMap {
				if err := r.add(value, at, append(slices.Clip(where), "items", i)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	apiVersion, _ := value["apiVersion"].(string)
	group, version, _ := strings.Cut(apiVersion, "/")
	metadata, _ := value["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	own, _ := metadata["namespace"].(string)
	k := key{kind, at.namespaceOf(own), name}
	if want, is := lookedUp[kind]; is && (group == want || want == "" && apiVersion == "v1") {
		r.objects[k] = &object{k, at.file, value}
	}
	if kind != kindRelease || group != releaseGroup {
		return nil
	}
	out := &release{file: at.file, document: at.document, path: where, version: version}
	if err := convert(value, &out.HelmRelease); err != nil {
		return fmt.Errorf("HelmRelease %s: %w", name, err)
	}
	out.Namespace, out.kustomizations = k.namespace, at.folder
	r.releases = append(r.releases, out)
	return nil
}

// convert reads a decoded object as a type.
func convert(value any, into any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// passedOver names the documents in which something that is missing may stand, as
// the end of a message.
func (r *repository) passedOver() string {
	if len(r.unread) == 0 {
		return ""
	}
	return "; no YAML, and so passed over: " + strings.Join(r.unread, "; ")
}

// sorted returns the objects of a kind, by name.
func (r *repository) sorted(kind string) []*object {
	var out []*object
	for k, o := range r.objects {
		if k.kind == kind {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *object) int { return strings.Compare(a.key.String(), b.key.String()) })
	return out
}
