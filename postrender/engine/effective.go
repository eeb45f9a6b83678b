package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// effective is the policy of one Gateway and how it came about.
type effective struct {
	Policy
	// managed says that some source gives the Gateway a policy.
	managed bool
	// keys are the merged keys, as they are recorded in the annotation rendered.
	keys Keys
	// unknown are the keys of annotations that this version does not know, and
	// noRemovals says that there are some.
	unknown    []string
	noRemovals bool
}

// source is one source of policy and its name in messages.
type source struct {
	name string
	keys Keys
}

// fileOnly are the keys that an annotation may not set: they reach beyond the
// Gateway that carries it.
var fileOnly = []string{"priorityNamespaces", "maxListeners", "secretRetention"}

// effectivePolicy merges the sources of a Gateway's policy, highest first:
// flags, file, annotation, defaults.
func (r *run) effectivePolicy(g *gateway) (effective, error) {
	sources, unknown, err := r.policySources(g)
	if err != nil {
		return effective{}, err
	}
	merged := Keys{}
	winner := map[string]string{}
	for _, s := range sources {
		for _, key := range slices.Sorted(maps.Keys(s.keys)) {
			if _, set := merged[key]; !set {
				merged[key], winner[key] = s.keys[key], s.name
			} else if !reflect.DeepEqual(merged[key], s.keys[key]) {
				r.find(Warning, CodePolicyDifference, &g.Meta, fmt.Sprintf("the policy key %s is %s in the %s and %s in the %s; the %s wins",
					key, compact(merged[key]), winner[key], compact(s.keys[key]), s.name, winner[key]))
			}
		}
	}
	e := effective{Policy: DefaultPolicy(), managed: len(sources) > 0, keys: merged, unknown: unknown, noRemovals: len(unknown) > 0}
	if _, err := merged.decodeInto(&e.Policy); err != nil {
		return e, gatewayError(g.Gateway, err.Error(), "")
	}
	if err := firstError(e.validate(), e.validateMode()); err != nil {
		return e, gatewayError(g.Gateway, "policy: "+err.Error()+unknownAside(unknown), "")
	}
	r.yieldToShim(g, &e)
	return e, nil
}

func compact(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

func (r *run) policySources(g *gateway) (sources []source, unknown []string, err error) {
	if r.policies.flagsReach(g.GatewayName()) {
		flags, err := r.policies.Flags.normal()
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, source{"command line", flags})
	}
	entry, err := r.fileEntry(g)
	if err != nil {
		return nil, nil, err
	}
	if entry != nil {
		sources = append(sources, source{"policy file", entry})
	}
	for _, carrier := range g.carriers() {
		annotated, more, err := r.annotationKeys(carrier)
		if err != nil {
			return nil, nil, err
		}
		unknown = append(unknown, more...)
		if _, set := carrier.Annotations[AnnotationPolicy]; set {
			sources = append(sources, source{"annotation " + AnnotationPolicy + " of " + carrier.String(), annotated})
		}
		recorded, more, err := r.recordedKeys(carrier)
		if err != nil {
			return nil, nil, err
		}
		unknown = append(unknown, more...)
		if recorded != nil {
			sources = append(sources, source{"annotation " + AnnotationRendered + " of " + carrier.String(), recorded})
		}
	}
	return sources, unknown, nil
}

// carriers are the objects whose annotations give a parent its policy, highest
// first. A ListenerSet has the policy of its Gateway and may differ from it; one
// of another namespace may add to it only, so that a Gateway's owner decides what
// those who may write ListenerSets get by them.
func (g *gateway) carriers() []*Gateway {
	switch {
	case g.host == nil:
		return []*Gateway{g.Gateway}
	case sameNamespace(g.host.Namespace, g.Namespace) == no:
		return []*Gateway{g.host.Gateway, g.Gateway}
	}
	return []*Gateway{g.Gateway, g.host.Gateway}
}

// recordedKeys is the policy that a release recorded on its Gateway: the sweep
// serves the routes of other releases by it. A render computes it anew. Whoever
// may write the Gateway may write it, so keys that reach further are left out.
func (r *run) recordedKeys(g *Gateway) (keys Keys, unknown []string, err error) {
	if g.Annotations[AnnotationRendered] == "" || !r.snapshot.Complete {
		return nil, nil, nil
	}
	const again = "render the release again, with the post-renderer"
	value, err := g.readRendered()
	if err != nil {
		return nil, nil, gatewayError(g, fmt.Sprintf("annotation %s cannot be read: %v", AnnotationRendered, err), again)
	}
	if value.Version != renderedVersion {
		return nil, nil, gatewayError(g, fmt.Sprintf("annotation %s is of version %q, and %s is known here", AnnotationRendered, value.Version, renderedVersion), "run the version that wrote it")
	}
	keys = Keys{}
	for key, field := range value.Policy {
		if key != "priorityNamespaces" && key != "secretRetention" {
			keys[key] = field
		}
	}
	if unknown, err = keys.check(); err != nil {
		return nil, nil, gatewayError(g, fmt.Sprintf("annotation %s: %v", AnnotationRendered, err), again)
	}
	for _, key := range unknown {
		delete(keys, key)
		r.find(Warning, CodePolicyUnknownKey, &g.Meta, fmt.Sprintf("annotation %s: unknown key %s is not obeyed, and nothing of this Gateway is removed; run the version that wrote it", AnnotationRendered, key))
	}
	return keys, unknown, nil
}

