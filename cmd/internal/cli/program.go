package cli

import (
	"context"
	"io"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Program is what sets the two executables apart. The zero value is the lean
// one, which hands over to gatewright-full where a chart has to be rendered.
type Program struct {
	// RenderChart renders a chart as helm template does. It is nil in the
	// program that does not link Helm.
	RenderChart func(ctx context.Context, request ChartRequest) ([]byte, error)
	// Snapshot writes the snapshot of a cluster and returns warnings, one for each
	// kind that is not in it and may be left out, or that the server does not serve. On an error nothing is written.
	// It is nil in the program that links no Kubernetes client.
	Snapshot func(ctx context.Context, out io.Writer, request SnapshotRequest) (warnings []string, err error)
	// Sweep runs one sweep; beside an error the report may be nil. It is nil in the
	// program that does not link a Kubernetes client.
	Sweep func(ctx context.Context, request SweepRequest) (*report.Report, error)
	// Preflight asks a cluster whether it would take the Gateways of a release. It is
	// nil where Snapshot is.
	Preflight func(ctx context.Context, request PreflightRequest) (*PreflightResult, error)
	// Flux computes what flux render changes, and writes nothing. It is nil in the
	// program that does not link Helm.
	Flux func(ctx context.Context, request FluxRequest) (*FluxResult, error)
	// Version is the released version, set by the linker. Without it, what Go
	// recorded at build time is shown.
	Version string
}

// ChartRequest says which chart to render, and how. The zero value of each
// field means what leaving out the flag of the same name means to helm.
type ChartRequest struct {
	// Chart is a folder, an archive, an oci:// reference, or, with Repo, a name.
	Chart string
	// Version and Repo say where Chart is not local, which one and from where.
	Version string
	Repo    string

	ReleaseName string
	Namespace   string

	// ValuesFiles are paths, "-" for standard input, in rising precedence; then
	// come Set, SetString and SetFile, each "key=value".
	ValuesFiles []string
	Set         []string
	SetString   []string
	SetFile     []string

	// KubeVersion and APIVersions are what the chart sees in .Capabilities.
	KubeVersion string
	APIVersions []string

	IncludeCRDs bool
	// IsUpgrade sets .Release.IsUpgrade instead of .Release.IsInstall.
	IsUpgrade bool
}

// PreflightRequest says what is asked of which cluster: the manifests as they
// come out of a post-render, and the release that they are of.
type PreflightRequest struct {
	Connection         Connection
	Manifests          []byte
	Release, Namespace string
}

// PreflightResult is what a preflight finds, and what of it blocks the upgrade.
type PreflightResult struct{ Findings, Blocking []engine.Finding }

// SnapshotRequest says of which cluster to write a snapshot, and what of it.
type SnapshotRequest struct {
	Connection Connection
	// Namespaces are the only ones to read; none means all.
	Namespaces []string
	Services   bool
	Secrets    bool
	// Partial writes what could be read if something could not.
	Partial bool
	// Progress is called after each page. It may be nil.
	Progress func(kind string, objects int)
}
