package charts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// features are values that change what the sweep is told and what it may do.
// testdata/features holds the outcome of each.
var features = map[string]string{
	"default":        `{}`,
	"dry-run":        `{dryRun: true}`,
	"no-events":      `{events: {enabled: false}}`,
	"redirects":      `{redirects: {enabled: true}}`,
	"services":       `{services: {read: true}}`,
	"retention":      `{secretRetention: {enabled: true}}`,
	"flux":           `{flux: {enabled: true, eventsAddress: "http://notification-controller.flux-system.svc.cluster.local./"}}`,
	"infrastructure": `{infrastructure: {report: true}}`,
	"namespaces":     `{namespaces: [infra, team-a]}`,
	"all":            `{` + allFeatures + `}`,
	"all-dry-run":    `{` + allFeatures + `, dryRun: true}`,
	"all-namespaces": `{` + allFeatures + `, namespaces: [infra]}`,
	"limits": `{grace: 1h30m, settle: 1m, maxRemovals: 5, output: table, gateways: [infra/edge, web/front],
		allowedIssuers: [ClusterIssuer/letsencrypt, "Issuer/*"], extraArgs: ["--yield=infra/edge:a.example.com"]}`,
	"account-is-given": `{serviceAccount: {create: false, name: robot}}`,
	"no-rbac":          `{rbac: {create: false}}`,
}

const allFeatures = `redirects: {enabled: true}, services: {read: true}, secretRetention: {enabled: true},
		flux: {enabled: true}, infrastructure: {report: true}`

func TestFeatures(t *testing.T) {
	for name, values := range features {
		t.Run(name, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, h helm) {
				rendered := h.mustTemplate(t, values)
				wellFormed(t, rendered)
				golden(t, filepath.Join("testdata/features", name+".txt"), describe(t, rendered))
			})
		})
	}
}

// describe shows, line by line, what is run and what it may do.
func describe(t *testing.T, rendered objects) string {
	t.Helper()
	var cron batchv1.CronJob
	rendered.decode(t, "CronJob ops/sweep-gatewright", &cron)
	var test corev1.Pod
	rendered.decode(t, "Pod ops/sweep-gatewright-test", &test)
	pod := cron.Spec.JobTemplate.Spec.Template.Spec

	var text strings.Builder
	fmt.Fprintf(&text, "account: %s\n\nrun:\n  %s\n\nhelm test:\n  %s\n\nmay:\n", pod.ServiceAccountName,
		strings.Join(pod.Containers[0].Args, "\n  "), strings.Join(test.Spec.Containers[0].Args, "\n  "))
	for _, line := range rights(t, rendered) {
		fmt.Fprintf(&text, "  %s\n", line)
	}
	return text.String()
}

// rights are the verbs granted, one line for each scope and resource, as the
// bindings grant them.
func rights(t *testing.T, rendered objects) []string {
	t.Helper()
	var lines []string
	for key := range rendered {
		kind, name, _ := strings.Cut(key, " ")
		if kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		var binding rbacv1.RoleBinding // a ClusterRoleBinding has the same fields
		rendered.decode(t, key, &binding)
		role := strings.TrimSuffix(kind, "Binding")
		if binding.RoleRef.Kind != role || len(binding.Subjects) != 1 {
			t.Errorf("%s binds %+v to %+v", key, binding.RoleRef, binding.Subjects)
		}
		var bound rbacv1.Role
		rendered.decode(t, role+" "+binding.Namespace+"/"+binding.RoleRef.Name, &bound)
		scope := binding.Namespace
		if scope == "" {
			scope = "everywhere"
		}
		lines = append(lines, ruleLines(scope, binding.Subjects[0].Name, bound.Rules)...)
		if kind == "RoleBinding" && !strings.HasPrefix(name, binding.Namespace+"/") {
			t.Errorf("%s lies in namespace %q", key, binding.Namespace)
		}
	}
	slices.Sort(lines)
	return lines
}

func ruleLines(scope, account string, rules []rbacv1.PolicyRule) []string {
	var lines []string
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			if rule.APIGroups[0] != "" {
				resource += "." + rule.APIGroups[0]
			}
			line := fmt.Sprintf("%s: %s: %s %s", scope, account, resource, strings.Join(rule.Verbs, ","))
			if len(rule.ResourceNames) > 0 {
				line += " named " + strings.Join(rule.ResourceNames, ",")
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// The page lists each right that a feature brings, and no other.
func TestReadmeListsEveryRight(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHelm(t, "helm4")
	for value, values := range map[string]string{
		"dryRun":                  features["dry-run"],
		"always":                  `{events: {enabled: false}}`,
		"events.enabled":          features["default"],
		"redirects.enabled":       features["redirects"],
		"services.read":           features["services"],
		"secretRetention.enabled": features["retention"],
		"flux.enabled":            features["flux"],
		"infrastructure.report":   features["infrastructure"],
	} {
		t.Run(value, func(t *testing.T) {
			want := map[string]bool{}
			for _, cells := range table(string(page), "Rights") {
				when := cells[4]
				isDefault := strings.Contains(when, "`events.enabled`") && value != "always"
				verbs := cells[1] + ", " + cells[2]
				if value == "dryRun" {
					verbs = cells[1]
				}
				if when != "always" && !strings.Contains(when, "`"+value+"`") && !isDefault {
					continue
				}
				for resource := range strings.SplitSeq(cells[0], ", ") {
					for verb := range strings.FieldsFuncSeq(verbs, func(r rune) bool { return r == ',' || r == ' ' }) {
						want[verb+" "+resource] = true
					}
				}
			}
			got := map[string]bool{}
			for _, line := range rights(t, h.mustTemplate(t, values)) {
				fields := strings.Fields(line) // scope, account, resource, verbs
				resource, _, _ := strings.Cut(fields[2], ".")
				for verb := range strings.SplitSeq(fields[3], ",") {
					got[verb+" "+resource] = true
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rights (-README.md +chart):\n%s", diff)
			}
		})
	}
}

// No value may ever bring in a right that nobody listed.
func TestNoRightIsGrantedByAPattern(t *testing.T) {
	h := newHelm(t, "helm3")
	for key, data := range h.mustTemplate(t, "{"+allFeatures+"}") {
		if !strings.HasPrefix(key, "Role ") && !strings.HasPrefix(key, "ClusterRole ") {
			continue
		}
		var role rbacv1.ClusterRole
		if err := json.Unmarshal(data, &role); err != nil {
			t.Fatal(err)
		}
		if role.AggregationRule != nil {
			t.Errorf("%s gathers rights of other roles", key)
		}
		for _, rule := range role.Rules {
			all := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.ResourceNames)
			for _, refused := range []string{"*", "watch", "update", "deletecollection", "escalate", "bind", "impersonate"} {
				if slices.Contains(all, refused) && !(refused == "update" && slices.Contains(rule.Resources, "leases")) {
					t.Errorf("%s grants %s: %+v", key, refused, rule)
				}
			}
		}
	}
}

// golden compares with a file; UPDATE=1 rewrites it and fails, so that the
// change is looked at.
func golden(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil && os.Getenv("UPDATE") == "" {
		t.Fatalf("%v; UPDATE=1 writes it", err)
	}
	diff := cmp.Diff(string(want), got)
	if diff == "" {
		return
	}
	t.Errorf("%s differs (-file +now):\n%s", path, diff)
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}