// fileEntry returns the keys of the first entry of the file that matches.
func (r *run) fileEntry(g *gateway) (Keys, error) {
	if r.policies.File == nil {
		return nil, nil
	}
	for i, entry := range r.policies.File.Gateways {
		switch entry.matches(g.GatewayName()) {
		case yes:
			return entry.Keys.normal()
		case unknown:
			return nil, r.needNamespace(&g.Meta, fmt.Sprintf("whether gateways[%d] of policy file %s matches it depends on the namespace of the release",
				i, r.policies.File.Name))
		}
	}
	return nil, nil
}

// annotationKeys reads the Gateway's own policy. A key that this version does
// not know was perhaps written for a newer one: it is a finding, and nothing of
// the Gateway is removed.
func (r *run) annotationKeys(g *Gateway) (keys Keys, unknown []string, err error) {
	text, set := g.Annotations[AnnotationPolicy]
	if !set {
		return nil, nil, nil
	}
	fail := func(message, fix string) (Keys, []string, error) {
		return nil, nil, gatewayError(g, "annotation "+AnnotationPolicy+": "+message, fix)
	}
	if err := unmarshalOne([]byte(text), &keys); err != nil {
		return fail(trimDecoder(err), "write one policy entry there, as YAML or JSON, such as "+exampleEntry)
	}
	if keys["apiVersion"] != nil || keys["gateways"] != nil {
		return fail("it holds a whole policy file", "write one entry of it there, such as "+exampleEntry)
	}
	for _, key := range fileOnly {
		if _, set := keys[key]; set {
			delete(keys, key)
			r.find(Warning, CodePolicyKeyNotHere, &g.Meta, fmt.Sprintf("annotation %s: %s is not read here; set it in the policy file or by a flag", AnnotationPolicy, key))
		}
	}
	if unknown, err = keys.check(); err != nil {
		return fail(err.Error()+unknownAside(unknown), "")
	}
	for _, key := range unknown {
		if !strings.Contains(key, ".") {
			delete(keys, key)
		}
		r.find(Warning, CodePolicyUnknownKey, &g.Meta, fmt.Sprintf("annotation %s: unknown key %s is not obeyed, and nothing of this Gateway is removed; correct it%s, or run the version that knows it",
			AnnotationPolicy, key, aside(meant(key, keysBeside(key, nil)))))
	}
	normal, err := keys.normal()
	return normal, unknown, err
}

// yieldToShim leaves the Certificates to cert-manager's gateway-shim on a
// Gateway that carries an issuer annotation: one writer for each Secret.
func (r *run) yieldToShim(g *gateway, e *effective) {
	annotation := g.shimAnnotation()
	if annotation == "" || e.Certificates == Edge || e.Certificates == ExistingSecret {
		return
	}
	if e.Certificates != ListenersOnly && (e.IssuerRef.Name != "" || e.keys["certificates"] != nil) {
		r.find(Warning, CodeShimServes, &g.Meta, fmt.Sprintf("annotation %s makes cert-manager write the Certificates, so the policy's issuer is not used; remove the annotation to let gatewright write them", annotation))
	}
	e.shim = true
	e.managed = e.managed || !r.snapshot.Complete // the sweep begins only where it is told to
	if e.Certificates == PerHostname {
		e.Certificates = ListenersOnly
		e.keys["certificates"] = ListenersOnly
	}
}

// shimAnnotation returns the annotation that makes cert-manager's gateway-shim
// serve the parent, or "". A ListenerSet inherits it from its Gateway.
func (g *gateway) shimAnnotation() string {
	for _, annotation := range []string{"cert-manager.io/cluster-issuer", "cert-manager.io/issuer"} {
		if g.Annotations[annotation] != "" {
			return annotation
		}
	}
	if g.host != nil {
		return g.host.shimAnnotation()
	}
	return ""
}

// ignoredByShim says whether the Gateway keeps cert-manager's shim away from a
// listener, so that its Certificate is ours to write.
func ignoredByShim(g *gateway, listener string) bool {
	for name := range strings.SplitSeq(g.Annotations["cert-manager.io/ignore-tls-listeners"], ",") {
		if strings.TrimSpace(name) == listener {
			return g.shimAnnotation() != ""
		}
	}
	return false
}

// rendered is the value of the annotation gatewright.dev/rendered.
type rendered struct {
	Version   string   `json:"version"`
	Policy    Keys     `json:"policy,omitempty"`
	Listeners []string `json:"listeners"`
}

const renderedVersion = "v1alpha1"

// renderedValue records the keys that differ from the defaults and the names
// of the listeners.
func (e *effective) renderedValue(listeners []Listener) string {
	defaults := DefaultPolicy()
	differing := Keys{}
	for key, value := range e.keys {
		alone := DefaultPolicy()
		if _, err := (Keys{key: value}).decodeInto(&alone); err == nil && !reflect.DeepEqual(alone, defaults) {
			differing[key] = value
		}
	}
	names := []string{}
	for _, l := range listeners {
		if l.Action != Remove {
			names = append(names, l.Name)
		}
	}
	return compact(rendered{renderedVersion, differing, names})
}

// Rendered returns the names of the listeners that the annotation rendered
// holds: they are the release's.
func (g *Gateway) Rendered() map[string]bool {
	names := map[string]bool{}
	if value, err := g.readRendered(); err == nil {
		for _, name := range value.Listeners {
			names[name] = true
		}
	}
	return names
}

// KnowsRendered says whether the annotation rendered, if there is one, can be read,
// so that what it does not name is known not to be the release's.
func (g *Gateway) KnowsRendered() bool {
	value, err := g.readRendered()
	return g.Annotations[AnnotationRendered] == "" || (err == nil && value.Version == renderedVersion)
}

func (g *Gateway) readRendered() (value rendered, err error) {
	err = json.Unmarshal([]byte(g.Annotations[AnnotationRendered]), &value)
	return value, err
}
