package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestPackIsSortedExecutableAndReproducible(t *testing.T) {
	contents := map[string][]byte{"plugin.yaml": []byte("p"), "LICENSE": []byte("l"),
		executableName("linux", "amd64"): []byte("x"), executableName("windows", "arm64"): []byte("y")}
	first, err := pack(contents)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // a map is walked in another order each time
		again, err := pack(contents)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("packing the same files again gave other bytes")
		}
	}
	want := []string{
		"-rw-r--r-- gatewright/LICENSE",
		"-rwxr-xr-x gatewright/bin/linux-amd64/gatewright",
		"-rwxr-xr-x gatewright/bin/windows-arm64/gatewright.exe",
		"-rw-r--r-- gatewright/plugin.yaml",
	}
	if diff := cmp.Diff(want, list(t, first)); diff != "" {
		t.Errorf("files of the archive (-want +got):\n%s", diff)
	}
}

func list(t *testing.T, archive []byte) []string {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for reader := tar.NewReader(plain); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.FileInfo().Mode().String()+" "+header.Name)
	}
}

func TestManifestRunsTheExecutableOfEachPlatform(t *testing.T) {
	contents, err := describe("1.2.3", []byte("license"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion, Name, Version, Type, Runtime string
		RuntimeConfig                            struct {
			PlatformCommand []struct {
				OS, Arch, Command string
				Args              []string
			}
		}
	}
	if err := yaml.Unmarshal(contents["plugin.yaml"], &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "gatewright" || got.Version != "1.2.3" || got.Type != "postrenderer/v1" {
		t.Errorf("plugin is %s %s, a %s; want gatewright 1.2.3, a postrenderer/v1", got.Name, got.Version, got.Type)
	}
	var platforms []string
	for _, command := range got.RuntimeConfig.PlatformCommand {
		platforms = append(platforms, command.OS+"/"+command.Arch)
		want := "${HELM_PLUGIN_DIR}/" + executableName(command.OS, command.Arch)
		if command.Command != want || !slices.Equal(command.Args, []string{"post-render", "--helm4"}) {
			t.Errorf("%s/%s runs %s %q, want %s post-render --helm4", command.OS, command.Arch, command.Command, command.Args, want)
		}
	}
	want := []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
	if diff := cmp.Diff(want, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestDescribeRefusesVersionsThatHelmRefuses(t *testing.T) {
	for version, ok := range map[string]bool{
		"0.1.0": true, "10.20.30": true, "1.0.0-rc.1": true, "1.0.0-alpha": true,
		"": false, "v1.0.0": false, "1.0": false, "01.0.0": false, "1.0.0-": false,
		"1.0.0-1.2": false, "1.0.0 ": false, "1.0.0\nname: x": false,
	} {
		_, err := describe(version, nil)
		if (err == nil) != ok {
			t.Errorf("version %q: error %v, want accepted: %v", version, err, ok)
		}
		if err != nil && !strings.Contains(err.Error(), "such as 1.2.3") {
			t.Errorf("version %q: error %q does not say what is right", version, err)
		}
	}
}
