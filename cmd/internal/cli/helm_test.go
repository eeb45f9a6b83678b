package cli

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestErrorDocument checks what Helm 4 does with the document: it takes the
// annotation for the name of a file, skips a file whose base name begins with
// an underscore, and fails on a kind that is not a string.
func TestErrorDocument(t *testing.T) {
	messages := []string{
		"Gateway infra/edge (shop/templates/gw.yaml): no issuer",
		`a "quoted" \ message: with # yaml in it`,
		"the file shop/templates/_helpers.tpl",
		"_starts with one",
		"ends with a slash/",
		"ünïcode and \u2028 separators",
	}
	for _, message := range messages {
		var head struct {
			Kind     any
			Metadata struct{ Annotations map[string]string }
		}
		if err := yaml.Unmarshal(errorDocument([]string{message}), &head); err != nil {
			t.Errorf("%q: not YAML: %v", message, err)
			continue
		}
		if _, isString := head.Kind.(string); isString {
			t.Errorf("%q: kind is a string, so Helm would take the document", message)
		}
		name := head.Metadata.Annotations[filenameAnnotation]
		if got := strings.ReplaceAll(name, "/ _", "/_"); got != "gatewright: "+message {
			t.Errorf("Helm would say %q, want %q", got, "gatewright: "+message)
		}
		if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "_") {
			t.Errorf("%q: Helm would skip the document and install nothing", name)
		}
	}
}

func TestWantsDocument(t *testing.T) {
	helm4 := "metadata:\n  annotations:\n    " + filenameAnnotation + ": a.yaml\n"
	tests := []struct {
		name   string
		call   helmCall
		plugin string
		input  string
		want   bool
	}{
		{"the plugin of Helm 4", helmCall{plugin4: true}, "gatewright", helm4, true},
		{"turned off", helmCall{plugin4: true, onError: helmErrorExit}, "gatewright", helm4, false},
		{"turned on by the user", helmCall{onError: helmErrorDocument}, "gatewright", helm4, true},
		{"not the plugin", helmCall{}, "gatewright", helm4, false},
		{"no Helm", helmCall{plugin4: true}, "", helm4, false},
		{"a stream of Helm 3", helmCall{plugin4: true}, "gatewright", "kind: Gateway\n", false},
		{"nothing read", helmCall{plugin4: true}, "gatewright", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HELM_PLUGIN_NAME", test.plugin)
			if got := test.call.wantsDocument([]byte(test.input)); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
