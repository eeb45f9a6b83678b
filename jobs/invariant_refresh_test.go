package jobs_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

// touch changes a Gateway just before the first write of it, as somebody else
// does, so that the sweep has to read it again.
func (g *ground) touch(gateway string) func(http.RoundTripper) http.RoundTripper {
	var once sync.Once
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if c := clustertest.ParseCall(r); c.Writes() && c.Resource == gateways.Resource && c.Name == gateway {
				once.Do(func() { g.label(gateway) })
			}
			return next.RoundTrip(r)
		})
	}
}

// label gives a Gateway a label with a new value.
func (g *ground) label(gateway string) {
	g.labels++
	patch := []byte(`{"metadata": {"labels": {"touched": "` + strings.Repeat("x", g.labels%60) + `"}}}`)
	_, err := g.Dynamic.Resource(gateways).Namespace(g.namespace).Patch(g.t.Context(), gateway, "application/merge-patch+json", patch, metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		g.t.Error(err)
	}
}

// refreshed lets a Gateway change before it is written: it is read again, and
// where that goes wrong, it keeps all it has.
func (g *ground) refreshed(before things) {
	g.t.Helper()
	again := read{path: "/apis/gateway.networking.k8s.io/v1/namespaces/" + g.namespace + "/gateways/edge", nth: 1}
	got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, g.touch("edge")))
	if went := gone(before, g.things()); err != nil || got.Result != report.Done || !slices.Equal(went, stale) {
		g.t.Errorf("touched only, removed %q\n%s", went, told(got, err))
	}
	g.restore(before)
	for _, kind := range append(slices.Clone(clustertest.ReadFaults), statusOK) {
		if kind == clustertest.EmptyContinue {
			continue // of lists
		}
		d := disturbance{again, string(kind), true}
		wrap, hits := d.wrap()
		got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, wrap, g.touch("edge")))
		went := gone(before, g.things())
		fromEdge := slices.ContainsFunc(went, func(name string) bool { return strings.HasSuffix(name, " of edge") })
		switch {
		case hits() == 0:
			g.t.Errorf("%s: the fault struck nothing", d)
		case kind == clustertest.Status404 && len(got.Notes) == 1 && !fromEdge && isSubset(went, stale): // deleted, as far as anybody knows
		case fromEdge || got.Result == report.Done || !isSubset(went, stale):
			g.t.Errorf("%s: removed %q\n%s", d, went, told(got, err))
		}
		g.restore(before)
	}
}

func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// withoutFlux is a server that does not have Flux's kinds, as far as the sweep
// can see.
func withoutFlux(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/apis/helm.toolkit.fluxcd.io" {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"text/plain"}},
				Body: io.NopCloser(strings.NewReader("404 page not found")), Request: r}, nil
		}
		response, err := next.RoundTrip(r)
		if err != nil || r.URL.Path != "/apis" || response.StatusCode != http.StatusOK {
			return response, err
		}
		defer response.Body.Close()
		var all metav1.APIGroupList
		if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
			return nil, err
		}
		all.Groups = slices.DeleteFunc(all.Groups, func(g metav1.APIGroup) bool { return strings.Contains(g.Name, "fluxcd") })
		body, err := json.Marshal(all)
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return response, err
	})
}

// unknown lets the list of all groups go wrong, which alone shows that a group
// is absent: without it nobody knows whether there are HelmReleases.
func (g *ground) unknown(before things) {
	g.t.Helper()
	got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, withoutFlux))
	if went := gone(before, g.things()); err != nil || got.Result != report.Done || !slices.Equal(went, stale) {
		g.t.Errorf("without HelmReleases, removed %q\n%s", went, told(got, err))
	}
	g.restore(before)
	for _, kind := range append(slices.Clone(clustertest.ReadFaults), statusOK) {
		for nth := 1; nth <= 2; nth++ {
			if kind == clustertest.EmptyContinue {
				continue // of lists of objects
			}
			d := disturbance{read{path: "/apis", nth: nth}, string(kind), true}
			wrap, hits := d.wrap()
			got, err := g.sweepBy(g.t.Context(), clustertest.Wrapped(g.config, wrap, withoutFlux))
			went := gone(before, g.things())
			if hits() == 0 || slices.Contains(went, "listener gone-flux.example.com of flux") || got.Result == report.Done {
				g.t.Errorf("%s: struck %d times, removed %q\n%s", d, hits(), went, told(got, err))
			}
			g.restore(before)
		}
	}
}
