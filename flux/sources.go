package flux

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The kinds of sources that are of use by themselves, or to say where to go.
const (
	kindHelmRepository = "HelmRepository"
	kindOCIRepository  = "OCIRepository"
	kindHelmChart      = "HelmChart"
	kindGitRepository  = "GitRepository"
)

// source finds a source in the files, else in the cluster.
func (r *run) source(ctx context.Context, hr *release, name SourceName) (*object, error) {
	if _, known := lookedUp[name.Kind]; !known {
		return nil, r.noSource(hr, name, nil)
	}
	o, err := r.object(ctx, name.key())
	if err != nil {
		return nil, hr.fault(fmt.Sprintf("its chart comes from %s, which cannot be read: %v", name.key(), err),
			fmt.Sprintf("or give its file as one more FILE, or the chart with --source %s=PATH", name))
	}
	if o == nil {
		return nil, r.noSource(hr, name, nil)
	}
	return o, nil
}

// noSource says how to get at a source that is not at hand, or that only Flux
// itself can fetch.
func (r *run) noSource(hr *release, name SourceName, o *object) error {
	fix := fmt.Sprintf("fetch it and give its folder with --source %s=PATH", name)
	switch {
	case name.Kind == kindHelmRepository || name.Kind == kindOCIRepository || name.Kind == kindHelmChart:
		fix = fmt.Sprintf("give the file of %s as one more FILE, have it read with --cluster, or give the chart with --source %s=PATH", name.key(), name)
		if r.options.Object != nil {
			fix = fmt.Sprintf("it is not in the cluster either: create it, give its file as one more FILE, or the chart with --source %s=PATH", name)
		}
	case o != nil:
		fix = fmt.Sprintf("clone %s and give the folder with --source %s=PATH", address(o), name)
	}
	return hr.fault(fmt.Sprintf("its chart comes from %s, which is not at hand", name.key())+r.repository.passedOver(), fix)
}

// address returns what a GitRepository is a copy of, without a login.
func address(o *object) string {
	spec, _ := o.value["spec"].(map[string]any)
	where := text(spec, "url")
	if u, err := url.Parse(where); err == nil && u.User != nil {
		u.User = nil
		where = u.String()
	}
	for _, ref := range []string{"commit", "name", "semver", "tag", "branch"} { // the first that is set counts
		if name := text(spec, "ref", ref); name != "" {
			return where + " (" + ref + " " + name + ")"
		}
	}
	return where
}

// access is how a manifest of a source says that it is reached.
type access struct {
	URL                string       `json:"url"`
	Type               string       `json:"type"`
	Provider           string       `json:"provider"`
	PassCredentials    bool         `json:"passCredentials"`
	Insecure           bool         `json:"insecure"`
	SecretRef          *localObject `json:"secretRef"`
	CertSecretRef      *localObject `json:"certSecretRef"`
	ProxySecretRef     *localObject `json:"proxySecretRef"`
	ServiceAccountName string       `json:"serviceAccountName"`
}

type localObject struct {
	Name string `json:"name"`
}

// helmRepository downloads from a HelmRepository of either type.
func (r *run) helmRepository(ctx context.Context, hr *release, o *object, chart Chart, name string) (Chart, error) {
	var spec access
	if err := convert(o.value["spec"], &spec); err != nil || spec.URL == "" {
		return chart, hr.fault(o.key.String()+" has no spec.url", "correct it")
	}
	chart.Ref, chart.Repo, chart.PassCredentials = name, spec.URL, spec.PassCredentials
	if spec.Type == "oci" || strings.HasPrefix(spec.URL, "oci://") {
		chart.Ref, chart.Repo = strings.TrimSuffix(spec.URL, "/")+"/"+name, ""
		chart.PlainHTTP = spec.Insecure
	}
	return chart, r.reach(ctx, hr, &chart, o, spec)
}

// ociRepository downloads what an OCIRepository names.
func (r *run) ociRepository(ctx context.Context, hr *release, o *object) (Chart, error) {
	var spec struct {
		access
		Ref struct {
			Tag    string `json:"tag"`
			SemVer string `json:"semver"`
			Filter string `json:"semverFilter"`
			Digest string `json:"digest"`
		} `json:"ref"`
	}
	if err := convert(o.value["spec"], &spec); err != nil || spec.URL == "" {
		return Chart{}, hr.fault(o.key.String()+" has no spec.url", "correct it")
	}
	chart := Chart{Ref: spec.URL}
	chart.Unverified = spec.Insecure
	switch { // of several the digest counts, then the range, then the tag
	case spec.Ref.Digest != "":
		chart.Digest = spec.Ref.Digest
	case spec.Ref.SemVer != "":
		chart.Version, chart.TagFilter = spec.Ref.SemVer, spec.Ref.Filter
	default:
		chart.Tag = cmp.Or(spec.Ref.Tag, "latest")
	}
	if chart.Version != "" && !exact.MatchString(chart.Version) || chart.Tag == "latest" {
		r.find(engine.Warning, CodeFloatingVersion, hr, fmt.Sprintf("%s takes new charts without a commit, for which the patches may not be right; name one tag or digest in its spec.ref, and let a bot raise it", o.key))
	}
	r.warnVerify(hr, o)
	return chart, r.reach(ctx, hr, &chart, o, spec.access)
}
