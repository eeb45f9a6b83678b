package jobs

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/postrender/engine"
)

// coreResources are part of every API server.
var coreResources = map[string]resource{
	engine.KindNamespace: {version: "v1", name: "namespaces"},
	engine.KindService:   {version: "v1", name: "services"},
	engine.KindSecret:    {version: "v1", name: "secrets"},
	pods.kind:            {version: "v1", name: "pods"},
	kindServiceAccount:   {version: "v1", name: "serviceaccounts"},
}

// served says what became known of one group.
type served struct {
	resources map[string]resource // by kind
	// err is why it is not known whether the kinds that are not in resources
	// are served. Without it they are known not to be.
	err error
}

// discover finds out where the kinds are served, and asks of no other group: a
// broken aggregated API elsewhere does not matter.
func (c *Cluster) discover(ctx context.Context, kinds []kind) map[string]served {
	wanted := map[string][]string{}
	for _, k := range kinds {
		wanted[k.group] = append(wanted[k.group], k.kind)
	}
	found := map[string]served{}
	var mutex sync.Mutex
	var all sync.WaitGroup // so that a server that does not answer is waited for once
	for group, kinds := range wanted {
		all.Go(func() {
			one := c.discoverGroup(ctx, group, kinds)
			mutex.Lock()
			defer mutex.Unlock()
			found[group] = one
		})
	}
	all.Wait()
	return found
}

// discoverGroup takes each kind in the group's preferred version, or in the
// first other one that has it.
func (c *Cluster) discoverGroup(ctx context.Context, group string, kinds []string) served {
	if group == "" {
		return served{resources: coreResources}
	}
	found := served{resources: map[string]resource{}}
	versions, err := c.versions(ctx, group)
	if err != nil {
		found.err = err
		return found
	}
	for _, version := range versions {
		isMissing := func(kind string) bool { return found.resources[kind].name == "" }
		if !slices.ContainsFunc(kinds, isMissing) {
			return found
		}
		if err := c.addVersion(ctx, found.resources, group, version, kinds); err != nil && found.err == nil {
			found.err = err
		}
	}
	return found
}

// versions returns the versions of a group, the preferred one first; none if the
// server is seen not to have the group.
func (c *Cluster) versions(ctx context.Context, group string) ([]string, error) {
	at := request{path: "/apis/" + group, accept: acceptObjects}
	var answer metav1.APIGroup
	err := c.get(ctx, at, &answer)
	if hasCode(err, http.StatusNotFound) {
		return nil, c.proveAbsent(ctx, group)
	}
	if err == nil && (answer.Kind != "APIGroup" || answer.Name != group || len(answer.Versions) == 0) {
		err = &answerError{fmt.Sprintf("the answer is %s %q with %d versions, not APIGroup %q",
			orNothing(answer.Kind), answer.Name, len(answer.Versions), group)}
	}
	if err != nil {
		return nil, &readError{what: "API group " + group, path: at.path, err: err, fix: fixDiscovery(err)}
	}
	var versions []string
	for _, v := range answer.Versions {
		if v.Version == answer.PreferredVersion.Version {
			versions = slices.Insert(versions, 0, v.Version)
		} else {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

// proveAbsent looks a group that was not found up in the list of all groups,
// because any proxy can say "not found". The server makes that list without
// asking the groups' servers.
func (c *Cluster) proveAbsent(ctx context.Context, group string) error {
	at := request{path: "/apis", accept: acceptObjects}
	var answer metav1.APIGroupList
	err := c.get(ctx, at, &answer)
	if err == nil && answer.Kind != "APIGroupList" {
		err = &answerError{fmt.Sprintf("the answer is %s, not APIGroupList", orNothing(answer.Kind))}
	}
	if err == nil && slices.ContainsFunc(answer.Groups, func(g metav1.APIGroup) bool { return g.Name == group }) {
		err = &answerError{"the server lists the group and does not find it"}
	}
	if err != nil {
		return &readError{what: "API group " + group, path: at.path, err: err, fix: fixDiscovery(err)}
	}
	return nil
}

// addVersion adds the kinds that a version of the group serves, where they were
// not found in an earlier one.
func (c *Cluster) addVersion(ctx context.Context, found map[string]resource, group, version string, kinds []string) error {
	at := request{path: "/apis/" + group + "/" + version, accept: acceptObjects}
	var answer metav1.APIResourceList
	err := c.get(ctx, at, &answer)
	if want := group + "/" + version; err == nil && (answer.Kind != "APIResourceList" || answer.GroupVersion != want) {
		err = &answerError{fmt.Sprintf("the answer is %s %q, not APIResourceList %q", orNothing(answer.Kind), answer.GroupVersion, want)}
	}
	if err != nil {
		return &readError{what: "API group " + group, path: at.path, err: err, fix: fixDiscovery(err)}
	}
	for _, r := range answer.APIResources {
		isSub := strings.Contains(r.Name, "/")
		if isSub || !slices.Contains(kinds, r.Kind) || !slices.Contains([]string(r.Verbs), "list") || found[r.Kind].name != "" {
			continue
		}
		found[r.Kind] = resource{group: group, version: version, name: r.Name}
	}
	return nil
}

// definitions are the CustomResourceDefinitions of the kinds that the engine
// needs.
var definitions = []string{
	"certificates." + engine.CertManagerGroup,
	"gateways." + engine.GatewayGroup,
	"grpcroutes." + engine.GatewayGroup,
	"httproutes." + engine.GatewayGroup,
	"listenersets." + engine.GatewayGroup,
	"referencegrants." + engine.GatewayGroup,
	"tlsroutes." + engine.GatewayGroup,
}

// Terminating returns the CustomResourceDefinitions of the kinds that the engine
// needs which are being deleted, and all their objects with them, and those that
// do not exist.
func (c *Cluster) Terminating(ctx context.Context) (terminating, absent []string, err error) {
	for _, name := range definitions {
		at := request{path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name, accept: acceptMetadata}
		var answer metav1.PartialObjectMetadata
		err := c.get(ctx, at, &answer)
		if isNoObject(err, name) {
			absent = append(absent, name)
			continue
		}
		if err == nil && (answer.Kind != "PartialObjectMetadata" || answer.Name != name) {
			err = &answerError{fmt.Sprintf("the answer is %s %q, not its PartialObjectMetadata", orNothing(answer.Kind), answer.Name)}
		}
		if err != nil {
			fix := fixOf(err, "get", "customresourcedefinitions.apiextensions.k8s.io", "")
			return nil, nil, &readError{what: "CustomResourceDefinition " + name, path: at.path, err: err, fix: fix}
		}
		if answer.DeletionTimestamp != nil {
			terminating = append(terminating, name)
		}
	}
	return terminating, absent, nil
}
