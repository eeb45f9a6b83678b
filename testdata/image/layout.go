package main

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// writeLayout writes the index as an OCI image layout in a tar file, its files
// sorted, all of one age and one owner.
func writeLayout(path, tag string, index v1.ImageIndex, created time.Time) error {
	dir, err := os.MkdirTemp("", "gatewright-layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	tagged := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})
	if err := folder.AppendIndex(index, tagged); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := archive(file, os.DirFS(dir), created); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func archive(to io.Writer, from fs.FS, created time.Time) error {
	writer := tar.NewWriter(to)
	err := fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path, Size: int64(len(content)), Mode: 0o644, ModTime: created, Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		_, err = writer.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return writer.Close()
}

// pushImage logs in as docker login, or one of its helpers, says.
func pushImage(ctx context.Context, reference string, index v1.ImageIndex, stdout io.Writer) error {
	to, err := name.ParseReference(reference, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("-push: %w; want REGISTRY/REPOSITORY", err)
	}
	err = remote.WriteIndex(to, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	fmt.Fprintln(stdout, "pushed", reference)
	return nil
}
