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
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// recorder notes which rights the requests of a program need, in the words of
// RBAC: "list gateways.gateway.networking.k8s.io".
type recorder struct {
	mu      sync.Mutex
	used    sets.Set[string]
	refused sets.Set[string]
	events  map[string]func() // by the right
}

func newRecorder() *recorder {
	return &recorder{used: sets.New[string](), refused: sets.New[string](), events: map[string]func(){}}
}

// before has something happen just before a right is used for the first time.
func (r *recorder) before(right string, event func()) { r.events[right] = event }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// wrap is for a proxy in front of the API server.
func (r *recorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		call := clustertest.ParseCall(req)
		if call.Resource == "" {
			return next.RoundTrip(req) // discovery is everybody's
		}
		right := call.Verb + " " + resourceName(call.Group, call.Resource, call.Subresource)
		r.happen(right)
		response, err := next.RoundTrip(req)
		if err == nil {
			r.note(right, response.StatusCode)
		}
		return response, err
	})
}

func (r *recorder) happen(right string) {
	r.mu.Lock()
	event := r.events[right]
	delete(r.events, right)
	r.mu.Unlock()
	if event != nil {
		event()
	}
}

func (r *recorder) note(right string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if status == http.StatusForbidden {
		r.refused.Insert(right)
		return
	}
	r.used.Insert(right)
	// For an apply that makes the object the server asks for both rights.
	if resource, isPatch := strings.CutPrefix(right, "patch "); isPatch && status == http.StatusCreated {
		r.used.Insert("create " + resource)
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

// granted are the rights that the release grants anywhere.
func (r release) granted(t *testing.T) sets.Set[string] {
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
	var rules []rbacv1.PolicyRule
	for _, role := range clusterRoles.Items {
		if strings.HasPrefix(role.Name, r.namespace+":") {
			rules = append(rules, role.Rules...)
		}
	}
	for _, role := range roles.Items {
		if role.Namespace == r.namespace || strings.HasPrefix(role.Name, r.namespace+":") {
			rules = append(rules, role.Rules...)
		}
	}
	granted := sets.New[string]()
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted.Insert(verb + " " + resourceName(rule.APIGroups[0], resource, ""))
			}
		}
	}
	return granted
}

// sorted makes sets of rights comparable, and readable in a difference.
func sorted(rights sets.Set[string]) []string {
	return slices.Sorted(maps.Keys(rights))
}
