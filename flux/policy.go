package flux

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
)

// optedIn tells whether a HelmRelease asks for its Gateways to be rendered. The
// annotation may be empty: it then leaves the policy to others.
func (r *run) optedIn(hr *release) bool {
	_, annotated := hr.Annotations[engine.AnnotationPolicy]
	return (annotated || r.options.All) && hr.Annotations[engine.AnnotationManage] != "false"
}

// policiesFor adds the policy that a HelmRelease carries for its Gateways to the
// sources: below flags and file, above the annotation of a Gateway.
func (r *run) policiesFor(hr *release, all parents) (engine.PolicySources, error) {
	sources := r.options.Policies
	text := hr.Annotations[engine.AnnotationPolicy]
	var keys engine.Keys
	err := yaml.UnmarshalStrict([]byte(text), &keys)
	if err == nil {
		err = keys.Check()
	}
	if err != nil {
		return sources, hr.fault(fmt.Sprintf("annotation %s: %v", engine.AnnotationPolicy, err),
			"write one policy entry there, such as issuerRef: {kind: ClusterIssuer, name: letsencrypt}")
	}
	for _, name := range []string{"priorityNamespaces", "maxListeners", "secretRetention"} {
		if keys[name] != nil {
			return sources, hr.fault(fmt.Sprintf("annotation %s: %s is not read here", engine.AnnotationPolicy, name), "set it in the policy file or by a flag")
		}
	}
	if len(keys) == 0 {
		return sources, nil
	}
	own := &engine.PolicyFile{Name: "annotation of " + hr.String()}
	if given := sources.File; given != nil {
		own.Name = given.Name
		r.differences(hr, all, keys)
		for _, entry := range given.Gateways {
			both := maps.Clone(keys)
			maps.Copy(both, entry.Keys)
			entry.Keys = both
			own.Gateways = append(own.Gateways, entry)
		}
	}
	own.Gateways = append(own.Gateways, engine.PolicyEntry{Keys: keys})
	sources.File = own
	return sources, nil
}

// differences tells of the keys that the file gives another value for a Gateway
// of the release.
func (r *run) differences(hr *release, all parents, own engine.Keys) {
	file := r.options.Policies.File
	for _, parent := range all {
		i := slices.IndexFunc(file.Gateways, func(e engine.PolicyEntry) bool {
			return matches(e.Name, text(parent, "metadata", "name")) && matches(e.Namespace, namespaceIn(parent, hr.GetReleaseNamespace()))
		})
		if i < 0 || parent["kind"] != engine.KindGateway {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(own)) {
			if value, set := file.Gateways[i].Keys[name]; set && !reflect.DeepEqual(value, own[name]) {
				r.find(engine.Warning, engine.CodePolicyDifference, hr, fmt.Sprintf("annotation %s says %s: %v, and policy file %s, which counts, says %v", engine.AnnotationPolicy, name, own[name], file.Name, value))
			}
		}
	}
}

// matches tells whether a field of an entry's match takes a name.
func matches(pattern, name string) bool { return pattern == "" || pattern == "*" || pattern == name }
