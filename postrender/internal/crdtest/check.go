package crdtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Validate fails the test unless an object that we render is accepted by API
// servers of both channels and, if it is a Certificate, could be issued.
func Validate(t testing.TB, object map[string]any) {
	t.Helper()
	if err := errors.Join(Check(object), issuable(object)); err != nil {
		t.Errorf("%s is refused: %v", describe(object), err)
	}
}

// Check returns why an API server of either channel would refuse to create the
// object, with strict field validation and with cert-manager's webhook, or nil.
func Check(object map[string]any) error {
	var errs []error
	for _, channel := range Channels {
		if err := channel.Check(object); err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", channel, err))
		}
	}
	return errors.Join(errs...)
}

// Check returns why an API server with the definitions of the channel would
// refuse to create the object, or nil.
func (c Channel) Check(object map[string]any) error {
	u, r, err := c.decode(object)
	if err != nil {
		return err
	}
	r.fill(u)
	if err := r.create(u); err != nil {
		return err
	}
	return webhook(u)
}

// decode reads an object as the body of a request: a copy that holds only what
// JSON can, of a known kind, with metadata of the right types, without nulls
// and without any field that the definition lacks. An object that names no
// namespace goes to that of the request, as kubectl and Helm do it.
func (c Channel) decode(object map[string]any) (*unstructured.Unstructured, *resource, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, nil, err
	}
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return nil, nil, err
	}
	r, err := find(c, u.GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	unknown, err := r.coerce(u)
	if err != nil {
		return nil, nil, err
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, nil, fmt.Errorf("unknown fields: %s", strings.Join(unknown, ", "))
	}
	if r.namespaced && u.GetNamespace() == "" {
		u.SetNamespace("default")
	}
	return u, r, nil
}

// coerce drops what the definition does not know and returns the paths of it.
func (r *resource) coerce(u *unstructured.Unstructured) ([]string, error) {
	apiVersion, kind := u.GetAPIVersion(), u.GetKind()
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object,
		objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, r.schema, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, r.schema)
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	if found {
		if err := objectmeta.SetObjectMeta(u.Object, metadata); err != nil {
			return nil, err
		}
	}
	return unknown, nil
}

// describe names an object in a message.
func describe(object map[string]any) string {
	u := unstructured.Unstructured{Object: object}
	return fmt.Sprintf("%s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
}
