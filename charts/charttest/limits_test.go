package charttest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

const fromAll = `, attach: {from: All}`

// Whoever may see some namespaces cannot know that no route elsewhere asks for a
// hostname, so its listener stays, and the report says why.
func TestWhatIsOutOfSightIsKept(t *testing.T) {
	s := newStory(t)
	elsewhere := s.cluster.Namespace(t)
	s.values("install", `{}`, fromAll)
	s.apply(gateway, route("a", "edge"))
	far := strings.ReplaceAll(route("b", "edge"), "name: edge", "name: edge, namespace: "+s.infra)
	s.cluster.Apply(t, "people", elsewhere, far)
	s.sweep()
	s.wantHostnames("a.example.com", "b.example.com")

	s.values("upgrade", `{namespaces: [NS]}`, fromAll)
	for range 4 {
		if report := s.sweep().Stdout; !strings.Contains(report, "it admits namespaces that are not read") {
			t.Errorf("the report does not say why the listener stays:\n%s", report)
		}
	}
	s.wantHostnames("a.example.com", "b.example.com")
}

// A right that is missing keeps everything whose removal needs to know what it
// would have shown. The run ends with an error that names the right.
func TestWhatAMissingRightKeeps(t *testing.T) {
	s := newStory(t)
	s.values("install", `{}`, fromAll)
	s.apply(gateway, route("a", "edge"), route("b", "edge"))
	s.sweep()
	s.cluster.Kubectl(t, "", "delete", "httproute", "a", "--namespace", s.infra)

	for resource, verb := range map[string]string{
		"gateways": "list", "listenersets": "list", "httproutes": "list", "grpcroutes": "list", "tlsroutes": "list",
		"certificates": "list", "referencegrants": "list", "namespaces": "list",
	} {
		s.without(verb, resource, 1)
		s.wantHostnames("a.example.com", "b.example.com")
	}
	s.without("get", "customresourcedefinitions", 4)
	s.without("patch", "gateways", 4)
	s.wantHostnames("a.example.com", "b.example.com")

	s.sweep()
	s.wantHostnames("b.example.com")
	s.sweep() // it marks the Certificate
	s.without("delete", "certificates", 4)
	if got := s.names("certificates"); len(got) != 2 {
		t.Errorf("certificates are %q, want those of both hostnames", got)
	}
}

// Without rights on Secrets everything else is done, and the report says which
// Secrets stay and what would let them go.
func TestWithoutRightsOnSecrets(t *testing.T) {
	for right, says := range map[string]string{
		"list secrets": "SecretsKept", "patch secrets": "SecretsKept", "delete secrets": "SecretsKept",
		"list pods": "cannot be read, and one may use it",
	} {
		t.Run(right, func(t *testing.T) {
			verb, resource, _ := strings.Cut(right, " ")
			s := newStory(t)
			s.values("install", `{secretRetention: {enabled: true}}`, retention)
			s.apply(gateway, route("a", "edge"), route("b", "edge"))
			s.sweep()
			s.issue()
			s.cluster.Kubectl(t, "", "delete", "httproute", "a", "--namespace", s.infra)
			s.change(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return withhold(rules, verb, resource) })
			var last clustertest.PodRun
			for range 5 {
				last = s.sweep()
			}
			s.wantHostnames("b.example.com")
			if got := s.names("certificates"); len(got) != 1 {
				t.Errorf("certificates are %q, want that of b.example.com alone", got)
			}
			if got := s.names("secrets"); len(got) != 2 {
				t.Errorf("secrets are %q, want those of both hostnames", got)
			}
			for _, want := range []string{says, resource} {
				if !strings.Contains(last.Stdout, want) {
					t.Errorf("the report lacks %q:\n%s", want, last.Stdout)
				}
			}
		})
	}
}

// without runs the sweep without one right, and says if it does not end as it
// should.
func (s story) without(verb, resource string, code int) {
	s.t.Helper()
	var before []rbacv1.PolicyRule
	s.change(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		before = rules
		return withhold(rules, verb, resource)
	})
	run := s.runPod(s.cronJob(s.t).Spec.JobTemplate.Spec.Template)
	if run.Code != code || !strings.Contains(run.Stdout+run.Stderr, resource) || !strings.Contains(run.Message, resource) {
		s.t.Errorf("without the right to %s %s the sweep ends with %d, want %d and the right:\n%s%s\ntermination message:\n%s",
			verb, resource, run.Code, code, run.Stdout, run.Stderr, run.Message)
	}
	s.change(func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return before })
}

// change changes the rights of the release.
func (s story) change(to func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) {
	s.t.Helper()
	roles := s.cluster.Client.RbacV1().ClusterRoles()
	role, err := roles.Get(s.t.Context(), s.namespace+":sweep-gatewright", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	role.Rules = to(role.Rules)
	if _, err := roles.Update(s.t.Context(), role, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// names are those of the objects of a kind beside the Gateway.
func (s story) names(kind string) []string {
	s.t.Helper()
	return strings.Fields(s.cluster.Kubectl(s.t, "", "get", kind, "--namespace", s.infra, "-o", "name"))
}

// withhold returns rules without one right.
func withhold(rules []rbacv1.PolicyRule, verb, resource string) []rbacv1.PolicyRule {
	var rest []rbacv1.PolicyRule
	for _, rule := range rules {
		if i := slices.Index(rule.Resources, resource); i >= 0 {
			less := rule
			less.Resources = []string{resource}
			less.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
			rule.Resources = slices.Delete(slices.Clone(rule.Resources), i, i+1)
			rest = append(rest, less)
		}
		rest = append(rest, rule)
	}
	return slices.DeleteFunc(rest, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 || len(r.Resources) == 0 })
}

// wantHostnames are those of the Gateway's listeners, without the one that was
// there before.
func (s story) wantHostnames(want ...string) {
	s.t.Helper()
	var edge gatewayv1.Gateway
	out := s.cluster.Kubectl(s.t, "", "get", "gateway", "edge", "--namespace", s.infra, "-o", "json")
	if err := json.Unmarshal([]byte(out), &edge); err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, l := range edge.Spec.Listeners {
		if l.Name != "admin" && l.Hostname != nil {
			got = append(got, string(*l.Hostname))
		}
	}
	slices.Sort(got)
	if !slices.Equal(want, got) {
		s.t.Fatalf("listeners for %q, want %q", got, want)
	}
}
