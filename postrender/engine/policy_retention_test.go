package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const retentionFile = `
apiVersion: gatewright.dev/v1alpha1
kind: Policy
gateways:
- match: {namespace: infra, name: edge}
  secretRetention: Delete
- match: {namespace: infra}
  secretRetention: {after: 336h}
- match: {name: LONG}
  secretRetention: Delete
- match: {namespace: quiet}
`

func TestSecretRetention(t *testing.T) {
	long := strings.Repeat("edge-", 20) + "1"
	file, err := ParsePolicyFile("policy.yaml", []byte(strings.ReplaceAll(retentionFile, "LONG", long)))
	if err != nil {
		t.Fatal(err)
	}
	twoWeeks := Retention{RetainAfter, metav1.Duration{Duration: 336 * time.Hour}}
	keep, remove := Retention{Mode: RetainKeep}, Retention{Mode: RetainDelete}
	flags := Keys{"secretRetention": "Delete"}
	for name, c := range map[string]struct {
		sources          PolicySources
		namespace, label string
		want             Retention
	}{
		"no source":                    {PolicySources{}, "infra", "edge", keep},
		"the first entry that matches": {PolicySources{File: file}, "infra", "edge", remove},
		"another name":                 {PolicySources{File: file}, "infra", "inner", twoWeeks},
		"another namespace":            {PolicySources{File: file}, "shop", "edge", keep},
		"an entry without the key":     {PolicySources{File: file}, "quiet", "edge", keep},
		"a label that was shortened":   {PolicySources{File: file}, "shop", ForLabel(long), remove},
		"flags for all":                {PolicySources{Flags: flags}, "shop", "edge", remove},
		"flags above the file":         {PolicySources{Flags: flags, File: file}, "infra", "inner", remove},
		"flags for another":            {PolicySources{Flags: flags, FlagsFor: []ObjectName{{"shop", "edge"}}, File: file}, "infra", "inner", twoWeeks},
		"flags for it":                 {PolicySources{Flags: flags, FlagsFor: []ObjectName{{"shop", long}}}, "shop", ForLabel(long), remove},
		"flags without the key":        {PolicySources{Flags: Keys{"maxListeners": 3}, File: file}, "infra", "inner", twoWeeks},
	} {
		if got := c.sources.SecretRetention(c.namespace, c.label); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestRemovesSecrets(t *testing.T) {
	quiet := &PolicyFile{Gateways: []PolicyEntry{{Keys: Keys{"secretRetention": "Keep"}}, {Keys: Keys{"claims": ClaimsAll}}}}
	loud := &PolicyFile{Gateways: []PolicyEntry{{}, {Keys: Keys{"secretRetention": map[string]any{"after": "1h"}}}}}
	for name, c := range map[string]struct {
		sources PolicySources
		want    bool
	}{
		"nothing":            {PolicySources{}, false},
		"a file that keeps":  {PolicySources{File: quiet}, false},
		"a later entry":      {PolicySources{File: loud}, true},
		"flags":              {PolicySources{Flags: Keys{"secretRetention": "Delete"}}, true},
		"flags that keep":    {PolicySources{Flags: Keys{"secretRetention": "Keep"}}, false},
		"flags of other use": {PolicySources{Flags: Keys{"maxListeners": 3}}, false},
	} {
		if got := c.sources.RemovesSecrets(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A Gateway's owner cannot have Secrets removed.
func TestSecretRetentionOnlyByFileOrFlag(t *testing.T) {
	plan := planOf(t, `
kind: Gateway
metadata: {name: edge, namespace: infra, annotations: {gatewright.dev/policy: '{secretRetention: Delete, issuerRef: {name: x}}'}}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
`, nil)
	refused := slices.ContainsFunc(plan.Findings, func(f Finding) bool {
		return f.Code == CodePolicyKeyNotHere && strings.Contains(f.Message, "secretRetention is not read here")
	})
	if !refused {
		t.Errorf("findings: %+v", plan.Findings)
	}
}
