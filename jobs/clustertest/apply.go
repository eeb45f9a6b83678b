package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Apply applies a stream of objects on the server's side, never forced, as a
// field manager, and returns them as the server has them. An object without
// namespace goes to the given one.
func (e *Env) Apply(t testing.TB, manager, namespace, manifest string) []*unstructured.Unstructured {
	t.Helper()
	out, err := e.TryApply(manager, namespace, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TryApply is Apply for a stream that may be refused. It stops at the first
// refused object; the error is the server's.
func (e *Env) TryApply(manager, namespace, manifest string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if object.Object == nil {
			continue // an empty document
		}
		live, err := e.apply(manager, namespace, object)
		if err != nil {
			return out, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		out = append(out, live)
	}
}

func (e *Env) apply(manager, namespace string, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	mapping, err := e.mapping(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	data, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if ns := object.GetNamespace(); ns != "" {
		namespace = ns
	}
	client := e.Dynamic.Resource(mapping.Resource)
	options := metav1.PatchOptions{FieldManager: manager}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client.Patch(context.Background(), object.GetName(), types.ApplyPatchType, data, options)
	}
	return client.Namespace(namespace).Patch(context.Background(), object.GetName(), types.ApplyPatchType, data, options)
}
