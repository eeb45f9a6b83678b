package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// scenarioGiven is the input of a run.
type scenarioGiven struct {
	Config   scenarioConfig  `json:"config"`
	Routes   []scenarioRoute `json:"routes"`
	Services []string        `json:"services"`
	Grants   []scenarioGrant `json:"grants"`
	Partial  bool            `json:"partial"`
}

type scenarioConfig struct {
	Apex                 string            `json:"apex"`
	CertMode             string            `json:"certMode"`
	Issuer               string            `json:"issuer"`
	Secret               string            `json:"secret"`
	AttachedNamespaces   []string          `json:"attachedNamespaces"`
	ChildNamespaces      map[string]string `json:"childNamespaces"`
	PassthroughServices  []string          `json:"passthroughServices"`
	PassthroughListeners []Passthrough     `json:"passthroughListeners"`
	Withdraw             string            `json:"withdraw"`
}

type scenarioRoute struct {
	H       string           `json:"H"`
	T       string           `json:"T"`
	Hosts   []string         `json:"hosts"`
	Section string           `json:"section"`
	Port    int              `json:"port"`
	Parents []scenarioParent `json:"parents"`
	To      []string         `json:"to"`
	Rules   [][]string       `json:"rules"`
	Imports []string         `json:"imports"`
	Created string           `json:"created"`
	Solver  bool             `json:"solver"`
}

type scenarioParent struct {
	Section string `json:"section"`
	Port    int    `json:"port"`
}

type scenarioGrant struct {
	In   string `json:"in"`
	From string `json:"from"`
	Kind string `json:"kind"`
	To   string `json:"to"`
	Name string `json:"name"`
}

// The Gateway of all scenarios.
const (
	scenarioNamespace = "team-a"
	scenarioGateway   = "gw"
)

func (c *scenarioConfig) apex() string { return cmp.Or(c.Apex, "a.example.com") }

// attached are all namespaces that may attach, sorted.
func (c *scenarioConfig) attached() []string {
	out := append([]string{scenarioNamespace}, c.AttachedNamespaces...)
	out = slices.AppendSeq(out, maps.Keys(c.ChildNamespaces))
	slices.Sort(out)
	return out
}

// policy is the config as a policy of gatewright.
func (c *scenarioConfig) policy() Keys {
	modes := map[string]string{"": PerHostname, "http01": PerHostname, "dns01": Wildcard, "existingSecret": ExistingSecret, "edge": Edge}
	withdraw := map[string]string{"": "Served", "served": "Served", "declared": "SamePort"}
	var passthrough []Passthrough
	for _, service := range c.PassthroughServices {
		passthrough = append(passthrough, Passthrough{Name: service, Port: 443, Hostname: service + "." + c.apex(), From: "Attach"})
	}
	for _, entry := range c.PassthroughListeners {
		entry.From = FromSame
		passthrough = append(passthrough, entry)
	}
	keys := Keys{
		"certificates":       modes[c.CertMode],
		"apex":               c.apex(),
		"childApexes":        slices.Sorted(maps.Values(c.ChildNamespaces)),
		"attach":             Attach{From: FromList, Namespaces: c.attached()},
		"hostnameOwnership":  OneNamespace,
		"priorityNamespaces": []string{"sys-*"},
		"acmeNamespaces":     []string{"sys-acme"},
		"http":               map[string]any{"listener": true},
		"passthrough":        passthrough,
		"withdraw":           withdraw[c.Withdraw],
	}
	if c.Issuer != "none" {
		keys["issuerRef"] = IssuerRef{Name: cmp.Or(c.Issuer, "gw-issuer")}
	}
	if c.Secret != "" {
		keys["secretName"] = c.Secret
	}
	return keys
}

// leftBehind is what an earlier run made.
type leftBehind struct {
	listeners []map[string]any
	objects   []map[string]any
}

func (g *scenarioGiven) objects(left leftBehind) []map[string]any {
	out := []map[string]any{manifest("Gateway", "v1", scenarioNamespace+"/"+scenarioGateway, map[string]any{
		"gatewayClassName": "x", "listeners": anyMaps(left.listeners),
	})}
	out = append(out, left.objects...)
	for _, route := range g.Routes {
		out = append(out, route.manifest())
	}
	for _, service := range g.Services {
		object := manifest("Service", "", service, nil)
		object["apiVersion"] = "v1"
		out = append(out, object)
	}
	for i, grant := range g.Grants {
		out = append(out, manifest("ReferenceGrant", "v1beta1", grant.In+"/grant-"+string(rune('a'+i)), map[string]any{
			"from": []any{map[string]any{"group": GatewayGroup, "kind": grant.Kind, "namespace": grant.From}},
			"to":   []any{map[string]any{"group": "", "kind": grant.To, "name": grant.Name}},
		}))
	}
	return out
}

func manifest(kind, version, name string, spec map[string]any) map[string]any {
	namespace, name, _ := strings.Cut(name, "/")
	return map[string]any{
		"apiVersion": GatewayGroup + "/" + version, "kind": kind, "spec": spec,
		"metadata": map[string]any{"namespace": namespace, "name": name},
	}
}

func (r *scenarioRoute) manifest() map[string]any {
	parents := r.Parents
	if parents == nil {
		parents = []scenarioParent{{r.Section, r.Port}}
	}
	var refs []any
	for _, p := range parents {
		ref := map[string]any{"name": scenarioGateway, "namespace": scenarioNamespace}
		if p.Section != "" {
			ref["sectionName"] = p.Section
		}
		if p.Port != 0 {
			ref["port"] = p.Port
		}
		refs = append(refs, ref)
	}
	spec := map[string]any{"parentRefs": refs, "hostnames": anyList(r.Hosts), "rules": r.rules()}
	object := manifest(KindHTTPRoute, "v1", r.H, spec)
	if r.T != "" {
		object = manifest(KindTLSRoute, "v1alpha2", r.T, spec)
	}
	metadata := object["metadata"].(map[string]any)
	if r.Created != "" {
		metadata["creationTimestamp"] = r.Created
	}
	if r.Solver {
		metadata["labels"] = map[string]any{"acme.cert-manager.io/http01-solver": "true"}
	}
	return object
}

func (r *scenarioRoute) rules() []any {
	rules := r.Rules
	if r.To != nil {
		rules = append(rules, r.To)
	}
	var out []any
	for _, backends := range rules {
		var refs []any
		for _, backend := range backends {
			ref := map[string]any{"name": backend, "port": 443}
			if namespace, name, found := strings.Cut(backend, "/"); found {
				ref = map[string]any{"namespace": namespace, "name": name, "port": 443}
			}
			refs = append(refs, ref)
		}
		out = append(out, map[string]any{"backendRefs": refs})
	}
	for _, name := range r.Imports {
		out = append(out, map[string]any{"backendRefs": []any{map[string]any{"group": "multicluster.x-k8s.io", "kind": "ServiceImport", "name": name}}})
	}
	return out
}

func anyMaps(in []map[string]any) []any {
	out := make([]any, len(in))
	for i := range in {
		out[i] = in[i]
	}
	return out
}
