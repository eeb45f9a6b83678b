package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed plugin.yaml
var manifest string

//go:embed README.md
var readme []byte

const unversioned = "version: 0.0.0 # make plugin writes the version"

// Helm takes a strict semantic version and cuts the archive's name before the
// last "-<number>." to find the plugin's folder, so a pre-release must not begin
// with a number.
var versions = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[A-Za-z][0-9A-Za-z]*(\.[0-9A-Za-z]+)*)?$`)

// describe gives the files of the plugin that are not executables, by the name
// that they have in the archive.
func describe(version string, license []byte) (map[string][]byte, error) {
	if !versions.MatchString(version) {
		return nil, fmt.Errorf("version %q: Helm needs a semantic version, such as 1.2.3 or 1.2.3-rc.1", version)
	}
	if strings.Count(manifest, unversioned) != 1 {
		return nil, fmt.Errorf("plugin.yaml has no line %q, so it cannot be given a version", unversioned)
	}
	return map[string][]byte{
		"plugin.yaml": []byte(strings.Replace(manifest, unversioned, "version: "+version, 1)),
		"README.md":   readme,
		"LICENSE":     license,
	}, nil
}

// archiveName is what Helm asks for: the plugin's folder, then its version.
func archiveName(version string) string { return "gatewright-" + version + ".tgz" }

// executableName is where plugin.yaml looks for the executable of a platform.
func executableName(goos, arch string) string {
	name := "bin/" + goos + "-" + arch + "/gatewright"
	if goos == "windows" {
		name += ".exe"
	}
	return name
}

// pack writes the files sorted, all of one age and one owner.
func pack(contents map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		header := &tar.Header{
			Name:    "gatewright/" + name,
			Size:    int64(len(contents[name])),
			Mode:    0o644,
			ModTime: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		if strings.HasPrefix(name, "bin/") {
			header.Mode = 0o755
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(contents[name]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
