package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeFlux writes the files and lists them. All of them are looked at before one
// is written.
func (a *app) writeFlux(changes []FluxChange) error {
	var errs []error
	for _, change := range changes {
		errs = append(errs, change.check())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w; nothing is written", err)
	}
	var out strings.Builder
	for _, change := range changes {
		word, err := change.write()
		if err != nil && out.Len() == 0 {
			return fmt.Errorf("%w; nothing is written", err)
		}
		if err != nil {
			err = fmt.Errorf("%w; what is listed on stdout is written; run the command again", errors.Join(err, a.print(out.String())))
			return &exitError{exitPartial, err}
		}
		fmt.Fprintf(&out, "%s %s\n", word, change.Path)
	}
	return a.print(out.String())
}

// check tells whether a file is still what was read, and may be written.
func (c FluxChange) check() error {
	if c.Before == nil {
		if _, err := os.Lstat(c.Path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there, and was not when it was read (or is a link that leads nowhere); take it away, or run the command again", c.Path)
		}
		return nil
	}
	now, err := os.ReadFile(c.Path)
	if err != nil {
		return fmt.Errorf("%w; run the command again", err)
	}
	if !bytes.Equal(now, c.Before) {
		return fmt.Errorf("%s was changed while it was rendered; run the command again", c.Path)
	}
	file, err := os.OpenFile(c.Path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%w; make the file writable", err)
	}
	return file.Close()
}

// write makes a change, and returns what was done.
func (c FluxChange) write() (string, error) {
	switch {
	case c.After == nil:
		return "removed", os.Remove(c.Path)
	case c.Before == nil:
		return "added", replaceFile(c.Path, c.After, 0o644)
	}
	path, err := filepath.EvalSymlinks(c.Path) // a link stays one
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return "changed", replaceFile(path, c.After, info.Mode().Perm())
}

// replaceFile writes a file at once: whoever reads it meanwhile, or after a crash,
// has the old one or the new one.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".gatewright-*")
	if err != nil {
		return atPath(path, err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err := errors.Join(err, file.Chmod(mode), file.Close()); err != nil {
		return atPath(path, err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return atPath(path, err)
	}
	return nil
}
