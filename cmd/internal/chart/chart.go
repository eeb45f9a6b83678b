package chart

import (
	"bytes"
	"context"
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	helmcli "helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// Render renders the chart as helm template does and returns what Helm 3 would
// hand to a post-renderer: the manifests with their "# Source:" comments,
// without hooks. A chart without manifests gives no bytes.
func Render(ctx context.Context, request cli.ChartRequest) ([]byte, error) {
	type result struct {
		stream []byte
		err    error
	}
	// Helm takes no context where it downloads and renders, so a cancelled one
	// must be noticed beside it.
	done := make(chan result, 1)
	go func() {
		stream, err := render(ctx, request)
		done <- result{stream, err}
	}()
	select {
	case r := <-done:
		return r.stream, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("chart %s: %w", request.Chart, context.Cause(ctx))
	}
}

func render(ctx context.Context, request cli.ChartRequest) ([]byte, error) {
	settings := helmcli.New()
	stream := &capture{}
	install, err := newInstall(request, stream)
	if err != nil {
		return nil, err
	}
	chart, err := load(install, request, settings)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", request.Chart, err)
	}
	vals, err := readValues(request, settings)
	if err != nil {
		return nil, fmt.Errorf("values of chart %s: %w", request.Chart, err)
	}
	if _, err := install.RunWithContext(ctx, chart, vals); err != nil {
		return nil, fmt.Errorf("chart %s: %w; correct the values (--values, --set) or the file of the chart that is named",
			request.Chart, err)
	}
	return stream.bytes, nil
}

// newInstall is the install that never meets a cluster: client-only, with a
// dry run that leaves the lookup function of templates without answers.
func newInstall(request cli.ChartRequest, stream *capture) (*action.Install, error) {
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ClientOnly = true
	install.DryRun = true
	install.DryRunOption = "client"
	install.Replace = true // no release is there to clash with
	install.PostRenderer = stream
	install.ReleaseName = orDefault(request.ReleaseName, "release-name")
	install.Namespace = orDefault(request.Namespace, "default")
	install.Version = request.Version
	install.RepoURL = request.Repo
	install.IncludeCRDs = request.IncludeCRDs
	install.IsUpgrade = request.IsUpgrade
	install.APIVersions = append(servedAPIs(), request.APIVersions...)

	version := orDefault(request.KubeVersion, defaultKubeVersion)
	parsed, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("--kube-version %q: %w; give a version such as %s", version, err, defaultKubeVersion)
	}
	install.KubeVersion = parsed
	return install, nil
}

func readValues(request cli.ChartRequest, settings *helmcli.EnvSettings) (map[string]any, error) {
	options := values.Options{
		ValueFiles:   request.ValuesFiles,
		Values:       request.Set,
		StringValues: request.SetString,
		FileValues:   request.SetFile,
	}
	return options.MergeValues(getter.All(settings))
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// capture is a post-renderer that changes nothing and keeps what it was handed.
type capture struct{ bytes []byte }

func (c *capture) Run(manifests *bytes.Buffer) (*bytes.Buffer, error) {
	c.bytes = bytes.Clone(manifests.Bytes())
	return manifests, nil
}
