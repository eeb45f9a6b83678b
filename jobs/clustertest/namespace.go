package clustertest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

var (
	namespaces   atomic.Int64
	notInAName   = regexp.MustCompile(`[^a-z0-9]+`)
	maxNameBegin = 40 // leaves room for the number, and for names made of it
)

// Namespace makes a namespace that is named after the test, and removes it with
// everything in it when the test ends. Labels are written key=value.
func (e *Env) Namespace(t testing.TB, labels ...string) string {
	t.Helper()
	begin := notInAName.ReplaceAllString(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "-")
	begin = strings.Trim(begin[:min(len(begin), maxNameBegin)], "-")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("t-%s-%d", begin, namespaces.Add(1)), Labels: map[string]string{},
	}}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		namespace.Labels[key] = value
	}
	if _, err := e.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.empty(namespace.Name); err != nil {
			t.Errorf("remove namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// empty removes a namespace. It stays there, terminating, unless the controller
// manager runs; but it is empty then and nothing can be made in it.
func (e *Env) empty(namespace string) error {
	ctx := context.Background()
	err := e.Client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil // the test removed it
	}
	if err != nil {
		return err
	}
	kinds, err := e.deletable()
	if err != nil {
		return err
	}
	now, background := int64(0), metav1.DeletePropagationBackground
	for _, kind := range kinds {
		err := e.Dynamic.Resource(kind).Namespace(namespace).DeleteCollection(ctx,
			metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}, metav1.ListOptions{})
		if err != nil && !apierrors.IsNotFound(err) { // a kind may go while we look
			return fmt.Errorf("%s: %w", kind.Resource, err)
		}
	}
	return nil
}

// deletable returns the namespaced kinds whose objects can be deleted together.
func (e *Env) deletable() ([]schema.GroupVersionResource, error) {
	lists, err := e.Client.Discovery().ServerPreferredNamespacedResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // the same
		return nil, err
	}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"deletecollection"}}, lists)
	kinds, err := discovery.GroupVersionResources(lists)
	if err != nil {
		return nil, err
	}
	var sorted []schema.GroupVersionResource
	for kind := range kinds {
		sorted = append(sorted, kind)
	}
	// CronJobs and Jobs before Pods, Certificates before Secrets: by group, the
	// core group last.
	slices.SortFunc(sorted, func(a, b schema.GroupVersionResource) int {
		return strings.Compare(b.Group+"/"+b.Resource, a.Group+"/"+a.Resource)
	})
	return sorted, nil
}
