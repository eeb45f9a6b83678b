package crdtest

import (
	"context"
	"fmt"
	"sync"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// resource is one served version of a kind, with the parts of kube-apiserver
// that handle requests for it.
type resource struct {
	kind       schema.GroupVersionKind
	namespaced bool
	schema     *structuralschema.Structural
	strategy   strategy
	fields     *managedfields.FieldManager
}

// strategy is what kube-apiserver asks of a custom resource.
type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
	GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set
}

type resourceKey struct {
	file    string
	version string
}

// resources holds what was compiled already: CEL makes that slow.
var (
	resourcesMu sync.Mutex
	resources   = map[resourceKey]*resource{}
)

// find returns the resource for a kind, compiling it on first use.
func find(channel Channel, kind schema.GroupVersionKind) (*resource, error) {
	file, err := crdFile(channel, kind)
	if err != nil {
		return nil, err
	}
	resourcesMu.Lock()
	defer resourcesMu.Unlock()
	key := resourceKey{file, kind.Version}
	if r := resources[key]; r != nil {
		return r, nil
	}
	crd, err := readCRD(channel, file, kind.GroupKind())
	if err != nil {
		return nil, err
	}
	if !apiextensionshelpers.HasServedCRDVersion(crd, kind.Version) {
		return nil, fmt.Errorf("%s: version %s is not served in channel %s", kind.GroupKind(), kind.Version, channel)
	}
	r, err := compile(crd, kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	resources[key] = r
	return r, nil
}

// compile makes of a definition what kube-apiserver makes of it.
func compile(crd *apiextensionsv1.CustomResourceDefinition, kind schema.GroupVersionKind) (*resource, error) {
	published, err := apiextensionshelpers.GetSchemaForVersion(crd, kind.Version)
	if err != nil {
		return nil, err
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(published, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy()
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	r := &resource{kind: kind, namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped, schema: structural}
	// All kinds here have a status of their own and none can be scaled.
	r.strategy = customresource.NewStrategy(unstructuredscheme.NewUnstructuredObjectTyper(), r.namespaced, kind,
		validator, nil, structural, &apiextensions.CustomResourceSubresourceStatus{}, nil, nil)
	r.fields, err = newFieldManager(crd, r)
	return r, err
}

// fill sets the defaults of the definition.
func (r *resource) fill(object *unstructured.Unstructured) {
	defaulting.Default(object.Object, r.schema)
}

// create admits a new object.
func (r *resource) create(object *unstructured.Unstructured) error {
	rest.FillObjectMetaSystemFields(object)
	return rest.BeforeCreate(r.strategy, r.context(object), object)
}

// update admits a changed object.
func (r *resource) update(object, old *unstructured.Unstructured) error {
	return rest.BeforeUpdate(r.strategy, r.context(object), object, old)
}

// context is that of a request to the namespace of the object.
func (r *resource) context(object *unstructured.Unstructured) context.Context {
	return request.WithNamespace(context.Background(), object.GetNamespace())
}
