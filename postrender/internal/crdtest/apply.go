package crdtest

import (
	"errors"
	"fmt"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Object is one object on the server, changed by server-side apply.
type Object struct {
	channel Channel
	live    *unstructured.Unstructured
}

// NewObject returns an object that does not exist yet; the first Apply makes it.
func NewObject(channel Channel) *Object {
	return &Object{channel: channel}
}

// Apply is a server-side apply by a field manager, never forced: the server
// merges, sets the defaults and validates the result. The error is a conflict
// if apierrors.IsConflict says so; after any error the object is as before.
func (o *Object) Apply(manager string, object map[string]any) error {
	patch, r, err := o.channel.decode(object)
	if err != nil {
		return err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(r.kind)
	if o.live != nil {
		live = o.live.DeepCopy()
	}
	if got := live.GroupVersionKind(); got != r.kind {
		return fmt.Errorf("the live object is %s, not %s", got, r.kind)
	}
	applied, err := r.fields.Apply(live, patch, manager, false)
	if err != nil {
		return err
	}
	merged := applied.(*unstructured.Unstructured)
	if o.live == nil {
		err = r.create(merged)
	} else {
		err = r.update(merged, o.live)
	}
	if err == nil {
		err = webhook(merged)
	}
	if err == nil {
		o.store(merged)
	}
	return err
}

// store keeps the object as etcd would.
func (o *Object) store(object *unstructured.Unstructured) {
	version := 1
	if o.live != nil {
		version, _ = strconv.Atoi(o.live.GetResourceVersion())
		version++
	}
	object.SetResourceVersion(strconv.Itoa(version))
	object.SetUID(types.UID("uid"))
	o.live = object
}

// Live returns a copy of the object as a client would read it, or nil.
func (o *Object) Live() map[string]any {
	if o.live == nil {
		return nil
	}
	return o.live.DeepCopy().Object
}

// ApplyTwice returns the error that an object, applied by two field managers
// in turn and by the first one again, meets in either channel: what one
// renders the other may render too only if this is nil.
func ApplyTwice(object map[string]any) error { return ApplyInTurn(object, object) }

// ApplyInTurn is ApplyTwice for an object that a release writes whole and of
// which a sweep writes its part.
func ApplyInTurn(release, sweep map[string]any) error {
	var errs []error
	for _, channel := range Channels {
		live := NewObject(channel)
		for _, apply := range []struct {
			manager string
			object  map[string]any
		}{{"helm", release}, {"gatewright", sweep}, {"helm", release}} {
			if err := live.Apply(apply.manager, apply.object); err != nil {
				errs = append(errs, fmt.Errorf("channel %s: apply by %s: %w", channel, apply.manager, err))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// newFieldManager returns kube-apiserver's field manager for a resource. It
// learns which lists are maps, sets or atomic from the published OpenAPI.
func newFieldManager(crd *apiextensionsv1.CustomResourceDefinition, r *resource) (*managedfields.FieldManager, error) {
	openapi, err := builder.BuildOpenAPIV3(crd, r.kind.Version, builder.Options{})
	if err != nil {
		return nil, err
	}
	types, err := managedfields.NewTypeConverter(openapi.Components.Schemas, false)
	if err != nil {
		return nil, err
	}
	return managedfields.NewDefaultCRDFieldManager(types, oneVersion{}, filler{r}, unstructuredscheme.NewUnstructuredCreator(),
		r.kind, r.kind.GroupVersion(), "", fieldpath.NewExcludeFilterSetMap(r.strategy.GetResetFields()))
}

// filler is the defaulting of a resource in the shape that a field manager
// takes.
type filler struct{ *resource }

func (f filler) Default(object runtime.Object) {
	f.fill(object.(*unstructured.Unstructured))
}

// oneVersion converts nothing: an Object is applied in one version only.
type oneVersion struct{}

func (oneVersion) Convert(_, _, _ any) error {
	return errors.New("crdtest: no conversion between versions")
}

func (oneVersion) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (oneVersion) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", errors.New("crdtest: no field labels")
}
