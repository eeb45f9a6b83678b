package flux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gatewright/gatewright/flux"
)

// reader collects files, each once.
type reader struct {
	files []flux.File
	seen  map[string]bool
}

// readFiles reads the files and folders, and of a file also what stands beside it
// and is written with it: its companion file, the other files that this one is for,
// and its folder's kustomization.
func readFiles(names []string) ([]flux.File, error) {
	r := &reader{seen: map[string]bool{}}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("%w; give files or folders that can be read", err)
		}
		if info.IsDir() {
			err = r.folder(name)
		} else {
			err = r.file(name)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.files, nil
}

func (r *reader) file(name string) error {
	if err := r.read(name); err != nil {
		return err
	}
	slashed := filepath.ToSlash(name)
	companion := flux.CompanionPath(slashed)
	if flux.IsCompanion(slashed) {
		companion = slashed
	}
	// Files that differ in their extension have one companion file.
	others := append(flux.KustomizationPaths(slashed), companion)
	others = append(others, flux.OwnerPaths(companion)...)
	return r.beside(others)
}

// beside reads those of the files that are there.
func (r *reader) beside(names []string) error {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			continue // some file systems have kustomization/ for Kustomization
		}
		if err := r.read(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// folder reads the manifests in a folder and below it, and the kustomization above
// it. It passes over charts, whose templates are none, and over hidden folders.
func (r *reader) folder(root string) error {
	if err := r.beside(flux.KustomizationPaths(path.Join(filepath.ToSlash(root), "kustomization.yaml"))); err != nil {
		return err
	}
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (strings.HasPrefix(entry.Name(), ".") || isChart(name)):
			return fs.SkipDir
		case entry.IsDir() || !isManifest(entry.Name()):
			return nil
		}
		return r.read(name)
	})
}

func isChart(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "Chart.yaml"))
	return err == nil
}

func isManifest(name string) bool {
	extension := path.Ext(name)
	return extension == ".yaml" || extension == ".yml" || extension == ".json" || name == "Kustomization"
}

func (r *reader) read(name string) error {
	name = path.Clean(filepath.ToSlash(name))
	if r.seen[name] {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	r.seen[name] = true
	r.files = append(r.files, flux.File{Path: name, Data: data})
	return nil
}
