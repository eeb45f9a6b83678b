package flux

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// outcome is what is to be written for a HelmRelease.
type outcome struct {
	release *release
	// entry is ours of spec.postRenderers; nil takes it out.
	entry      map[string]any
	companions []map[string]any
}

// write puts the outcomes of the releases of one file into it, and into its
// companion file.
func (r *run) write(file string, all []outcome) error {
	for _, o := range all {
		if err := r.writeEntry(o); err != nil {
			return o.release.fault(err.Error(), "write its spec.postRenderers as a plain list, without aliases and merge keys")
		}
	}
	return r.writeCompanion(file, all)
}

// writeEntry edits spec.postRenderers where it does not say already what it is
// to say.
func (r *run) writeEntry(o outcome) error {
	steps := o.release.Spec.PostRenderers
	var edit postrender.ListEdit
	for i, step := range steps {
		if isOurs(step) {
			edit.Remove = append(edit.Remove, i)
		}
	}
	last := len(steps) - 1
	switch {
	case o.entry == nil && len(edit.Remove) == 0:
		return nil
	case o.entry != nil && len(edit.Remove) == 1 && edit.Remove[0] == last && sameEntry(o.entry, steps[last]):
		return nil
	case o.entry != nil:
		edit.Add = []any{o.entry}
	}
	where := append(slices.Clip(o.release.path), "spec", "postRenderers")
	documents := postrender.Documents(r.files.get(o.release.file))
	edited, err := postrender.EditList(documents[o.release.document], where, edit)
	if err != nil {
		return err
	}
	documents[o.release.document] = edited
	r.files.set(o.release.file, bytes.Join(documents, nil))
	return nil
}

// writeCompanion writes the companion file, or takes it away, and has the
// kustomization of the folder list it.
func (r *run) writeCompanion(file string, all []outcome) error {
	name := CompanionPath(file)
	was, now := r.files.get(name), companionFile(all)
	if was != nil && !isWritten(was) && now != nil {
		return &engine.Error{Object: name, Message: "it has the name of a companion file, and gatewright did not write it", Fix: "give it another name"}
	}
	if now == nil && !isWritten(was) {
		return nil
	}
	r.files.set(name, now)
	for _, k := range listing(r.folders, file) {
		if err := r.list(k, file, name, now != nil, all[0].release); err != nil {
			return err
		}
	}
	return nil
}

// list has a kustomization list a companion file, or not.
func (r *run) list(k *kustomization, file, companion string, wanted bool, hr *release) error {
	var edit postrender.ListEdit
	for i := range k.Resources {
		if k.resource(i) == companion {
			edit.Remove = append(edit.Remove, i)
		}
	}
	switch {
	case wanted == (len(edit.Remove) > 0):
		return nil
	case wanted && !k.lists(file):
		r.find(engine.Warning, CodeNotListed, hr, fmt.Sprintf("%s does not list %s, so it does not list %s either; add both to resources, or whatever applies the one must apply the other", k.path, path.Base(file), path.Base(companion)))
		return nil
	case wanted:
		edit.Add = []any{relative(path.Dir(k.path), companion)}
	}
	return r.editResources(k, edit)
}

func (r *run) editResources(k *kustomization, edit postrender.ListEdit) error {
	documents := postrender.Documents(r.files.get(k.path))
	if len(documents) != 1 {
		return &engine.Error{Object: k.path, Message: "it is not one YAML document", Fix: "write it as one"}
	}
	text, err := postrender.EditList(documents[0], []any{"resources"}, edit)
	if err != nil {
		return &engine.Error{Object: k.path, Message: err.Error(), Fix: "write its resources as a plain list"}
	}
	r.files.set(k.path, text)
	// Another file may be listed there, too.
	return yaml.Unmarshal(text, &k.Kustomization)
}

// relative returns a path as seen from a folder.
func relative(folder, name string) string {
	up := ""
	for folder != "." && folder != "/" && !strings.HasPrefix(name, folder+"/") {
		folder, up = path.Dir(folder), up+"../"
	}
	if folder == "." {
		return up + name
	}
	return up + strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
}
