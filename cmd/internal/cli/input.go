package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

// inputFlags say what plan and explain look at.
type inputFlags struct {
	files    []string
	complete bool
	chart    ChartRequest
	// cluster asks for the whole cluster: alone it is what is looked at, beside
	// manifests it is known, and asked whether it would take them.
	cluster    bool
	connection Connection
}

// alone says that nothing but the cluster is looked at.
func (i *inputFlags) alone() bool { return i.cluster && len(i.files) == 0 && i.chart.Chart == "" }

// checkAlone refuses what is said of a release where there is none: it would be
// taken for a choice of what to show of the cluster.
func (i *inputFlags) checkAlone(cmd *cobra.Command) error {
	if !i.alone() {
		return nil
	}
	for _, flag := range []string{"namespace", "release"} {
		if cmd.Flags().Changed(flag) {
			return &usageError{cmd.CommandPath(), fmt.Errorf("--%s is that of a release, and --cluster alone looks at the whole cluster; give its manifests with -f or --chart, or leave --%s out", flag, flag)}
		}
	}
	return nil
}

// manifest is the content of one input.
type manifest struct {
	// source is the path, "stdin", or "" for a chart, whose documents name
	// their templates themselves.
	source string
	data   []byte
}

func (i *inputFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVarP(&i.files, "filename", "f", nil,
		"manifests: a `FILE`, a folder (with all below it), or - for stdin (repeatable); without it stdin, if piped")
	fs.BoolVar(&i.complete, "complete", false, "the manifests are the whole cluster, so what is not in them does not exist")
	fs.BoolVar(&i.cluster, "cluster", false,
		"look at the cluster; beside manifests, also ask it by dry run whether it would take their Gateways, and say what blocks them")
	i.connection.register(cmd)
	i.chart.register(cmd)
	cmd.Flags().Lookup("release").Usage = "`NAME` of the release: in messages, and what the chart of --chart sees (default there release-name)"
}

// read collects the inputs in the order given.
func (i *inputFlags) read(ctx context.Context, a *app, cmd *cobra.Command) ([]manifest, error) {
	if err := i.chart.check(cmd); err != nil {
		return nil, err
	}
	if err := i.connection.check(cmd, i.cluster); err != nil {
		return nil, err
	}
	if i.alone() {
		data, err := a.readCluster(ctx, i.connection)
		return []manifest{{clusterSource, data}}, err
	}
	var all []manifest
	if i.chart.Chart != "" {
		data, err := a.render(ctx, i.chart)
		if err != nil {
			return nil, err
		}
		all = append(all, manifest{data: data})
	}
	files := i.files
	if len(files) == 0 && i.chart.Chart == "" {
		if isTerminal(a.stdin) {
			return nil, &usageError{cmd.CommandPath(), errors.New("nothing to look at: give -f or --chart, or pipe manifests in")}
		}
		files = []string{"-"}
	}
	for _, file := range files {
		more, err := i.readInput(ctx, a, file)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// clusterSource names the snapshot of --cluster.
const clusterSource = "cluster"

// readCluster returns a snapshot of the cluster, as the command snapshot writes
// it.
func (a *app) readCluster(ctx context.Context, connection Connection) ([]byte, error) {
	if a.program.Snapshot == nil {
		return nil, a.needFull(ctx, need{"--cluster", "read clusters", "plan a file of kubectl get -o yaml with --complete"})
	}
	progress := newProgress(a.stderr)
	defer progress.clear()
	var data bytes.Buffer
	_, err := a.program.Snapshot(ctx, &data, SnapshotRequest{
		Connection: connection, Services: true,
		Progress: func(kind string, objects int) { progress.show(fmt.Sprintf("reading %ss: %d", kind, objects)) },
	})
	return data.Bytes(), err
}

// stdinSource names the input that has no path.
const stdinSource = "stdin"

func (i *inputFlags) readInput(ctx context.Context, a *app, file string) ([]manifest, error) {
	if file == "-" {
		data, err := readAll(ctx, a.stdin)
		if err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		m := manifest{stdinSource, data}
		return []manifest{m}, i.checkManifest(a, m)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("%w; give -f a file or folder that can be read", err)
	}
	if info.IsDir() {
		return a.readFolder(file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w; give -f a file that can be read", err)
	}
	m := manifest{file, data}
	return []manifest{m}, i.checkManifest(a, m)
}

// readFolder reads the manifests in a folder and below it, sorted by path. It
// passes over files with values or nothing, which folders hold too, and says of
// what is no YAML that it does.
func (a *app) readFolder(folder string) ([]manifest, error) {
	if _, err := os.Stat(filepath.Join(folder, "Chart.yaml")); err == nil {
		return nil, fmt.Errorf("%s is a chart, not a folder of manifests; give it by --chart %s", folder, folder)
	}
	var all []manifest
	// DirFS follows a link that the folder itself may be.
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isManifest(name) {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		m := manifest{filepath.Join(folder, filepath.FromSlash(name)), data}
		found, err := holdsObject(data)
		if err != nil {
			if err := checkRendered(m); err != nil {
				return err
			}
			say(a.stderr, oneLine(fmt.Sprintf("gatewright: warning: %s is no YAML, and is passed over: %v", m.source, err)))
		}
		if !found {
			return nil
		}
		all = append(all, m)
		return checkRendered(m)
	})
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", folder, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("folder %s holds no Kubernetes object in a .yaml, .yml or .json file; give -f a folder of manifests", folder)
	}
	return all, nil
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}
