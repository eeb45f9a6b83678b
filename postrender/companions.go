package postrender

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// companion is an object of a plan that has a document of its own.
type companion struct {
	identity
	parent identity // the Gateway or ListenerSet that it is made for
	action engine.Action
	object map[string]any
}

// companionsOf returns the Certificates, redirects and grants of a plan, in the
// order in which they stand at the end of a stream.
func companionsOf(plan *engine.Plan) []companion {
	var out []companion
	add := func(group, kind string, at engine.Placed, action engine.Action, object map[string]any) {
		out = append(out, companion{identity{group, kind, at.Namespace, at.Name}, parentOf(at), action, object})
	}
	for _, c := range plan.Certificates {
		add(engine.CertManagerGroup, engine.KindCertificate, c.Placed, c.Action, c.Object())
	}
	for _, r := range plan.Redirects {
		add(engine.GatewayGroup, engine.KindHTTPRoute, r.Placed, r.Action, r.Object())
	}
	for _, g := range plan.Grants {
		add(engine.GatewayGroup, engine.KindGrant, g.Placed, g.Action, g.Object())
	}
	slices.SortStableFunc(out, func(a, b companion) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return out
}

func parentOf(at engine.Placed) identity {
	kind, parent := engine.KindGateway, at.Gateway
	if at.ListenerSet.Name != "" {
		kind, parent = engine.KindListenerSet, at.ListenerSet
	}
	return identity{engine.GatewayGroup, kind, parent.Namespace, parent.Name}
}

// companions adds, replaces and drops the documents of the plan's objects. An
// object is new in the stream that holds its parent, and only if it stands in no
// other stream of the plan.
func (e *editor) companions(plan *engine.Plan) error {
	gone := map[*object]bool{}
	for _, c := range companionsOf(plan) {
		standing, parent := e.objects[c.identity], e.parents[c.parent]
		switch {
		case c.action == engine.Add && len(standing) > 0:
			return taken(c, standing[0])
		case c.action == engine.Add && parent != nil:
			e.add(c, parent)
		}
		for _, o := range standing { // all of them, if somebody wrote it twice
			switch {
			case !o.isLabelled():
			case c.action == engine.Update:
				e.replace(o, withForeign(c.object, o.value))
			case c.action == engine.Remove:
				gone[o] = true
			}
		}
	}
	// The last first, so that no item of a List changes its place before its turn.
	for _, o := range slices.Backward(e.stream.objects) {
		if gone[o] {
			e.replace(o, nil)
		}
	}
	return nil
}

// taken is the error of a plan that would write over an object of somebody else.
func taken(c companion, o *object) error {
	return &engine.Error{
		Object: o.String(), Source: o.source,
		Message: "an object of this name must be added for " + c.parent.String() + ", and this one, which gatewright did not make, has its place",
		Fix:     "give it another name, or remove it",
	}
}

// replace puts another object in the place of one, or nothing where it is nil.
func (e *editor) replace(o *object, with map[string]any) {
	if with != nil && o.filename != "" {
		annotate(with, filenameAnnotation, o.filename)
	}
	if len(o.path) > 0 {
		e.edit(o, setItem{o.path, with})
		return
	}
	above, _, below := parts(e.stream.documents[o.document])
	if with == nil {
		e.texts[o.document] = below
		return
	}
	e.texts[o.document] = slices.Concat(above, Encode(with), below)
}

// isLabelled tells whether an object has the label of those that we made.
func (o *object) isLabelled() bool {
	label, _ := lookup(o.value, keyPath{"metadata", "labels", engine.LabelFor}).(string)
	return label != ""
}

// withForeign returns an object with the labels and annotations that others gave
// the one whose place it takes.
func withForeign(now, was map[string]any) map[string]any {
	out := maps.Clone(now)
	metadata := map[string]any{}
	if ours, isMap := now["metadata"].(map[string]any); isMap {
		maps.Copy(metadata, ours)
	}
	out["metadata"] = metadata
	for _, key := range []string{"labels", "annotations"} {
		theirs, _ := lookup(was, keyPath{"metadata", key}).(map[string]any)
		ours, _ := metadata[key].(map[string]any)
		both := map[string]any{}
		maps.Copy(both, theirs)
		maps.DeleteFunc(both, func(name string, _ any) bool { return isOurKey(name) })
		if maps.Copy(both, ours); len(both) > 0 {
			metadata[key] = both
		}
	}
	return out
}

// isOurKey tells whether a label or annotation is one that we write or leave out.
func isOurKey(name string) bool {
	return strings.HasPrefix(name, "gatewright.dev/") || strings.HasPrefix(name, "acme.cert-manager.io/http01-parentref")
}

// add writes a new document. It comes from the folder of its parent's template,
// said in the way in which the stream says such things.
func (e *editor) add(c companion, parent *object) {
	var text bytes.Buffer
	text.WriteString("---\n")
	switch {
	case parent.filename != "":
		annotate(c.object, filenameAnnotation, beside(parent.filename))
	case parent.comment != "":
		text.WriteString("# Source: " + beside(parent.comment) + "\n")
	}
	text.Write(Encode(c.object))
	e.added = append(e.added, text.Bytes())
}

// beside returns the name of a template of ours beside one of the chart's.
func beside(template string) string { return path.Join(path.Dir(template), "gatewright.yaml") }

func annotate(object map[string]any, key, value string) {
	metadata, isMap := object["metadata"].(map[string]any)
	if !isMap {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	annotations, isMap := metadata["annotations"].(map[string]any)
	if !isMap {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[key] = value
}
