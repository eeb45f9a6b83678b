package postrender

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Edit carries out a plan on the stream and returns what is to be written. An
// error is, or joins, [*engine.Error]: an edit that could not be proven right, or
// an object that another one has the place of.
func (s *Stream) Edit(plan *engine.Plan) (*Result, error) {
	e := newEditor(s)
	for _, g := range plan.Gateways {
		e.gateway(engine.KindGateway, g)
	}
	for _, g := range plan.ListenerSets {
		e.gateway(engine.KindListenerSet, g)
	}
	if err := errors.Join(e.companions(plan), e.apply()); err != nil {
		return nil, err
	}
	return newResult(plan, e.segments()), nil
}

// editor is the stream while a plan is carried out.
type editor struct {
	stream  *Stream
	objects map[identity][]*object // most are there once
	parents map[identity]*object   // of those that are planned
	edits   map[int][]edit         // of documents, in order
	texts   map[int][]byte         // documents that were edited
	added   [][]byte               // new documents
}

// edit is a change that is made for an object.
type edit struct {
	object *object
	change change
}

func newEditor(s *Stream) *editor {
	e := &editor{stream: s, objects: map[identity][]*object{}, parents: map[identity]*object{}, edits: map[int][]edit{}, texts: map[int][]byte{}}
	for _, o := range s.objects {
		e.objects[o.identity] = append(e.objects[o.identity], o)
	}
	return e
}

// gateway edits one Gateway or ListenerSet.
func (e *editor) gateway(kind string, plan engine.GatewayPlan) {
	id := identity{engine.GatewayGroup, kind, plan.Namespace, plan.Name}
	i := slices.IndexFunc(e.objects[id], func(o *object) bool { return o.index == plan.Index })
	if i < 0 {
		return // it stands in another stream of the same plan
	}
	o := e.objects[id][i]
	e.parents[id] = o
	if was, _ := annotationsOf(o.value)[engine.AnnotationRendered].(string); was != plan.Rendered {
		at := o.path.child("metadata", "annotations")
		e.edit(o, setText{at, engine.AnnotationRendered, plan.Rendered})
	}
	if c, changes := listenerChange(o, plan.Listeners); changes {
		e.edit(o, c)
	}
}

// listenerChange returns what changes in a list of listeners, if anything
// does. Those that we rendered before give way to those of the plan, all
// together and in its order, so that the list does not tell what came when.
func listenerChange(o *object, listeners []engine.Listener) (c setItems, changes bool) {
	c = setItems{at: o.path.child("spec", "listeners"), remove: map[int]bool{}}
	ours := map[string]bool{}
	for _, l := range listeners {
		changes = changes || l.Action != engine.Keep
		if l.Action != engine.Add {
			ours[l.Name] = true
		}
		if l.Action != engine.Remove {
			c.add = append(c.add, l.Object())
		}
	}
	was, _ := lookup(o.value, keyPath{"spec", "listeners"}).([]any)
	for i := range was {
		if name, _ := lookup(was, keyPath{i, "name"}).(string); ours[name] {
			c.remove[i] = true
		}
	}
	return c, changes
}

// edit notes a change of the document of an object.
func (e *editor) edit(o *object, c change) {
	e.edits[o.document] = append(e.edits[o.document], edit{o, c})
}

// apply makes the changes of each document.
func (e *editor) apply() error {
	for _, document := range slices.Sorted(maps.Keys(e.edits)) {
		edits := e.edits[document]
		var changes []change
		for _, edit := range edits {
			changes = append(changes, edit.change)
		}
		text, err := apply(e.stream.documents[document], changes...)
		if err != nil {
			return failure(edits, err)
		}
		e.texts[document] = text
	}
	return nil
}

// failure says of which object an error is.
func failure(edits []edit, err error) error {
	o := edits[0].object
	if wrong, is := errors.AsType[*changeError](err); is {
		o = edits[wrong.index].object
	}
	failure := &engine.Error{Object: o.String(), Source: o.source, Message: err.Error()}
	if cause, is := errors.AsType[*editError](err); is {
		failure.Fix = cause.fix
	}
	return failure
}

// segments returns the texts of the stream. What stands side by side in the
// input stays one segment of it. What is new stands at the end, or in front of a
// last document that would say something else with a line end behind it.
func (e *editor) segments() [][]byte {
	var out [][]byte
	from, at := 0, 0 // unedited so far
	flush := func() {
		if at > from {
			out = append(out, e.stream.input[from:at])
		}
		from = at
	}
	added := e.added
	for i, text := range e.stream.documents {
		edited, is := e.texts[i]
		if !is {
			edited = text
		}
		if len(added) > 0 && i == len(e.stream.documents)-1 && endsOpen(edited) {
			flush()
			out, added = append(out, added...), nil
			if !isSeparator(edited) {
				out = append(out, []byte("---\n"))
			}
		}
		if is {
			flush()
			if len(edited) > 0 {
				out = append(out, edited)
			}
			from = at + len(text)
		}
		at += len(text)
	}
	flush()
	if n := len(out); n > 0 && len(added) > 0 && !bytes.HasSuffix(out[n-1], []byte("\n")) {
		out = append(out, []byte("\n"))
	}
	return append(out, added...)
}
