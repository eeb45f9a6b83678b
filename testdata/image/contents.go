package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	executablePath   = "gatewright"
	certificatesPath = "etc/ssl/certs/ca-certificates.crt" // where Go, and most others, look first
	user             = "65532:65532"                       // nobody's number, so no /etc/passwd is needed
)

// metadata is what the image says of itself.
type metadata struct {
	version string
	created time.Time
}

func (m metadata) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "gatewright",
		"org.opencontainers.image.description": "Listeners and certificates for the hostnames that routes ask for",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     m.version,
	}
}

// newImage holds the executable and the root certificates, and nothing else. The
// certificates come first: their layer is the same for all platforms and for
// most versions.
func newImage(platform *v1.Platform, executable []byte, about metadata) (v1.Image, error) {
	certificates, err := rootCertificates()
	if err != nil {
		return nil, err
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Created: v1.Time{Time: about.created},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, WorkingDir: "/", Entrypoint: []string{"/" + executablePath}, Labels: about.labels()},
	})
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, file := range []file{{certificatesPath, certificates, 0o644}, {executablePath, executable, 0o755}} {
		layer, err := file.layer(about.created)
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer,
			History: v1.History{Created: v1.Time{Time: about.created}, CreatedBy: "gatewright: " + file.path},
		})
		if err != nil {
			return nil, err
		}
	}
	return image, nil
}

func newIndex(images []v1.Image, about metadata) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: config.OS, Architecture: config.Architecture}},
		})
	}
	annotated, ok := mutate.Annotations(index, about.labels()).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("the annotated index is no index")
	}
	return annotated, nil
}

// file is the only one of its layer.
type file struct {
	path    string
	content []byte
	mode    int64
}

func (f file) layer(created time.Time) (v1.Layer, error) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for i, letter := range f.path {
		if letter != '/' {
			continue
		}
		folder := &tar.Header{Typeflag: tar.TypeDir, Name: f.path[:i+1], Mode: 0o755, ModTime: created, Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(folder); err != nil {
			return nil, err
		}
	}
	header := &tar.Header{Name: f.path, Size: int64(len(f.content)), Mode: f.mode, ModTime: created, Format: tar.FormatUSTAR}
	if err := writer.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := writer.Write(f.content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression))
}

// rootCertificates are those of Mozilla, as the Go project publishes them in a
// module: a build needs no file of the machine. Roots that are trusted in part
// are left out, because a file of certificates cannot say that.
func rootCertificates() ([]byte, error) {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if text.Len() == 0 {
		return nil, errors.New("the bundle holds no root certificate")
	}
	return text.Bytes(), nil
}
