package flux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// webOfGit is a HelmRelease whose chart is on disk.
var webOfGit = release("  chart: {spec: {chart: allinone, sourceRef: {kind: GitRepository, name: src}}}\n")

// files makes a folder of files.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// renderIn runs flux render on a folder; between reading and writing it calls
// meanwhile.
func renderIn(t *testing.T, dir string, meanwhile func(*cli.FluxResult)) (output string, exit int) {
	t.Helper()
	charts, err := filepath.Abs(filepath.Join(root, "testdata/charts"))
	if err != nil {
		t.Fatal(err)
	}
	program := cli.Program{Flux: func(ctx context.Context, request cli.FluxRequest) (*cli.FluxResult, error) {
		result, err := Render(ctx, request)
		if err == nil {
			meanwhile(result)
		}
		return result, err
	}}
	var out bytes.Buffer
	exit = cli.Main(t.Context(), []string{"flux", "render", dir, "--source", "GitRepository/web/src=" + charts}, strings.NewReader(""), &out, &out, program)
	return out.String(), exit
}

func nothingMeanwhile(*cli.FluxResult) {}

// TestLinks keeps a link to a HelmRelease, and does not follow one that stands
// where a companion file is to be.
func TestLinks(t *testing.T) {
	isolate(t)
	dir := files(t, map[string]string{"base/web.yml": webOfGit})
	link := filepath.Join(dir, "web.yaml")
	if err := errors.Join(os.Symlink("base/web.yml", link), os.Chmod(filepath.Join(dir, "base/web.yml"), 0o600)); err != nil {
		t.Fatal(err)
	}
	output, exit := renderIn(t, link, nothingMeanwhile)
	info, err := os.Lstat(link)
	if exit != 0 || err != nil || info.Mode()&os.ModeSymlink == 0 || !bytes.Contains(read(t, filepath.Join(dir, "base/web.yml")), []byte("# gatewright flux render")) {
		t.Errorf("exit code %d, error %v, the link is %v\n%s", exit, err, info.Mode(), output)
	}
	if info, err := os.Stat(link); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}

	dir, outside := files(t, map[string]string{"web.yaml": webOfGit}), filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(dir, "web.gatewright.yaml")); err != nil {
		t.Fatal(err)
	}
	output, exit = renderIn(t, filepath.Join(dir, "web.yaml"), nothingMeanwhile)
	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) || exit != 1 || !strings.Contains(output, "a link that leads nowhere") {
		t.Errorf("exit code %d, outside %v\n%s", exit, err, output)
	}
}

// TestConcurrentEdits has somebody else edit, add and remove files between reading
// and writing.
func TestConcurrentEdits(t *testing.T) {
	isolate(t)
	for name, tt := range map[string]struct {
		edit func(dir string) error
		want string
	}{
		"edited":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, "web.yaml"), []byte("new"), 0o644) }, "web.yaml was changed while it was rendered; run the command again; nothing is written"},
		"removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "web.yaml")) }, "web.yaml: no such file or directory; run the command again; nothing is written"},
		"added":   {func(dir string) error { return os.WriteFile(filepath.Join(dir, "web.gatewright.yaml"), nil, 0o644) }, "web.gatewright.yaml is there, and was not when it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := files(t, map[string]string{"web.yaml": webOfGit, "other.yaml": strings.Replace(webOfGit, "name: web,", "name: other,", 1)})
			output, exit := renderIn(t, dir, func(*cli.FluxResult) {
				if err := tt.edit(dir); err != nil {
					t.Error(err)
				}
			})
			if exit != 1 || !strings.Contains(output, tt.want) {
				t.Errorf("exit code %d, want 1 and %q in\n%s", exit, tt.want, output)
			}
			if _, err := os.Stat(filepath.Join(dir, "other.gatewright.yaml")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("another file is written: %v", err)
			}
		})
	}
}

