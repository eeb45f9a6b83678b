package flux

import (
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	v2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/gatewright/gatewright/postrender/engine"
)

// valuesOf merges the values of a HelmRelease as helm-controller does: those of
// valuesFrom in their order, then spec.values, but a single value for a
// targetPath on top of what there is by then and of spec.values.
func (r *run) valuesOf(hr *release) (map[string]any, error) {
	own := map[string]any{}
	if hr.Spec.Values != nil {
		if err := yaml.Unmarshal(hr.Spec.Values.Raw, &own); err != nil {
			return nil, hr.fault("spec.values: "+err.Error(), "correct them")
		}
	}
	result := map[string]any{}
	for _, ref := range hr.Spec.ValuesFrom {
		text, err := r.valuesText(hr, ref)
		switch {
		case err != nil && ref.Optional:
			continue
		case err != nil && r.options.IgnoreMissingValues:
			r.find(engine.Warning, CodeValuesMissing, hr, err.Error()+"; what it would have said is not heeded")
			continue
		case err != nil:
			return nil, hr.fault(err.Error(), "give its manifest as one more FILE (decrypted), or leave it out of account with --ignore-missing-values")
		}
		if result, err = mergeRef(result, own, ref, text); err != nil {
			return nil, hr.fault(fmt.Sprintf("values of %s %s: %v", ref.Kind, ref.Name, err), "correct them")
		}
	}
	return merge(result, own), nil
}

// mergeRef adds what one reference of valuesFrom gives.
func mergeRef(result, own map[string]any, ref v2.ValuesReference, text string) (map[string]any, error) {
	if ref.TargetPath == "" {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			return nil, err
		}
		return merge(result, values), nil
	}
	result = merge(result, own)
	switch quote := text[:min(1, len(text))]; {
	case ref.Literal:
		text = literal.Replace(text)
		return result, strvals.ParseIntoString(ref.TargetPath+"="+text, result)
	case (quote == "'" || quote == `"`) && strings.HasSuffix(text, quote):
		return result, strvals.ParseIntoString(ref.TargetPath+"="+strings.Trim(text, `'"`), result)
	}
	return result, strvals.ParseInto(ref.TargetPath+"="+text, result)
}

// literal escapes what --set would read as syntax.
var literal = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// valuesText finds the text that a reference of valuesFrom leads to.
func (r *run) valuesText(hr *release, ref v2.ValuesReference) (string, error) {
	id := key{ref.Kind, hr.Namespace, ref.Name}
	o, found := r.repository.objects[id]
	if !found {
		return "", fmt.Errorf("%s, which valuesFrom names, is in none of the files", id)
	}
	if o.value["sops"] != nil {
		return "", fmt.Errorf("%s, which valuesFrom names, is encrypted (%s)", id, o.file)
	}
	name := ref.GetValuesKey()
	if plain, found := nested(o.value, "stringData", name); found {
		return plain, nil
	}
	text, found := nested(o.value, "data", name)
	if !found {
		return "", fmt.Errorf("%s, which valuesFrom names, has no key %s (%s)", id, name, o.file)
	}
	if ref.Kind != kindSecret {
		return text, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("%s, which valuesFrom names: its key %s is not base64 (%s)", id, name, o.file)
	}
	return string(data), nil
}

// nested returns a string of a map in a map.
func nested(value map[string]any, field, name string) (string, bool) {
	m, _ := value[field].(map[string]any)
	text, found := m[name].(string)
	return text, found
}

// merge returns the values of both, where those of b win and maps are merged.
func merge(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for name, value := range b {
		below, isMap := value.(map[string]any)
		was, wasMap := out[name].(map[string]any)
		if isMap && wasMap {
			value = merge(was, below)
		}
		out[name] = value
	}
	return out
}
