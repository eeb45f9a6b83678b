package chart

import (
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmcli "helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// load finds the chart, on disk or where Helm would download it from, and
// refuses what cannot be rendered.
func load(install *action.Install, request cli.ChartRequest, settings *helmcli.EnvSettings) (*helmchart.Chart, error) {
	if registry.IsOCI(request.Chart) {
		client, err := registry.NewClient(registry.ClientOptCredentialsFile(settings.RegistryConfig))
		if err != nil {
			return nil, fmt.Errorf("registry client: %w", err)
		}
		install.SetRegistryClient(client)
	}
	path, err := install.LocateChart(request.Chart, settings)
	if err != nil {
		return nil, fmt.Errorf("%w; give a folder or an archive that exists, an oci:// reference, "+
			"a name with --repo, or repository/name after helm repo add", err)
	}
	chart, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("%w; give the folder that holds Chart.yaml, or an archive that helm package made", err)
	}
	return chart, checkRenderable(chart, request.Chart, install.KubeVersion.Version)
}

func checkRenderable(chart *helmchart.Chart, path, kubeVersion string) error {
	meta := chart.Metadata
	if meta.Type != "" && meta.Type != "application" {
		return fmt.Errorf("a %s chart has no manifests of its own; give the chart that depends on %s", meta.Type, meta.Name)
	}
	if err := action.CheckDependencies(chart, meta.Dependencies); err != nil {
		return fmt.Errorf("dependencies %w; run: helm dependency build %s", err, path)
	}
	// Helm checks this too, but does not name the flag that helps.
	if meta.KubeVersion != "" && !chartutil.IsCompatibleRange(meta.KubeVersion, kubeVersion) {
		return fmt.Errorf("it requires Kubernetes %s and is rendered for %s; give the version of your cluster with --kube-version",
			meta.KubeVersion, kubeVersion)
	}
	return nil
}
