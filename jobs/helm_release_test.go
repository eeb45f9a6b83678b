package jobs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// chart is a Gateway with routes; its values say what changes between two
// revisions.
const chart = "testdata/chart"

// helm is a way to carry out a release.
type helm struct {
	name  string
	major int // 0 for Flux
	// install and upgrade are flags of the commands.
	install, upgrade []string
	// patches says that an upgrade sends the difference between the manifests of
	// two revisions: a list that differs is replaced whole, and whatever stands
	// only in the cluster is lost with it. The others apply on the server's side,
	// and keep it.
	patches bool
	// forced says that a conflict with another field manager is overridden.
	forced bool
}

// helms are the ways that a chart gets into a cluster. An upgrade by Helm 4 goes
// the way of the last revision.
var helms = []helm{
	{name: "helm3", major: 3, patches: true},
	{name: "helm4-client", major: 4, install: []string{"--server-side=false"}, patches: true},
	{name: "helm4", major: 4},
	{name: "helm4-forced", major: 4, install: []string{"--force-conflicts"}, upgrade: []string{"--force-conflicts"}, forced: true},
	{name: "flux", forced: true},
}

// plugin is the post-renderer as each Helm is told of it.
type plugin struct {
	once       sync.Once
	executable string
	err        error
}

var postRenderer plugin

// install packs the plugin for this machine and has Helm 4 install it. Helm 3
// runs its executable.
func (p *plugin) install(t testing.TB, env *clustertest.Env) {
	t.Helper()
	p.once.Do(func() { p.err = p.pack(env) })
	if p.err != nil {
		t.Fatal(p.err)
	}
}

func (p *plugin) pack(env *clustertest.Env) error {
	const version = "9.8.7"
	home, err := os.MkdirTemp("", "gatewright-plugin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	pack := exec.Command("go", "run", "./cmd/gatewright/plugin", "-version", version, "-ldflags", "-s -w", "-out", home, runtime.GOOS+"/"+runtime.GOARCH)
	pack.Dir = ".."
	if out, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("packing the plugin: %w\n%s", err, out)
	}
	if _, err := env.TryHelm4("plugin", "install", filepath.Join(home, "gatewright-"+version+".tgz"), "--verify=false"); err != nil {
		return err
	}
	plugins, err := env.TryHelm4("env", "HELM_PLUGINS")
	p.executable = filepath.Join(strings.TrimSpace(plugins), "gatewright", "bin", runtime.GOOS+"-"+runtime.GOARCH, "gatewright")
	return err
}

// command runs a command of Helm in the namespace of the release.
func (r *release) command(args ...string) (string, error) {
	major := max(r.how.major, 3)
	return r.TryHelmWith(major, r.environment, append(args, "--namespace", r.namespace)...)
}

// rendering are the arguments that let Helm run gatewright.
func (r *release) rendering(args ...string) []string {
	renderer := "gatewright"
	if r.how.major != 4 {
		renderer = postRenderer.executable
	}
	out := []string{"--post-renderer", renderer}
	for _, arg := range append(args, "--namespace="+r.namespace, "--release="+r.name) {
		out = append(out, "--post-renderer-args", arg)
	}
	return out
}

// put installs the release, or upgrades it, by other arguments of Helm than the
// usual ones.
func (r *release) put(chart, values string, args ...string) error {
	args = append([]string{r.name, chart, "--values", r.valuesFile(values)}, args...)
	if r.how.major == 0 {
		return r.flux.put(r, args)
	}
	command, flags := "upgrade", r.how.upgrade
	if !r.installed {
		command, flags = "install", r.how.install
	}
	_, err := r.command(slices.Concat([]string{command}, args, flags)...)
	r.installed = r.installed || err == nil
	return err
}

// valuesFile is a file with values, in which the names of the release are put.
func (r *release) valuesFile(values string) string {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(r.named(values)), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// tryUpgrade installs the chart through the post-renderer, or upgrades to it.
func (r *release) tryUpgrade(values string, args ...string) error {
	r.t.Helper()
	return r.put(chart, values, append(r.rendering(), args...)...)
}

func (r *release) upgrade(values string, args ...string) {
	r.t.Helper()
	if err := r.tryUpgrade(values, args...); err != nil {
		r.t.Fatal(err)
	}
}

// bare is an upgrade that forgets the post-renderer.
func (r *release) bare(values string) {
	r.t.Helper()
	if err := r.put(chart, values); err != nil {
		r.t.Fatal(err)
	}
}

func (r *release) rollback(revision string) error {
	if r.how.major == 0 {
		return r.flux.rollback(r, revision)
	}
	_, err := r.command(slices.Concat([]string{"rollback", r.name, revision}, r.how.upgrade)...)
	return err
}

func (r *release) uninstall() {
	r.t.Helper()
	if r.how.major == 0 {
		r.flux.uninstall(r)
		return
	}
	if _, err := r.command("uninstall", r.name); err != nil {
		r.t.Fatal(err)
	}
}

// named puts the names of the release into manifests and values: EDGE is its
// Gateway, NS its namespace, TEAM that of other people.
func (r *release) named(text string) string {
	return strings.NewReplacer("EDGE", r.name, "NS", r.namespace, "TEAM", r.team).Replace(text)
}
