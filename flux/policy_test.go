package flux

import (
	"strings"
	"testing"

	"github.com/gatewright/gatewright/postrender/engine"
)

// TestPolicies checks which of the sources of a policy counts.
func TestPolicies(t *testing.T) {
	ref := func(name string) map[string]any { return map[string]any{"kind": "ClusterIssuer", "name": name} }
	entry := func(name string, keys engine.Keys) *engine.PolicyFile {
		return &engine.PolicyFile{Name: "policy.yaml", Gateways: []engine.PolicyEntry{{Name: name, Keys: keys}}}
	}
	inChart := strings.Replace(edge, "{name: edge}", "{name: edge, annotations: {gatewright.dev/policy: '{issuerRef: {name: chart}}'}}", 1)
	bare := strings.Replace(edgeRelease, `"issuerRef: {name: le, kind: ClusterIssuer}"`, `""`, 1)
	for _, tt := range []struct {
		name, release, gateway string
		sources                engine.PolicySources
		want                   string
		differs                bool
	}{
		{"the HelmRelease's", edgeRelease, edge, engine.PolicySources{}, "le", false},
		{"the Gateway's", bare, inChart, engine.PolicySources{}, "chart", false},
		{"the HelmRelease's before the Gateway's", edgeRelease, inChart, engine.PolicySources{}, "le", true},
		{"the file's before the HelmRelease's", edgeRelease, edge, engine.PolicySources{File: entry("edge", engine.Keys{"issuerRef": ref("file")})}, "file", true},
		{"the HelmRelease's where the file is for others", edgeRelease, edge, engine.PolicySources{File: entry("other", engine.Keys{"maxListeners": 9})}, "le", false},
		{"the HelmRelease's where the file is for others who differ", edgeRelease, edge, engine.PolicySources{File: entry("other", engine.Keys{"issuerRef": ref("file")})}, "le", false},
		{"both, key by key", edgeRelease, edge, engine.PolicySources{File: entry("edge", engine.Keys{"maxListeners": 9})}, "le", false},
		{"the flag's before all", edgeRelease, edge, engine.PolicySources{Flags: engine.Keys{"issuerRef": ref("flag")}, File: entry("edge", engine.Keys{"issuerRef": ref("file")})}, "flag", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options := renders(tt.gateway, route)
			options.Policies = tt.sources
			_, result := mustRender(t, repo{"edge.yaml": tt.release, "source.yaml": source}, options)
			if got := result.Releases[0].Plan.Certificates[0].IssuerRef.Name; got != tt.want {
				t.Errorf("issuer %s, want %s", got, tt.want)
			}
			if has(result, engine.CodePolicyDifference) != tt.differs {
				t.Errorf("findings: %v", result.Findings)
			}
		})
	}
}
