package flux

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
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

// write puts the outcomes into the files of their releases, and into companion
// files.
func (r *run) write(all []outcome) error {
	var errs []error
	companions := map[string][]outcome{}
	for _, o := range all {
		if err := r.writeEntry(o); err != nil {
			errs = append(errs, o.release.fault(err.Error(), "write its spec.postRenderers as a plain list, without aliases and merge keys"))
		}
		name := CompanionPath(o.release.file) // one for web.yaml and web.yml
		companions[name] = append(companions[name], o)
	}
	for name, data := range r.files.before {
		if isWritten(data) && companions[name] == nil {
			companions[name] = []outcome{} // its HelmReleases are gone from their file
		}
	}
	for _, name := range slices.Sorted(maps.Keys(companions)) {
		errs = append(errs, r.writeCompanion(name, companions[name]))
	}
	return errors.Join(errs...)
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

// writeCompanion writes a companion file, or takes it away, and has the
// kustomizations list it that list the files of its releases.
func (r *run) writeCompanion(name string, all []outcome) error {
	was, now := r.files.get(name), companionFile(all)
	switch {
	case now == nil && !isWritten(was):
		return nil
	case now == nil:
		r.files.set(name, nil)
		return r.unlist(name)
	case was != nil && !isWritten(was):
		return &engine.Error{Object: name, Message: "it has the name of a companion file, and gatewright did not write it", Fix: "give it another name"}
	case bytes.Contains(was, []byte("\r\n")): // a checkout with the line ends of Windows
		now = bytes.ReplaceAll(now, []byte("\n"), []byte("\r\n"))
	}
	r.files.set(name, now)
	for _, o := range all {
		for _, k := range listing(r.folders, o.release.file) {
			if err := r.list(k, name, o.release); err != nil {
				return err
			}
		}
	}
	return nil
}

// list has a kustomization that lists the file of a release list its companion
// file.
func (r *run) list(k *kustomization, companion string, hr *release) error {
	switch {
	case k.lists(companion):
		return nil
	case !k.lists(hr.file):
		r.find(engine.Warning, CodeNotListed, hr, fmt.Sprintf("%s does not list %s, so it does not list %s either; add both to resources, or whatever applies the one must apply the other", k.path, path.Base(hr.file), path.Base(companion)))
		return nil
	}
	return r.editResources(k, postrender.ListEdit{Add: []any{relative(k.absolute(path.Dir(k.path)), k.absolute(companion))}})
}

// unlist takes a companion file out of every kustomization.
func (r *run) unlist(companion string) error {
	for _, k := range r.folders {
		var edit postrender.ListEdit
		for i := range k.Resources {
			if k.isResource(i, companion) {
				edit.Remove = append(edit.Remove, i)
			}
		}
		if len(edit.Remove) == 0 {
			continue
		}
		if err := r.editResources(k, edit); err != nil {
			return err
		}
	}
	return nil
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
