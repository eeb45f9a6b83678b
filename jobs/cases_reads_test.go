package jobs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// rewritten changes the answers of some paths, as JSON.
func rewritten(paths string, change func(map[string]any)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if matched, _ := path.Match(paths, r.URL.Path); err != nil || !matched {
				return response, err
			}
			defer response.Body.Close()
			var answer map[string]any
			if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
				return nil, err
			}
			change(answer)
			body, err := json.Marshal(answer)
			response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			return response, err
		})
	}
}

// unserved lets the server not serve a resource of the Gateway API, in no
// version.
func unserved(resource string) func(http.RoundTripper) http.RoundTripper {
	return rewritten("/apis/gateway.networking.k8s.io/v*", func(answer map[string]any) {
		var left []any
		for _, r := range answer["resources"].([]any) {
			if !strings.HasPrefix(r.(map[string]any)["name"].(string), resource) {
				left = append(left, r)
			}
		}
		answer["resources"] = left
	})
}

func missingKinds(t *testing.T) {
	terminating := rewritten("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/httproutes.gateway.networking.k8s.io", func(answer map[string]any) {
		answer["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	})
	g := simple(t, "live.example.com", "gone.example.com")
	g.apply("me", routeTo("GRPCRoute", "rpc", toEdge, "rpc.example.com", ""))
	g.sweeps()
	g.remove(grpcRoutes, "rpc")
	g.unclaim("gone.example.com")
	before, start := g.things(), g.objects()
	for _, tt := range []struct {
		name  string
		wrap  func(http.RoundTripper) http.RoundTripper
		clean bool
		want  []string
	}{
		{"HTTPRoutes are being deleted", terminating, false, nil},
		{"there are no HTTPRoutes", unserved("httproutes"), false, nil},
		{"there are no GRPCRoutes, of which one listener came", unserved("grpcroutes"), false, []string{listenerOf("gone.example.com")}},
		{"there are no TLSRoutes, of which nothing came", unserved("tlsroutes"), true, []string{listenerOf("gone.example.com"), listenerOf("rpc.example.com")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, tt.wrap))
			g.checkGone(before, got, err, tt.clean, tt.want...)
			g.reset(start)
		})
	}
}

// missingForDays is a definition that is gone for longer than the grace period,
// and comes back before its objects do.
func missingForDays(t *testing.T) {
	g := simple(t, "live.example.com", "gone.example.com")
	g.unclaim("gone.example.com")
	for range 3 {
		before := g.things()
		got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, unserved("httproutes")))
		g.checkGone(before, got, err, false)
		g.later(25 * time.Hour)
	}
	g.remove(httpRoutes, "live") // it is not back yet
	g.wantGone(true)
	g.claim("live.example.com")
	g.wantGone(true)
	g.later(25 * time.Hour)
	g.wantGone(true, listenerOf("gone.example.com"))
}

// missingForHolders is the same where a namespace holds a hostname: nobody takes
// it while the holder's claim cannot be seen, nor just after.
func missingForHolders(t *testing.T) {
	g := newGround(t)
	g.apply("me", gatewayOf("one", "hostnameOwnership: OneNamespace", "")+routeTo("HTTPRoute", "theirs", "{name: one, namespace: NS}", "theirs.example.com", "namespace: OTHER"))
	g.sweeps()
	for range 3 {
		if got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, unserved("httproutes"))); err != nil {
			t.Fatal(told(got, err))
		}
		g.later(25 * time.Hour)
	}
	g.Kubectl(t, "", "delete", "httproute", "theirs", "-n", g.other) // it is not back yet
	g.apply("me", routeTo("HTTPRoute", "ours", "{name: one}", "theirs.example.com", ""))
	for range 2 {
		g.sweeps()
		admitted := ""
		for _, l := range listenerObjects(g.things()["listener theirs.example.com of one"]) {
			if l["hostname"] == "theirs.example.com" {
				admitted = fmt.Sprint(l["allowedRoutes"])
			}
		}
		if !strings.Contains(admitted, g.other) || strings.Contains(admitted, g.namespace) {
			t.Errorf("the hostname of %s admits %s", g.other, admitted)
		}
		g.apply("me", routeTo("HTTPRoute", "theirs", "{name: one, namespace: NS}", "theirs.example.com", "namespace: OTHER"))
		g.later(time.Hour)
	}
}

func brokenAggregatedAPI(t *testing.T) {
	g := simple(t, "gone.example.com")
	g.Kubectl(t, `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1beta1.metrics.k8s.io},
		spec: {group: metrics.k8s.io, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
		service: {namespace: kube-system, name: nobody}}}`, "apply", "-f", "-")
	t.Cleanup(func() { g.Kubectl(t, "", "delete", "apiservice", "v1beta1.metrics.k8s.io") })
	g.unclaim("gone.example.com")
	g.wantGone(true, listenerOf("gone.example.com"))
}

func lastPage(t *testing.T) {
	g := newGround(t)
	g.apply("me", gatewayOf("edge", "", ""))
	var routes strings.Builder
	for n := range 500 {
		routes.WriteString(routeTo("HTTPRoute", fmt.Sprintf("r%03d", n), "{name: elsewhere}", "r.example.com", ""))
	}
	g.apply("me", routes.String()+routeTo("HTTPRoute", "z", toEdge, "z.example.com", "namespace: OTHER"))
	g.sweeps()
	before := g.things()
	if before[listenerOf("z.example.com")] == nil {
		t.Error("the route of the last page has no listener")
	}
	g.later(1000 * time.Hour)
	g.sweeps()
	if went := gone(before, g.things()); len(went) > 0 {
		t.Errorf("removed %q", went)
	}
}

func claimedBetweenLooks(t *testing.T) {
	g := simple(t, "back.example.com", "gone.example.com")
	g.unclaim("back.example.com", "gone.example.com")
	before := g.things()
	isList := func(c clustertest.Call) bool { return c.Verb == "list" && c.Resource == gateways.Resource }
	secondLook := pausing(2, isList, func() { g.claim("back.example.com") })
	got, err := g.sweepBy(t.Context(), clustertest.Wrapped(g.config, secondLook))
	g.checkGone(before, got, err, true, listenerOf("gone.example.com"))
	g.sweeps()
	g.later(1000 * time.Hour)
	g.sweeps()
	if g.things()[listenerOf("back.example.com")] == nil {
		t.Error("back.example.com is claimed, and gone")
	}
}

func notReady(t *testing.T) {
	g := simple(t, "a.example.com")
	route := `{"status": {"parents": [{"parentRef": {"name": "edge"}, "controllerName": "example.com/test", "conditions": [
		{"type": "Accepted", "status": "False", "reason": "NotAllowedByListeners", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}]}}`
	gateway := `{"status": {"conditions": [{"type": "Programmed", "status": "False", "reason": "Invalid", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	ctx := t.Context()
	_, err := g.Dynamic.Resource(httpRoutes).Namespace(g.namespace).Patch(ctx, "a", "application/merge-patch+json", []byte(route), metav1.PatchOptions{}, "status")
	if err == nil {
		_, err = g.Dynamic.Resource(gateways).Namespace(g.namespace).Patch(ctx, "edge", "application/merge-patch+json", []byte(gateway), metav1.PatchOptions{}, "status")
	}
	if err != nil {
		t.Fatal(err)
	}
	g.wantQuiet("edge")
	g.later(1000 * time.Hour)
	g.wantGone(true)
}
