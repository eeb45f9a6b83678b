package flux

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Chart says which chart to render, and how.
type Chart struct {
	// Path is a folder or an archive. It is "" where Ref says where to download
	// the chart from.
	Path string
	// Ref is the name of a chart in the repository at the URL Repo, or an oci://
	// reference. Version is a version or a range of them, "" for the newest.
	Ref, Repo, Version string
	// Digest and Tag name what Ref stands for, whatever the version. TagFilter is a
	// pattern for the tags that a version is looked for among.
	Digest, Tag, TagFilter string
	Access

	ReleaseName, Namespace string
	Values                 map[string]any
	// ValuesFiles are files of the chart, or below Root, that stand in for its own
	// values.
	ValuesFiles              []string
	Root                     string
	IgnoreMissingValuesFiles bool
	// SkipSchema leaves the schema of the values out of account.
	SkipSchema bool
}

// Access is how a repository or registry is reached.
type Access struct {
	// User and Password are for it. PassCredentials says that other hosts, to which
	// a repository leads, get them, too.
	User, Password  string
	PassCredentials bool
	// TLS holds the certificates to use, nil for those of the system.
	TLS *tls.Config
	// Proxy is the proxy to use, nil for that of the environment.
	Proxy *url.URL
	// PlainHTTP says that a registry is reached without TLS, Unverified that its
	// certificate may be anything, and TLS may be missing.
	PlainHTTP, Unverified bool
}

// Rendered is a chart as Helm renders it, with the hooks by themselves.
type Rendered struct{ Manifests, Hooks []byte }

// SourceName names a source, such as a GitRepository.
type SourceName struct{ Kind, Namespace, Name string }

func (s SourceName) key() key { return key{s.Kind, s.Namespace, s.Name} }

func (s SourceName) String() string { return s.Kind + "/" + s.Namespace + "/" + s.Name }

// ParseSource reads the value of a flag: kind/namespace/name=PATH.
func ParseSource(text string) (SourceName, string, error) {
	name, where, found := strings.Cut(text, "=")
	parts := strings.Split(name, "/")
	if !found || where == "" || len(parts) != 3 || slices.Contains(parts, "") {
		return SourceName{}, "", fmt.Errorf("want KIND/NAMESPACE/NAME=PATH, such as GitRepository/flux-system/charts=../charts")
	}
	return SourceName{parts[0], parts[1], parts[2]}, where, nil
}

// chartOf finds the chart of a HelmRelease.
func (r *run) chartOf(ctx context.Context, hr *release) (Chart, error) {
	var chart Chart
	var err error
	switch {
	case hr.Spec.ChartRef != nil:
		ref := hr.Spec.ChartRef
		chart, err = r.chartRef(ctx, hr, SourceName{ref.Kind, cmp.Or(ref.Namespace, hr.Namespace), ref.Name})
	default:
		spec := hr.Spec.Chart.Spec
		ref := spec.SourceRef
		chart, err = r.chartIn(ctx, hr, SourceName{ref.Kind, cmp.Or(ref.Namespace, hr.Namespace), ref.Name}, template{
			spec.Chart, spec.Version, spec.ValuesFiles, spec.IgnoreMissingValuesFiles,
		})
	}
	chart.ReleaseName, chart.Namespace = releaseName(hr), hr.GetReleaseNamespace()
	chart.SkipSchema = hr.GetInstall().DisableSchemaValidation
	return chart, err
}

// template is how a HelmRelease or a HelmChart names a chart of a source.
type template struct {
	Chart                    string   `json:"chart"`
	Version                  string   `json:"version"`
	ValuesFiles              []string `json:"valuesFiles"`
	IgnoreMissingValuesFiles bool     `json:"ignoreMissingValuesFiles"`
}

// chartRef finds a chart that is a source of its own.
func (r *run) chartRef(ctx context.Context, hr *release, name SourceName) (Chart, error) {
	if local, given := r.options.Sources[name]; given {
		return Chart{Path: local}, nil
	}
	o, err := r.source(ctx, hr, name)
	if err != nil {
		return Chart{}, err
	}
	switch name.Kind {
	case kindOCIRepository:
		return r.ociRepository(ctx, hr, o)
	case kindHelmChart:
		var spec struct {
			template
			SourceRef struct{ Kind, Name string } `json:"sourceRef"`
		}
		if err := convert(o.value["spec"], &spec); err != nil {
			return Chart{}, hr.fault(o.key.String()+": "+err.Error(), "correct it")
		}
		r.warnVerify(hr, o)
		return r.chartIn(ctx, hr, SourceName{spec.SourceRef.Kind, name.Namespace, spec.SourceRef.Name}, spec.template)
	}
	return Chart{}, r.noSource(hr, name, o)
}

// chartIn finds a chart in a source that may hold several.
func (r *run) chartIn(ctx context.Context, hr *release, name SourceName, t template) (Chart, error) {
	chart := Chart{Version: t.Version, ValuesFiles: t.ValuesFiles, IgnoreMissingValuesFiles: t.IgnoreMissingValuesFiles}
	if chart.Version == "*" {
		chart.Version = ""
	}
	if local, given := r.options.Sources[name]; given && name.Kind == kindHelmRepository {
		chart.Path, chart.Ref = local, t.Chart // the edge knows whether it holds the chart or is it
		return chart, nil
	} else if given {
		// As source-controller does, ".." does not lead out of the artifact.
		chart.Path, chart.Root, chart.Version = path.Join(local, path.Join("/", t.Chart)), local, ""
		return chart, nil
	}
	o, err := r.source(ctx, hr, name)
	if err != nil {
		return Chart{}, err
	}
	if name.Kind == kindHelmRepository {
		return r.helmRepository(ctx, hr, o, chart, t.Chart)
	}
	return Chart{}, r.noSource(hr, name, o)
}

// maxName is Helm's limit for the name of a release.
const maxName = 53

// releaseName returns the name that helm-controller gives a release: one that is
// too long ends with a hash.
func releaseName(hr *release) string {
	name := hr.GetReleaseName()
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:])[:12]
	return name[:maxName-len(suffix)] + suffix
}
