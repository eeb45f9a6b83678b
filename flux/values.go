package flux

import (
	"context"
	"errors"
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
func (r *run) valuesOf(ctx context.Context, hr *release) (map[string]any, error) {
	own := map[string]any{}
	if hr.Spec.Values != nil {
		if err := yaml.Unmarshal(hr.Spec.Values.Raw, &own); err != nil {
			return nil, hr.fault("spec.values: "+err.Error(), "correct them")
		}
	}
	result := map[string]any{}
	for _, ref := range hr.Spec.ValuesFrom {
		text, err := r.valuesText(ctx, hr, ref)
		lacking, isLacking := errors.AsType[*absent](err)
		switch {
		case isLacking && lacking.missing && ref.Optional:
			continue
		case isLacking && r.options.IgnoreMissingValues:
			r.find(engine.Warning, CodeValuesMissing, hr, lacking.message+"; what it would have said is not heeded")
			continue
		case isLacking:
			return nil, hr.fault(lacking.message, lacking.fix)
		case err != nil:
			return nil, hr.fault(err.Error(), "correct it, or --kubeconfig and --context")
		}
		if result, err = mergeRef(result, own, ref, text); err != nil {
			return nil, hr.fault(fmt.Sprintf("values of %s %s, key %s: %v", ref.Kind, ref.Name, ref.GetValuesKey(), tellable(ref, err)), "correct them")
		}
	}
	return merge(result, own), nil
}

// tellable returns an error about values, or what can be said of those of a
// Secret: parsers quote what they do not understand.
func tellable(ref v2.ValuesReference, err error) error {
	switch {
	case ref.Kind != kindSecret:
		return err
	case ref.TargetPath != "":
		return fmt.Errorf("they are no value for targetPath %s", ref.TargetPath)
	}
	return errors.New("they are not a YAML mapping")
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
func (r *run) valuesText(ctx context.Context, hr *release, ref v2.ValuesReference) (string, error) {
	id, name := key{ref.Kind, hr.Namespace, ref.Name}, ref.GetValuesKey()
	if id.kind != kindSecret && id.kind != kindConfigMap {
		return "", fmt.Errorf("valuesFrom names a %s, which is neither ConfigMap nor Secret", id)
	}
	o, err := r.values(ctx, id)
	if err != nil {
		return "", err
	}
	var text string
	if id.kind == kindSecret {
		text, err = secretText(o, name)
		r.hideValues(text)
		if ref.TargetPath != "" {
			r.hidePath(text)
		}
	} else if plain, found := nested(o.value, "data", name); found {
		text = plain
	} else {
		err = errNoKey
	}
	switch {
	case errors.Is(err, errNoKey):
		return "", &absent{fmt.Sprintf("%s, which valuesFrom names, has no key %s (%s)", id, name, o.file), "add the key, correct valuesKey, or leave it out of account with --ignore-missing-values", true}
	case err != nil:
		return "", fmt.Errorf("%s, which valuesFrom names: %w (%s)", id, err, o.file)
	}
	return text, nil
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
