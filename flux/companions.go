package flux

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// companions returns the objects of a plan that are no part of the chart, in the
// order in which they are written. Each names its namespace: the file is applied
// by whoever applies the HelmRelease, which may stand in another one.
func (r *run) companions(hr *release, plan *engine.Plan) ([]map[string]any, error) {
	var out []map[string]any
	var standing error
	add := func(at engine.Placed, action engine.Action, object map[string]any) {
		switch {
		case r.skipped[parentOf(at)] || action == engine.Keep:
		case action != engine.Add:
			standing = cmp.Or(standing, hr.fault(fmt.Sprintf("its chart already holds %s %s/%s, which gatewright rendered", object["kind"], at.Namespace, at.Name),
				"take what was rendered out of the chart"))
		default:
			out = append(out, inNamespace(object, at.Namespace))
		}
	}
	for _, c := range plan.Certificates {
		add(c.Placed, c.Action, c.Object())
	}
	for _, c := range plan.Redirects {
		add(c.Placed, c.Action, c.Object())
	}
	for _, c := range plan.Grants {
		add(c.Placed, c.Action, c.Object())
	}
	slices.SortStableFunc(out, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(text(a, "kind"), text(b, "kind")),
			cmp.Compare(text(a, "metadata", "namespace"), text(b, "metadata", "namespace")),
			cmp.Compare(text(a, "metadata", "name"), text(b, "metadata", "name")))
	})
	return out, standing
}

// parentOf is the Gateway or ListenerSet that an object is made for.
func parentOf(at engine.Placed) key {
	if set := at.ListenerSet; set.Name != "" {
		return key{engine.KindListenerSet, set.Namespace, set.Name}
	}
	return key{engine.KindGateway, at.Gateway.Namespace, at.Gateway.Name}
}

func inNamespace(object map[string]any, namespace string) map[string]any {
	out := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	metadata["namespace"] = namespace
	out["metadata"] = metadata
	return out
}

// companionFile returns the companion file of the releases of a file, nil if
// they have none.
func companionFile(all []outcome) []byte {
	var out bytes.Buffer
	for _, o := range all {
		for i, object := range o.companions {
			out.WriteString("---\n")
			if i == 0 {
				fmt.Fprintf(&out, "# For %s.\n", o.release)
			}
			out.Write(postrender.Encode(object))
		}
	}
	if out.Len() == 0 {
		return nil
	}
	return append([]byte(companionHead+"\n"), out.Bytes()...)
}
