package clustertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ChartAccount is the ServiceAccount of a release of the chart.
type ChartAccount struct {
	Namespace, Release string // the release's full name is that of its Lease, too
	Token              string
}

// chartAccounts are those of a cluster, by their values.
type chartAccounts struct {
	sync.Mutex
	made map[string]ChartAccount
}

// ChartAccount returns a ServiceAccount with the rights that the chart grants
// with the values, a YAML document: what Helm renders of it is applied, and in
// force. There is one for the same values in a cluster, which stays.
func (e *Env) ChartAccount(t testing.TB, values string) ChartAccount {
	t.Helper()
	e.accounts.Lock()
	defer e.accounts.Unlock()
	if account, ok := e.accounts.made[values]; ok {
		return account
	}
	account := ChartAccount{Namespace: fmt.Sprintf("sweeper-%d", len(e.accounts.made)+1), Release: "sweep-gatewright"}
	applied, err := e.applyAccount(t.Context(), account, values)
	if err != nil {
		t.Fatalf("rights of the chart with the values %s: %v", values, err)
	}
	user := "system:serviceaccount:" + account.Namespace + ":" + account.Release
	Eventually(t, func() error { return e.inForce(t.Context(), user, applied) })
	account.Token = e.As(t, account.Namespace, account.Release).BearerToken
	e.accounts.made[values] = account
	return account
}

// applyAccount applies what the chart has of rights.
func (e *Env) applyAccount(ctx context.Context, account ChartAccount, values string) ([]*unstructured.Unstructured, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: account.Namespace}}
	if _, err := e.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	manifest, err := e.renderAccount(account.Namespace, values)
	if err != nil {
		return nil, err
	}
	return e.TryApply("helm", account.Namespace, manifest)
}

// renderAccount lets Helm render the rights of the chart. It reads a copy: what
// Helm reads, go test must see, or it takes an old result for a new chart.
func (e *Env) renderAccount(namespace, values string) (string, error) {
	dirs, err := modules()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(e.dir, namespace)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(dirs[ownModule], "charts", "gatewright"))); err != nil {
		return "", err
	}
	file := filepath.Join(e.dir, namespace+".yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		return "", err
	}
	return e.TryHelm4("template", "sweep", dir, "--namespace", namespace, "--set", "image.repository=example.com/gatewright",
		"--values", file, "--show-only", "templates/serviceaccount.yaml", "--show-only", "templates/rbac.yaml")
}

// inForce says whether a user has all that roles grant: the server hears of
// them a little later than they are made.
func (e *Env) inForce(ctx context.Context, user string, applied []*unstructured.Unstructured) error {
	for _, object := range applied {
		var role rbacv1.ClusterRole // a Role has the same fields
		if kind := object.GetKind(); kind != "ClusterRole" && kind != "Role" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			return err
		}
		for _, right := range rightsOf(role) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
			answer, err := e.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if !answer.Status.Allowed {
				return fmt.Errorf("the server does not grant %s %s in %q", right.Verb, right.Resource, right.Namespace)
			}
		}
	}
	return nil
}

// rightsOf are all that a role grants, one by one.
func rightsOf(role rbacv1.ClusterRole) []authorizationv1.ResourceAttributes {
	var out []authorizationv1.ResourceAttributes
	for _, rule := range role.Rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					out = append(out, authorizationv1.ResourceAttributes{
						Namespace: role.Namespace, Verb: verb, Group: rule.APIGroups[0], Resource: resource, Name: name,
					})
				}
			}
		}
	}
	return out
}
