package chart

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	helmcli "helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Remote is where a chart is downloaded from, and how.
type Remote struct {
	// Tag and Digest name an artifact of a registry, whatever the version. Filter
	// is a pattern for the tags that a version is looked for among.
	Tag, Digest, Filter string
	User, Password      string
	// PassCredentials hands them to other hosts, to which a repository leads.
	PassCredentials bool
	TLS             *tls.Config // nil: that of the system
	Proxy           *url.URL    // nil: that of the environment
	// PlainHTTP reaches a registry without TLS; Unverified with whatever TLS it has,
	// else without.
	PlainHTTP, Unverified bool
}

// downloadTimeout is how long one answer may take.
const downloadTimeout = 2 * time.Minute

func (r *Remote) client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // an archive is to stay one
	if r.TLS != nil {
		transport.TLSClientConfig = r.TLS.Clone()
	}
	if r.Proxy != nil {
		transport.Proxy = http.ProxyURL(r.Proxy)
	}
	return &http.Client{Transport: transport, Timeout: downloadTimeout}
}

// fetch downloads the chart of a release, by Helm's clients.
func (r *Release) fetch() (*helmchart.Chart, error) {
	if registry.IsOCI(r.Chart) {
		return r.pull(r.Chart, r.Tag, r.Version)
	}
	client := r.client()
	get := func(options ...getter.Option) (getter.Getter, error) {
		return getter.NewHTTPGetter(append(options, getter.WithTransport(client.Transport.(*http.Transport)), getter.WithTimeout(client.Timeout))...)
	}
	address, err := r.address(get)
	if err != nil {
		return nil, err
	}
	if registry.IsOCI(address) {
		if !r.PassCredentials {
			r.User, r.Password = "", ""
		}
		return r.pull(address, "", "")
	}
	download, err := get(getter.WithURL(r.Repo), getter.WithBasicAuth(r.User, r.Password), getter.WithPassCredentialsAll(r.PassCredentials))
	if err != nil {
		return nil, err
	}
	data, err := download.Get(address)
	if err != nil {
		return nil, err
	}
	return loader.LoadArchive(data)
}

// address returns where the archive of a chart is, by the index of its repository.
func (r *Release) address(get getter.Constructor) (string, error) {
	index, err := r.Indexes.of(r, get)
	if err != nil {
		return "", fmt.Errorf("no index of a chart repository at %s: %w", r.Repo, err)
	}
	version, err := index.Get(r.Chart, r.Version)
	if err != nil {
		return "", fmt.Errorf("version %q of %s is not in repository %s: %w", r.Version, r.Chart, r.Repo, err)
	}
	if len(version.URLs) == 0 {
		return "", fmt.Errorf("repository %s does not say where %s %s is", r.Repo, r.Chart, version.Version)
	}
	return repo.ResolveReferenceURL(r.Repo, version.URLs[0])
}

// Indexes are those of repositories that were downloaded: some hold megabytes, and
// most releases of a Git repository take their charts from few.
type Indexes map[string]*repo.IndexFile

// of returns the index of the repository of a release.
func (all Indexes) of(r *Release, get getter.Constructor) (*repo.IndexFile, error) {
	id := strings.Join([]string{r.Repo, r.User, r.Password}, "\n")
	if index := all[id]; index != nil {
		return index, nil
	}
	dir, err := os.MkdirTemp("", "gatewright-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	entry := &repo.Entry{Name: "repository", URL: r.Repo, Username: r.User, Password: r.Password, PassCredentialsAll: r.PassCredentials}
	repository, err := repo.NewChartRepository(entry, getter.Providers{{Schemes: []string{"http", "https"}, New: get}})
	if err != nil {
		return nil, err
	}
	repository.CachePath = dir
	file, err := repository.DownloadIndexFile()
	if err != nil {
		return nil, err
	}
	index, err := repo.LoadIndexFile(file)
	if err == nil && all != nil {
		all[id] = index
	}
	return index, err
}

// pull downloads the chart of a registry that a reference, a tag or a version
// names.
func (r *Release) pull(reference, tag, version string) (*helmchart.Chart, error) {
	client, plain := r.client(), r.PlainHTTP
	reference = strings.TrimPrefix(reference, registry.OCIScheme+"://")
	if r.Unverified {
		client, plain = r.unverified(reference)
	}
	client.Transport = retry.NewTransport(client.Transport)
	options := []registry.ClientOption{registry.ClientOptCredentialsFile(helmcli.New().RegistryConfig), registry.ClientOptHTTPClient(client)}
	if plain {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	if r.User != "" {
		options = append(options, registry.ClientOptBasicAuth(r.User, r.Password))
	}
	helm, err := registry.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("registry client: %w", err)
	}
	var pulled *registry.PullResult
	if reference, err = r.artifact(helm, reference, tag, version); err == nil {
		pulled, err = helm.Pull(reference)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return nil, fmt.Errorf("%w; if the registry has no TLS, set spec.insecure: true in its source", err)
	}
	if err != nil {
		return nil, err
	}
	return loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
}

// artifact returns the full reference of an artifact.
func (r *Release) artifact(client *registry.Client, reference, tag, version string) (string, error) {
	name := reference[strings.LastIndex(reference, "/")+1:]
	switch {
	case r.Digest != "":
		return reference + "@" + r.Digest, nil
	case tag != "":
		return reference + ":" + tag, nil
	case version == "" && strings.Contains(name, ":"):
		return reference, nil
	}
	tags, err := client.Tags(reference)
	if err != nil {
		return "", err
	}
	filter, err := regexp.Compile(r.Filter)
	if err != nil {
		return "", fmt.Errorf("filter of tags: %w", err)
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return !filter.MatchString(tag) })
	found, err := registry.GetTagMatchingVersionOrConstraint(tags, version)
	if err != nil {
		return "", fmt.Errorf("%s: %w", reference, err)
	}
	return reference + ":" + found, nil
}

// unverified returns a client that takes any certificate, and whether the
// registry has no TLS at all.
func (r *Remote) unverified(reference string) (client *http.Client, plain bool) {
	client = r.client()
	transport := client.Transport.(*http.Transport)
	if r.TLS == nil {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // as its insecure: true asks
	}
	host, _, _ := strings.Cut(reference, "/")
	answer, err := client.Get("https://" + host + "/v2/")
	if err == nil {
		answer.Body.Close()
	}
	return client, errors.Is(err, http.ErrSchemeMismatch)
}
