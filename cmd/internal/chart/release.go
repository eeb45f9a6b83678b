package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmcli "helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// Release is a chart as a file describes it rather than a command line.
type Release struct {
	cli.ChartRequest
	// Values are those that --values and --set stand for.
	Values map[string]any
	// Defaults are files that stand in for the chart's own values.yaml: of the
	// folder DefaultsRoot, or of the chart where that is "".
	Defaults     []string
	DefaultsRoot string
	SkipMissing  bool // of Defaults
	SkipSchema   bool
	// Indexes keeps indexes of repositories for other releases, if it is not nil.
	Indexes Indexes
	Remote
}

// RenderRelease renders a chart as Render does, and returns its hooks, too, as
// a stream of their own.
func RenderRelease(ctx context.Context, r Release) (manifests, hooks []byte, err error) {
	stream := &capture{}
	install, err := newInstall(r.ChartRequest, stream)
	if err != nil {
		return nil, nil, err
	}
	install.SkipSchemaValidation = r.SkipSchema
	chart, err := r.load(install)
	if err == nil {
		err = r.setDefaults(chart)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("chart %s: %w", r.Chart, err)
	}
	done, err := install.RunWithContext(ctx, chart, r.Values)
	if err != nil {
		return nil, nil, fmt.Errorf("chart %s: %w; correct the values, or the file of the chart that is named", r.Chart, err)
	}
	var out bytes.Buffer
	for _, hook := range done.Hooks {
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", hook.Path, hook.Manifest)
	}
	return stream.bytes, out.Bytes(), nil
}

// load finds the chart, on disk or where it is downloaded from.
func (r *Release) load(install *action.Install) (*helmchart.Chart, error) {
	if r.Repo == "" && !registry.IsOCI(r.Chart) {
		if _, err := os.Stat(r.Chart); err != nil {
			return nil, fmt.Errorf("%w; correct the path of the source and the name of the chart", err)
		}
		return load(install, r.ChartRequest, helmcli.New())
	}
	chart, err := r.fetch()
	if err != nil {
		return nil, err
	}
	return chart, checkRenderable(chart, r.Chart, install.KubeVersion.Version)
}

// setDefaults replaces the values of the chart by those of the files.
func (r *Release) setDefaults(chart *helmchart.Chart) error {
	if len(r.Defaults) == 0 {
		return nil
	}
	merged := chartutil.Values{}
	for _, name := range r.Defaults {
		data, err := r.defaults(chart, name)
		if errors.Is(err, fs.ErrNotExist) && r.SkipMissing {
			continue
		}
		if err != nil {
			return fmt.Errorf("values file: %w; correct valuesFiles", err)
		}
		values, err := chartutil.ReadValues(data)
		if err != nil {
			return fmt.Errorf("values file %s: %w", name, err)
		}
		merged = chartutil.CoalesceTables(values, merged)
	}
	chart.Values = merged
	return nil
}

func (r *Release) defaults(chart *helmchart.Chart, name string) ([]byte, error) {
	if r.DefaultsRoot != "" {
		root, err := os.OpenRoot(r.DefaultsRoot) // no file beside it, not even by a link
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return root.ReadFile(strings.TrimLeft(path.Clean(name), "/"))
	}
	for _, file := range chart.Raw {
		if file.Name == name {
			return file.Data, nil
		}
	}
	return nil, fmt.Errorf("%s is not in the chart: %w", name, fs.ErrNotExist)
}
