package flux

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notificationv1 "github.com/fluxcd/notification-controller/api/v1beta3"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/flux"
	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

const (
	example = "flux/example/"
	page    = "flux/README.md"
	here    = "GitRepository/flux-system/flux-system=."
)

func examplePolicy(t *testing.T) *engine.PolicyFile {
	t.Helper()
	file, err := engine.ParsePolicyFile("policy.yaml", read(t, example+"policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestExampleIsRendered checks that the folder is up to date, and that the web
// site of before becomes the one of apps.
func TestExampleIsRendered(t *testing.T) {
	isolate(t)
	t.Chdir(root)
	result, err := Render(t.Context(), cli.FluxRequest{
		Files: []string{example + "apps", example + "infrastructure"}, Sources: []string{here},
		Policies: engine.PolicySources{File: examplePolicy(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range result.Changes {
		t.Errorf("%s is out of date (-is +rendered):\n%s", change.Path, cmp.Diff(string(change.Before), string(change.After)))
	}
	if len(result.Plans) != 2 {
		t.Errorf("%d HelmReleases are rendered, want 2", len(result.Plans))
	}
	result, err = Render(t.Context(), cli.FluxRequest{Files: []string{example + "before/web.yaml"}, Sources: []string{here}})
	if err != nil || len(result.Changes) != 2 {
		t.Fatalf("changes %v, error %v, want 2 changes", result, err)
	}
	for _, change := range result.Changes {
		want := string(read(t, strings.Replace(change.Path, "before", "apps", 1)))
		if diff := cmp.Diff(want, string(change.After)); diff != "" {
			t.Errorf("apps (-), before rendered (+):\n%s", diff)
		}
	}
}

// TestExampleIsValid decodes every manifest into its type, with no field that
// the type does not know, and builds both folders as Flux does.
func TestExampleIsValid(t *testing.T) {
	t.Chdir(root)
	types := map[string]func() any{
		"HelmRelease":   func() any { return &v2.HelmRelease{} },
		"Kustomization": func() any { return &kustomizev1.Kustomization{} },
		"Provider":      func() any { return &notificationv1.Provider{} },
		"Alert":         func() any { return &notificationv1.Alert{} },
		"Namespace":     func() any { return &corev1.Namespace{} },
		"Certificate":   func() any { return &certmanagerv1.Certificate{} },
	}
	err := filepath.WalkDir(example, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "kustomization.yaml" || entry.Name() == "policy.yaml" {
			return err
		}
		for _, document := range postrender.Documents(read(t, name)) {
			var head struct{ Kind string }
			if err := yaml.Unmarshal(document, &head); err != nil || types[head.Kind] == nil && head.Kind != "" {
				t.Errorf("%s holds an unexpected %q: %v", name, head.Kind, err)
			} else if head.Kind != "" {
				if err := yaml.UnmarshalStrict(document, types[head.Kind]()); err != nil {
					t.Errorf("%s: %s: %v", name, head.Kind, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, certificates := range map[string]int{"apps": 1, "infrastructure": 1} {
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), example+folder)
		if err != nil {
			t.Fatal(err)
		}
		text, err := built.AsYaml()
		if got := bytes.Count(text, []byte("kind: Certificate\n")); err != nil || got != certificates {
			t.Errorf("%s builds %d Certificates, want %d (%v)", folder, got, certificates, err)
		}
	}
}

// TestExampleSweepHasThePolicy checks that the sweep and flux render have the
// same policy, and that the chart takes the values of the example.
func TestExampleSweepHasThePolicy(t *testing.T) {
	isolate(t)
	t.Chdir(root)
	var hr v2.HelmRelease
	documents := postrender.Documents(read(t, example+"infrastructure/gatewright.yaml"))
	if err := yaml.UnmarshalStrict(documents[len(documents)-1], &hr); err != nil {
		t.Fatal(err)
	}
	var file, values struct{ Gateways, Policy any }
	if err := errors.Join(yaml.Unmarshal(read(t, example+"policy.yaml"), &file), yaml.Unmarshal(hr.Spec.Values.Raw, &values)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file.Gateways, values.Policy); diff != "" || file.Gateways == nil {
		t.Errorf("policy.yaml (-), values of the sweep (+):\n%s", diff)
	}
	rendered, err := renderChart(t.Context(), cli.FluxRequest{}, flux.Chart{
		Path: hr.Spec.Chart.Spec.Chart, ReleaseName: hr.Name, Namespace: hr.Namespace, Values: hr.GetValues(),
	}, nil)
	const events = "- --flux-events=http://notification-controller.flux-system.svc.cluster.local./\n"
	if err != nil || !bytes.Contains(rendered.Manifests, []byte("kind: CronJob")) || !bytes.Contains(rendered.Manifests, []byte(events)) {
		t.Errorf("the chart does not take the values: %v\n%s", err, rendered.Manifests)
	}
}

// TestSnippets runs the commands that the page gives CI and pre-commit, in a
// repository that is up to date and in one that is not.
func TestSnippets(t *testing.T) {
	isolate(t)
	text := string(read(t, filepath.Join(root, page)))
	var ci struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	var hooks struct {
		Repos []struct {
			Hooks []struct{ Entry, Files string }
		}
	}
	if err := errors.Join(yaml.Unmarshal(snippet(t, text, "ci"), &ci), yaml.Unmarshal(snippet(t, text, "pre-commit"), &hooks)); err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, step := range ci.Jobs["gatewright"].Steps {
		commands = append(commands, step.Run)
	}
	commands = append(commands, hooks.Repos[0].Hooks[0].Entry)
	commands = slices.DeleteFunc(commands, func(c string) bool { return c == "" })
	if len(commands) != 2 {
		t.Fatalf("commands %q, want one of CI and one of pre-commit", commands)
	}
	if matched, err := regexp.MatchString(hooks.Repos[0].Hooks[0].Files, "apps/web.yaml"); err != nil || !matched {
		t.Errorf("the hook does not run for apps/web.yaml: %v", err)
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			dir := exampleRepository(t)
			if out, exit := shell(t, dir, command); exit != 0 {
				t.Errorf("exit code %d of a repository that is up to date:\n%s", exit, out)
			}
			web := filepath.Join(dir, "apps/web.yaml")
			changed := bytes.Replace(read(t, web), []byte("blog: null"), []byte("blog: [blog.example.com]"), 1)
			if err := os.WriteFile(web, changed, 0o644); err != nil {
				t.Fatal(err)
			}
			if out, exit := shell(t, dir, command); exit != 2 || !strings.Contains(out, "+              hostname: blog.example.com") {
				t.Errorf("exit code %d of a repository that is out of date, want 2:\n%s", exit, out)
			}
		})
	}
}

// snippet returns the block of the page whose fence has the word.
func snippet(t *testing.T, page, word string) []byte {
	t.Helper()
	_, rest, found := strings.Cut(page, "```yaml "+word+"\n")
	text, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed {
		t.Fatalf("the page has no block for %s", word)
	}
	return []byte(text)
}

// exampleRepository is the example as a repository of its own, with the charts.
func exampleRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{example + "apps": "apps", example + "infrastructure": "infrastructure", "testdata/charts": "testdata/charts"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(root, from))); err != nil {
			t.Fatal(err)
		}
	}
	policy := "gatewright.dev/policy: \"\" # policy.yaml says it all"
	own := "gatewright.dev/policy: '{issuerRef: {kind: ClusterIssuer, name: letsencrypt}, attach: {from: All}, hostnames: {allow: [\"*.example.com\"]}}'"
	edge := filepath.Join(dir, "infrastructure/edge.yaml")
	text := read(t, edge)
	if !bytes.Contains(text, []byte(policy)) {
		t.Fatalf("no %s in the example", policy)
	}
	if err := os.WriteFile(edge, bytes.Replace(text, []byte(policy), []byte(own), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shell runs a command in which gatewright is this test program.
func shell(t *testing.T, dir, command string) (output string, exit int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "gatewright")); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("bash", "-c", command)
	run.Dir = dir
	run.Env = append(os.Environ(), asPostRenderer+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := run.CombinedOutput()
	if exited, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		t.Fatal(err)
	} else if is {
		exit = exited.ExitCode()
	}
	return string(out), exit
}

// TestPageHasEveryCode checks that each finding stands on the page, and that the
// page has no other.
func TestPageHasEveryCode(t *testing.T) {
	source := read(t, filepath.Join(root, "flux/warnings.go"))
	_, table, _ := strings.Cut(string(read(t, filepath.Join(root, page))), "\n## Findings\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var want, got []string
	for _, m := range regexp.MustCompile(`Code\w+ = "(\w+)"`).FindAllSubmatch(source, -1) {
		want = append(want, string(m[1]))
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 10 {
		t.Errorf("codes of the program (-), of the page (+):\n%s", diff)
	}
}
