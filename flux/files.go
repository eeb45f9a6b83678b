package flux

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// File is a file of a repository and its content.
type File struct {
	Path string
	Data []byte
}

// Change is what becomes of a file: it is new where Before is nil, and gone
// where After is nil.
type Change struct {
	Path          string
	Before, After []byte
}

// files are those that were given, and what becomes of them.
type files struct {
	before map[string][]byte
	after  map[string][]byte // of those that were written to; nil if it is gone
}

func newFiles(all []File) *files {
	f := &files{before: map[string][]byte{}, after: map[string][]byte{}}
	for _, file := range all {
		f.before[file.Path] = file.Data
	}
	return f
}

// get returns what a file holds by now, nil if there is none.
func (f *files) get(name string) []byte {
	if data, found := f.after[name]; found {
		return data
	}
	return f.before[name]
}

func (f *files) set(name string, data []byte) { f.after[name] = data }

// changes returns what differs, sorted by path.
func (f *files) changes() []Change {
	var out []Change
	for name, after := range f.after {
		before := f.before[name]
		if !bytes.Equal(before, after) || (before == nil) != (after == nil) {
			out = append(out, Change{name, before, after})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// companionHead is the first line of each companion file, so that only such a file
// is ever overwritten or removed.
const companionHead = "# Written by gatewright flux render. Do not edit: what is changed here is lost."

// companionSuffix is that of companion files.
const companionSuffix = ".gatewright.yaml"

// CompanionPath returns the name of the companion file of a file with
// HelmReleases, in the same folder.
func CompanionPath(file string) string {
	return strings.TrimSuffix(file, path.Ext(file)) + companionSuffix
}

// OwnerPaths returns where the HelmReleases of a companion file may be.
func OwnerPaths(companion string) []string {
	name := strings.TrimSuffix(companion, companionSuffix)
	return []string{name + ".yaml", name + ".yml", name + ".json"}
}

// IsCompanion tells whether a file is a companion file, by its name.
func IsCompanion(file string) bool { return strings.HasSuffix(file, companionSuffix) }

func isWritten(companion []byte) bool { return bytes.HasPrefix(companion, []byte(companionHead)) }

// kustomizationNames are those that kustomize reads.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// KustomizationPaths returns where a kustomization that lists a file may be: in
// its folder, and in the one above.
func KustomizationPaths(file string) []string {
	var out []string
	for _, folder := range []string{path.Dir(file), path.Join(path.Dir(file), "..")} {
		for _, name := range kustomizationNames {
			out = append(out, path.Join(folder, name))
		}
	}
	return out
}

func isKustomization(file string) bool { return slices.Contains(kustomizationNames, path.Base(file)) }