// TestHalfWritten has the disk refuse the second file.
func TestHalfWritten(t *testing.T) {
	isolate(t)
	dir := files(t, map[string]string{"web.yaml": webOfGit})
	output, exit := renderIn(t, dir, func(result *cli.FluxResult) {
		result.Changes[1] = cli.FluxChange{Path: filepath.Join(dir, "none/web.yaml"), After: []byte("a")}
	})
	if want := "added " + filepath.Join(dir, "web.gatewright.yaml") + "\n"; exit != 4 || !strings.Contains(output, want) ||
		!strings.Contains(output, "no such file or directory; what is listed on stdout is written; run the command again") {
		t.Errorf("exit code %d, want 4 and %q in\n%s", exit, want, output)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".gatewright-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestOutsideOfASource has a HelmRelease ask for a chart and for values outside of
// the artifact that Flux would have.
func TestOutsideOfASource(t *testing.T) {
	isolate(t)
	dir := files(t, map[string]string{"values.yaml": "routes: {a: [outside.example.com]}\n"})
	if err := os.CopyFS(filepath.Join(dir, "inside"), os.DirFS(filepath.Join(root, "testdata/charts/allinone"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../values.yaml", filepath.Join(dir, "inside/link.yaml")); err != nil {
		t.Fatal(err)
	}
	const chart = "  chart: {spec: {chart: %s, valuesFiles: [%s], sourceRef: {kind: %s, name: src}}}\n"
	for _, tt := range []struct{ kind, chart, values, want string }{
		{"GitRepository", "../inside", "values.yaml", "no such file or directory; correct the path of the source"},
		{"GitRepository", "../../inside", "values.yaml", "no such file or directory; correct the path of the source"},
		{"HelmRepository", "../inside", "values.yaml", "no such file or directory; correct the path of the source"},
		{"GitRepository", ".", "../values.yaml", "values file: "},
		{"GitRepository", ".", "link.yaml", "values file: "},
		{"GitRepository", "/", "/values.yaml", "added "},
	} {
		source := filepath.Join(dir, "inside")
		if tt.kind == "HelmRepository" {
			source = filepath.Join(source, "templates")
		}
		_, output, _ := command(t, release(fmt.Sprintf(chart, tt.chart, tt.values, tt.kind)), "--source", tt.kind+"/web/src="+source)
		if !strings.Contains(output, tt.want) || strings.Contains(output, "outside.example.com") {
			t.Errorf("%v: want %q in\n%s", tt, tt.want, output)
		}
	}
}

// TestOneOfTwoFiles renders web.yaml alone, whose companion file is that of web.yml,
// too, and keeps the Certificates of that.
func TestOneOfTwoFiles(t *testing.T) {
	isolate(t)
	other := strings.Replace(webOfGit, "{name: web,", "{name: other,", 1)
	dir := files(t, map[string]string{"web.yaml": webOfGit, "web.yml": other})
	if output, exit := renderIn(t, dir, nothingMeanwhile); exit != 0 {
		t.Fatalf("exit code %d:\n%s", exit, output)
	}
	companion := filepath.Join(dir, "web.gatewright.yaml")
	before := read(t, companion)
	for _, name := range []string{"web.yaml", "web.yml", "web.gatewright.yaml"} {
		output, exit := renderIn(t, filepath.Join(dir, name), nothingMeanwhile)
		if after := read(t, companion); exit != 0 || !bytes.Equal(before, after) {
			t.Errorf("%s, exit code %d:\n%s\n%s", name, exit, output, after)
		}
	}
}

// TestKustomizationAbove has the kustomization of the folder above list the
// HelmRelease, and renders from several folders, by file and by folder.
func TestKustomizationAbove(t *testing.T) {
	isolate(t)
	for _, tt := range []struct{ name, from, what string }{
		{"file", ".", "apps/web.yaml"}, {"folder", ".", "apps"}, {"file here", "apps", "web.yaml"}, {"this folder", "apps", "."},
		{"from beside", "other", "../apps"}, {"from below", "apps/below", ".."}, {"all", ".", "."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const listed = "resources:\n- apps/web.yaml\n"
			dir := files(t, map[string]string{"apps/web.yaml": webOfGit, "apps/below/a.txt": "", "other/a.txt": "", "Kustomization/a.txt": "", "kustomization.yaml": listed})
			charts, err := filepath.Abs(filepath.Join(root, "testdata/charts"))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(filepath.Join(dir, tt.from))
			run := func(command string) (string, int) {
				var out bytes.Buffer
				exit := cli.Main(t.Context(), []string{"flux", command, tt.what, "--source", "GitRepository/web/src=" + charts}, strings.NewReader(""), &out, &out, cli.Program{Flux: Render})
				return out.String(), exit
			}
			output, exit := run("render")
			if got := string(read(t, filepath.Join(dir, "kustomization.yaml"))); exit != 0 || got != listed+"- apps/web.gatewright.yaml\n" {
				t.Errorf("exit code %d:\n%s\n%s", exit, output, got)
			}
			if output, exit := run("check"); exit != 0 {
				t.Errorf("check ends with %d:\n%s", exit, output)
			}
			web := filepath.Join(dir, "apps/web.yaml")
			if err := os.WriteFile(web, bytes.Replace(read(t, web), []byte("gatewright.dev/policy"), []byte("example.com/policy"), 1), 0o644); err != nil {
				t.Fatal(err)
			}
			output, exit = run("render")
			if got := string(read(t, filepath.Join(dir, "kustomization.yaml"))); exit != 0 || got != listed {
				t.Errorf("opted out, exit code %d:\n%s\n%s", exit, output, got)
			}
		})
	}
}
