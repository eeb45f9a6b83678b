package charttest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// right is what RBAC grants: a verb on a resource, in one namespace or, without
// one, everywhere, and on one name or on all.
type right struct{ verb, resource, namespace, name string }

// String is short: "list gateways.gateway.networking.k8s.io in infra".
func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.name != "" {
		text += " " + r.name
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// needed is the right that a request needs.
func needed(call clustertest.Call) right {
	return right{call.Verb, resourceName(call.Group, call.Resource, call.Subresource), call.Namespace, call.Name}
}

// covers says whether the right is enough for what is needed.
func (r right) covers(need right) bool {
	return r.verb == need.verb && r.resource == need.resource &&
		(r.namespace == "" || r.namespace == need.namespace) && (r.name == "" || r.name == need.name)
}

// usedOf are those of the rights that what was done needed; of several the one
// that grants least. What none of them covers is among them as it is.
func usedOf(granted, done []right) []right {
	narrow := slices.Clone(granted)
	slices.SortStableFunc(narrow, func(a, b right) int { return b.narrowness() - a.narrowness() })
	used := map[right]bool{}
	for _, need := range done {
		if i := slices.IndexFunc(narrow, func(r right) bool { return r.covers(need) }); i >= 0 {
			need = narrow[i]
		}
		used[need] = true
	}
	return slices.Collect(maps.Keys(used))
}

// reads says whether the right is to look alone.
func (r right) reads() bool { return r.verb == "get" || r.verb == "list" }

func (r right) narrowness() int {
	return min(len(r.namespace), 1) + min(len(r.name), 1)
}

// recorder notes which rights the requests of a program need. Those that store
// something are among wrote, too: a dry run of the server needs the same rights.
type recorder struct {
	mu                   sync.Mutex
	done, refused, wrote []right
	events               map[string]func() // by verb and resource
}

func newRecorder() *recorder { return &recorder{events: map[string]func(){}} }

// before has something happen just before a verb is used on a resource for the
// first time.
func (r *recorder) before(what string, event func()) { r.events[what] = event }

// forget begins anew.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.refused, r.wrote = nil, nil, nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// wrap is for a proxy in front of the API server.
func (r *recorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		call := clustertest.ParseCall(req)
		if call.Resource == "" {
			return next.RoundTrip(req) // discovery is everybody's
		}
		need := needed(call)
		r.happen(need.verb + " " + need.resource)
		response, err := next.RoundTrip(req)
		if err == nil {
			r.note(need, response.StatusCode, req.URL.Query().Has("dryRun"))
		}
		return response, err
	})
}

func (r *recorder) happen(what string) {
	r.mu.Lock()
	event := r.events[what]
	delete(r.events, what)
	r.mu.Unlock()
	if event != nil {
		event()
	}
}

func (r *recorder) note(need right, status int, dry bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if status == http.StatusForbidden {
		r.refused = append(r.refused, need)
		return
	}
	r.done = append(r.done, need)
	if !dry && !need.reads() {
		r.wrote = append(r.wrote, need)
	}
	// For an apply that makes the object the server asks for both rights.
	if need.verb == "patch" && status == http.StatusCreated {
		need.verb = "create"
		r.done = append(r.done, need)
	}
}

func resourceName(group, resource, sub string) string {
	if group != "" {
		resource += "." + group
	}
	if sub != "" {
		resource += "/" + sub
	}
	return resource
}

// granted are the rights that the release grants.
func (r release) granted(t *testing.T) []right {
	t.Helper()
	all := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=gatewright"}
	clusterRoles, err := r.cluster.Client.RbacV1().ClusterRoles().List(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	roles, err := r.cluster.Client.RbacV1().Roles("").List(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	var granted []right
	for _, role := range clusterRoles.Items {
		if strings.HasPrefix(role.Name, r.namespace+":") {
			granted = append(granted, rightsIn("", role.Rules)...)
		}
	}
	for _, role := range roles.Items {
		if role.Namespace == r.namespace || strings.HasPrefix(role.Name, r.namespace+":") {
			granted = append(granted, rightsIn(role.Namespace, role.Rules)...)
		}
	}
	return granted
}

func rightsIn(namespace string, rules []rbacv1.PolicyRule) []right {
	var out []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					out = append(out, right{verb, resourceName(rule.APIGroups[0], resource, ""), namespace, name})
				}
			}
		}
	}
	return out
}

// sorted makes rights comparable, and readable in a difference.
func sorted(rights []right) []string {
	out := make([]string, 0, len(rights))
	for _, r := range rights {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
