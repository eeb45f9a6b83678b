package flux

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
)

func decoded(t *testing.T, manifest string) v2.HelmRelease {
	t.Helper()
	var hr v2.HelmRelease
	if err := yaml.Unmarshal([]byte(manifest), &hr); err != nil {
		t.Fatal(err)
	}
	return hr
}

func buffer(text []byte) *bytes.Buffer { return bytes.NewBuffer(slices.Clone(text)) }

func has(result *Result, code string) bool {
	return slices.ContainsFunc(result.Findings, func(f engine.Finding) bool { return f.Code == code })
}

// TestWarnings gives each finding about a HelmRelease an input that has it, and
// checks that the plain one has none.
func TestWarnings(t *testing.T) {
	const patched = "  postRenderers:\n  - kustomize:\n      patches:\n      - target: {group: gateway.networking.k8s.io, kind: Gateway, name: old}\n        patch: |\n          # gatewright flux render\n          - {op: add, path: /spec/listeners/-, value: {name: a}}\n"
	certificate := "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: own}\nspec: {secretName: own-tls, dnsNames: [own.example.com], issuerRef: {name: le}}\n"
	kustomization := func(more string) repo {
		return repo{"edge.yaml": edgeRelease, "source.yaml": source, "kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + more}
	}
	fluxKustomization := func(more string) repo {
		return repo{"apps/edge.yaml": edgeRelease, "apps/source.yaml": source, "clusters/kustomization.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps, " + more + "}\n"}
	}
	with := func(more string) repo { return repo{"edge.yaml": edgeRelease + more, "source.yaml": source} }
	replaced := func(old, new string) repo {
		if !strings.Contains(edgeRelease, old) {
			t.Fatalf("no %q in the HelmRelease", old)
		}
		return repo{"edge.yaml": strings.Replace(edgeRelease, old, new, 1), "source.yaml": source}
	}
	ofSource := func(kind, more string) repo {
		files := replaced("chart:\n    spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}", "chartRef: {kind: OCIRepository, name: charts}")
		if kind == "HelmRepository" {
			files = with("")
		}
		files["source.yaml"] = strings.NewReplacer("HelmRepository", kind, "spec: {", "spec: {"+more+", ").Replace(source)
		return files
	}
	for _, tt := range []struct {
		code    string
		files   repo
		chart   Rendered
		ignored bool // missing values
	}{
		{CodePatchMissesTarget, with(patched), chart(edge, route), false},
		{CodeValuesMissing, with("  valuesFrom: [{kind: ConfigMap, name: none}]\n"), chart(edge, route), true},
		{CodeSubstitution, with("  values: {host: '${HOST}'}\n"), chart(edge, route), false},
		{CodeSourceLogin, repo{"edge.yaml": edgeRelease, "source.yaml": strings.Replace(source, "spec: {", "spec: {secretRef: {name: login}, ", 1)}, chart(edge, route), false},
		{CodeSourceLogin, ofSource("HelmRepository", "certSecretRef: {name: tls}"), chart(edge, route), false},
		{CodeSourceLogin, ofSource("HelmRepository", "provider: aws, type: oci"), chart(edge, route), false},
		{CodeSourceLogin, ofSource("OCIRepository", "ref: {tag: 1.0.0}, proxySecretRef: {name: proxy}"), chart(edge, route), false},
		{CodeSourceLogin, ofSource("OCIRepository", "ref: {tag: 1.0.0}, serviceAccountName: puller"), chart(edge, route), false},
		{CodeSourceLogin, repo{"edge.yaml": edgeRelease, "source.yaml": strings.Replace(source, "spec: {", "spec: {secretRef: {name: login}, ", 1) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: infra}\nstringData: {username: ENC}\nsops: {mac: x}\n"}, chart(edge, route), false},
		{CodeNotVerified, ofSource("OCIRepository", "ref: {tag: 1.0.0}, verify: {provider: cosign}"), chart(edge, route), false},
		{CodeNotVerified, replaced("version: 1.0.0,", "version: 1.0.0, verify: {provider: notation, secretRef: {name: keys}},"), chart(edge, route), false},
		{CodeFloatingVersion, ofSource("OCIRepository", "ref: {semver: 1.x}"), chart(edge, route), false},
		{CodeFloatingVersion, ofSource("OCIRepository", "ref: {tag: latest}"), chart(edge, route), false},
		{CodeFloatingVersion, replaced("1.0.0", "1.x"), chart(edge, route), false},
		{CodeFloatingVersion, replaced(", version: 1.0.0", ""), chart(edge, route), false},
		{CodeNotWhole, replaced("  chart:\n    spec: {chart: edge, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}\n", ""), chart(edge, route), false},
		{CodeOldAPI, replaced("fluxcd.io/v2", "fluxcd.io/v2beta2"), chart(edge, route), false},
		{CodeNotListed, kustomization("resources: [other.yaml]\n"), chart(edge, route), false},
		{CodeNamespaceMoved, kustomization("namespace: infra\nresources: [edge.yaml]\n"), chart(strings.Replace(edge, "{name: edge}", "{name: edge, namespace: other}", 1), strings.Replace(route, "{name: shop}", "{name: shop, namespace: other}", 1)), false},
		{CodeNamespaceMoved, kustomization("namePrefix: a-\nresources: [edge.yaml]\n"), chart(edge, route), false},
		{CodeNamespaceMoved, fluxKustomization("targetNamespace: other"), chart(edge, route), false},
		{CodeKustomizationWaits, fluxKustomization("wait: true"), chart(edge, route), false},
		{CodeSuspended, with("  suspend: true\n"), chart(edge, route), false},
		{CodeRemoteCluster, with("  kubeConfig: {secretRef: {name: remote}}\n"), chart(edge, route), false},
		{CodeClientSideApply, with("  install: {serverSideApply: false}\n"), chart(edge, route), false},
		{CodeClientSideApply, with("  upgrade: {serverSideApply: disabled}\n"), chart(edge, route), false},
		{CodeWaitsForCertificates, with(""), chart(edge, route, certificate), false},
		{CodeDriftIgnored, with("  driftDetection: {ignore: [{paths: [/spec/listeners], target: {kind: Gateway}}]}\n"), chart(edge, route), false},
		{engine.CodeDuplicateObject, repo{"edge.yaml": edgeRelease, "other.yaml": edgeRelease, "source.yaml": source}, chart(edge, route), false},
		{engine.CodeGatewayElsewhere, with(""), chart(route), false},
	} {
		t.Run(tt.code, func(t *testing.T) {
			options := Options{IgnoreMissingValues: tt.ignored, RenderChart: func(context.Context, Chart) (Rendered, error) { return tt.chart, nil }}
			_, result := mustRender(t, tt.files, options)
			if !has(result, tt.code) || len(result.Findings) != 1 {
				t.Errorf("findings %v, want %s alone", result.Findings, tt.code)
			}
		})
	}
	if _, result := mustRender(t, with(""), renders(edge, route)); len(result.Findings) > 0 {
		t.Errorf("the plain HelmRelease has findings: %v", result.Findings)
	}
}

// TestNoWarnings has inputs that look like one with a finding.
func TestNoWarnings(t *testing.T) {
	certificate := "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: own}\nspec: {secretName: own-tls, dnsNames: [own.example.com], issuerRef: {name: le}}\n"
	for name, more := range map[string]string{
		"no wait":            "  install: {disableWait: true}\n  upgrade: {disableWait: true}\n",
		"legacy wait":        "  waitStrategy: {name: legacy}\n",
		"own health check":   "  healthCheckExprs: [{apiVersion: cert-manager.io/v1, kind: Certificate, current: 'true'}]\n",
		"server-side apply":  "  upgrade: {serverSideApply: enabled}\n  waitStrategy: {name: legacy}\n",
		"other drift":        "  driftDetection: {ignore: [{paths: [/spec/replicas]}]}\n  waitStrategy: {name: legacy}\n",
		"an optional Secret": "  valuesFrom: [{kind: Secret, name: none, optional: true}]\n  waitStrategy: {name: legacy}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, result := mustRender(t, repo{"edge.yaml": edgeRelease + more, "source.yaml": source}, renders(edge, route, certificate))
			if len(result.Findings) > 0 {
				t.Errorf("findings: %v", result.Findings)
			}
		})
	}
}
