package jobs_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Features of the chart that are on where a policy or a Gateway needs them, not
// an option of the sweep.
const (
	withRedirects = "redirects: {enabled: true}"
	withRetention = "secretRetention: {enabled: true}"
	withFlux      = "flux: {enabled: true}"
)

// valuesFor are those of the chart for a sweep with options: nothing is granted
// that they do not need.
func (w *world) valuesFor(o jobs.Options) string {
	values := append([]string{
		fmt.Sprintf("events: {enabled: %t}", o.Events),
		fmt.Sprintf("services: {read: %t}", o.Services),
		fmt.Sprintf("infrastructure: {report: %t}", o.Infrastructure),
		fmt.Sprintf("dryRun: %t", o.DryRun == report.DryRunClient),
		fmt.Sprintf("namespaces: [%s]", strings.Join(o.Namespaces, ", ")),
	}, w.features...)
	return "{" + strings.Join(values, ", ") + "}"
}

// account is the chart's ServiceAccount for a sweep with options.
func (w *world) account(o jobs.Options) clustertest.ChartAccount {
	w.t.Helper()
	return w.ChartAccount(w.t, w.valuesFor(o))
}

// lease is the one that the chart has its sweep take.
func (w *world) lease() engine.ObjectName {
	w.t.Helper()
	account := w.account(w.options)
	return engine.ObjectName{Namespace: account.Namespace, Name: account.Release}
}

// as is a configuration for a sweep with options: as the chart's ServiceAccount,
// unless it is somebody's already.
func (w *world) as(config *rest.Config, o jobs.Options) *rest.Config {
	w.t.Helper()
	if config.BearerToken != "" {
		return config
	}
	config = rest.CopyConfig(config)
	config.BearerToken = w.account(o).Token
	return config
}

// granted lets the sweep run with what the chart grants with values, which may
// be less than it uses.
func (w *world) granted(values string) {
	w.t.Helper()
	w.config = rest.AnonymousClientConfig(w.Config)
	w.config.BearerToken = w.ChartAccount(w.t, values).Token
}

// noneRefused fails the test if the server refuses a request for want of a
// right: the chart grants all that the sweep uses.
func (w *world) noneRefused(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil || response.StatusCode != http.StatusForbidden {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body))
		// A namespace that goes away forbids as well, in other words.
		if bytes.Contains(body, []byte(`is forbidden: User \"`)) {
			w.t.Errorf("the chart does not grant the sweep what it uses: %s: %s", clustertest.ParseCall(r), body)
		}
		return response, err
	})
}
