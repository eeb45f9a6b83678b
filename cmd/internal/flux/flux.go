// Package flux runs package flux of the repository on folders and files, with
// charts that the Helm SDK loads. Only gatewright-full links it.
package flux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatewright/gatewright/cmd/internal/chart"
	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/cmd/internal/cluster"
	"github.com/gatewright/gatewright/flux"
)

// Render computes what flux render changes. It writes nothing.
func Render(ctx context.Context, request cli.FluxRequest) (*cli.FluxResult, error) {
	files, err := readFiles(request.Files)
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	indexes := chart.Indexes{}
	options := flux.Options{
		All: request.All, Namespace: request.Namespace, Root: filepath.ToSlash(root), Sources: map[flux.SourceName]string{},
		Policies: request.Policies, Snapshot: request.Snapshot, IgnoreMissingValues: request.IgnoreMissingValues,
		RenderChart: func(ctx context.Context, c flux.Chart) (flux.Rendered, error) {
			return renderChart(ctx, request, c, indexes)
		},
	}
	for _, text := range request.Sources {
		name, path, err := flux.ParseSource(text)
		if err != nil {
			return nil, &cli.UsageError{Err: fmt.Errorf("--source %s: %w", text, err)}
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("--source %s: %w; give the folder (or chart) where it is on disk", text, err)
		}
		options.Sources[name] = path
	}
	if request.Cluster {
		config, err := cluster.Config(request.Connection)
		if err != nil {
			return nil, err
		}
		if options.Object, err = objects(config); err != nil {
			return nil, err
		}
	}
	result, err := flux.Render(ctx, files, options)
	if err != nil {
		return nil, err
	}
	out := &cli.FluxResult{Found: result.Found, Findings: result.Findings}
	for _, change := range result.Changes {
		out.Changes = append(out.Changes, cli.FluxChange(change))
	}
	for _, release := range result.Releases {
		out.Plans = append(out.Plans, release.Plan)
	}
	return out, nil
}

// renderChart has Helm find and render a chart.
func renderChart(ctx context.Context, request cli.FluxRequest, c flux.Chart, indexes chart.Indexes) (flux.Rendered, error) {
	release := chart.Release{
		ChartRequest: cli.ChartRequest{
			Chart: c.Ref, Repo: c.Repo, Version: c.Version, ReleaseName: c.ReleaseName, Namespace: c.Namespace,
			KubeVersion: request.KubeVersion, APIVersions: request.APIVersions,
		},
		Values: c.Values, Defaults: c.ValuesFiles, DefaultsRoot: c.Root, SkipMissing: c.IgnoreMissingValuesFiles, SkipSchema: c.SkipSchema,
		Indexes: indexes,
		Remote: chart.Remote{
			Tag: c.Tag, Digest: c.Digest, Filter: c.TagFilter, User: c.User, Password: c.Password, PassCredentials: c.PassCredentials,
			TLS: c.TLS, Proxy: c.Proxy, PlainHTTP: c.PlainHTTP, Unverified: c.Unverified,
		},
	}
	if c.Path != "" {
		release.Chart, release.Version = localChart(c.Path, c.Ref), ""
	}
	manifests, hooks, err := chart.RenderRelease(ctx, release)
	return flux.Rendered{Manifests: manifests, Hooks: hooks}, err
}

// localChart is the chart at a path, or the one of a name in the folder there.
func localChart(path, name string) string {
	if name == "" {
		return path
	}
	if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil {
		return path
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, filepath.Join("/", name)) // not out of it
	}
	return path
}
