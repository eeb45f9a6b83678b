package flux

import "testing"

func TestDriftIgnored(t *testing.T) {
	for rule, want := range map[string]bool{
		"{paths: [/spec/listeners]}":                                  true,
		"{paths: [/spec/listeners], target: {kind: Gateway}}":         true,
		"{paths: [/spec/listeners], target: {kind: Gate.*}}":          true,
		"{paths: [/spec/listeners], target: {name: edge}}":            true,
		"{paths: [/spec/listeners/0/port], target: {kind: Gateway}}":  true,
		"{paths: [/spec], target: {kind: Deployment}}":                false,
		"{paths: [/metadata/annotations/a], target: {kind: Gateway}}": false,
		"{paths: [/spec/listenersOfOthers], target: {kind: Gateway}}": false,
	} {
		text := edgeRelease + "  driftDetection: {mode: enabled, ignore: [" + rule + "]}\n"
		_, result := mustRender(t, repo{"edge.yaml": text, "source.yaml": source}, renders(edge, route))
		if has(result, CodeDriftIgnored) != want {
			t.Errorf("%s: want %v, got %v", rule, want, result.Findings)
		}
	}
}
