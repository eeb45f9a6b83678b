package flux

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	Digest             string
	// User and Password are for the repository or registry. PassCredentials says
	// that other hosts, to which a repository leads, get them, too.
	User, Password  string
	PassCredentials bool
	// PlainHTTP says that the registry is reached without TLS.
	PlainHTTP bool

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
func (r *run) chartOf(hr *release) (Chart, error) {
	var chart Chart
	var err error
	switch {
	case hr.Spec.ChartRef != nil:
		ref := hr.Spec.ChartRef
		chart, err = r.chartRef(hr, SourceName{ref.Kind, cmp.Or(ref.Namespace, hr.Namespace), ref.Name})
	default:
		spec := hr.Spec.Chart.Spec
		ref := spec.SourceRef
		chart, err = r.chartIn(hr, SourceName{ref.Kind, cmp.Or(ref.Namespace, hr.Namespace), ref.Name}, template{
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
func (r *run) chartRef(hr *release, name SourceName) (Chart, error) {
	if local, given := r.options.Sources[name]; given {
		return Chart{Path: local}, nil
	}
	o, found := r.repository.objects[name.key()]
	if !found {
		return Chart{}, r.noSource(hr, name)
	}
	switch name.Kind {
	case "OCIRepository":
		return r.ociRepository(hr, o)
	case "HelmChart":
		var spec struct {
			template
			SourceRef struct{ Kind, Name string } `json:"sourceRef"`
		}
		if err := convert(o.value["spec"], &spec); err != nil {
			return Chart{}, hr.fault(o.key.String()+": "+err.Error(), "correct it")
		}
		return r.chartIn(hr, SourceName{spec.SourceRef.Kind, name.Namespace, spec.SourceRef.Name}, spec.template)
	}
	return Chart{}, r.noSource(hr, name)
}

// chartIn finds a chart in a source that may hold several.
func (r *run) chartIn(hr *release, name SourceName, t template) (Chart, error) {
	chart := Chart{Version: t.Version, ValuesFiles: t.ValuesFiles, IgnoreMissingValuesFiles: t.IgnoreMissingValuesFiles}
	if chart.Version == "*" {
		chart.Version = ""
	}
	local, given := r.options.Sources[name]
	switch o, found := r.repository.objects[name.key()]; {
	case given && name.Kind == "HelmRepository":
		chart.Path = local // the edge knows whether it holds the chart or is it
		chart.Ref = t.Chart
		return chart, nil
	case given:
		chart.Path, chart.Root, chart.Version = path.Join(local, t.Chart), local, ""
		return chart, nil
	case found && name.Kind == "HelmRepository":
		return r.helmRepository(hr, o, chart, t.Chart)
	}
	return Chart{}, r.noSource(hr, name)
}

func (r *run) noSource(hr *release, name SourceName) error {
	fix := fmt.Sprintf("fetch it and give its folder with --source %s=PATH", name)
	if name.Kind == "HelmRepository" || name.Kind == "OCIRepository" || name.Kind == "HelmChart" {
		fix = fmt.Sprintf("give the file of %s as one more FILE, or the chart with --source %s=PATH", name.key(), name)
	}
	return hr.fault(fmt.Sprintf("its chart comes from %s, which is not at hand", name.key()), fix)
}

// helmRepository downloads from a HelmRepository of either type.
func (r *run) helmRepository(hr *release, o *object, chart Chart, name string) (Chart, error) {
	var spec struct {
		URL       string                 `json:"url"`
		Type      string                 `json:"type"`
		Pass      bool                   `json:"passCredentials"`
		Insecure  bool                   `json:"insecure"`
		SecretRef *struct{ Name string } `json:"secretRef"`
	}
	if err := convert(o.value["spec"], &spec); err != nil || spec.URL == "" {
		return chart, hr.fault(o.key.String()+" has no spec.url", "correct it")
	}
	chart.Ref, chart.Repo, chart.PassCredentials = name, spec.URL, spec.Pass
	if spec.Type == "oci" || strings.HasPrefix(spec.URL, "oci://") {
		chart.Ref, chart.Repo = strings.TrimSuffix(spec.URL, "/")+"/"+name, ""
		chart.PlainHTTP = spec.Insecure
	}
	if spec.SecretRef != nil {
		r.login(hr, &chart, key{kindSecret, o.namespace, spec.SecretRef.Name})
	}
	return chart, nil
}

// ociRepository downloads what an OCIRepository names.
func (r *run) ociRepository(hr *release, o *object) (Chart, error) {
	var spec struct {
		URL      string `json:"url"`
		Insecure bool   `json:"insecure"`
		Ref      struct {
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Digest string `json:"digest"`
		} `json:"ref"`
		SecretRef *struct{ Name string } `json:"secretRef"`
	}
	if err := convert(o.value["spec"], &spec); err != nil || spec.URL == "" {
		return Chart{}, hr.fault(o.key.String()+" has no spec.url", "correct it")
	}
	// Of several the digest counts, then the range, then the tag.
	chart := Chart{Ref: spec.URL, Version: cmp.Or(spec.Ref.SemVer, spec.Ref.Tag), Digest: spec.Ref.Digest, PlainHTTP: spec.Insecure}
	if chart.Digest == "" {
		chart.Version = cmp.Or(chart.Version, "latest")
	}
	if spec.SecretRef != nil {
		r.login(hr, &chart, key{kindSecret, o.namespace, spec.SecretRef.Name})
	}
	return chart, nil
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
