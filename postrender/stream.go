package postrender

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The annotations of Helm that a stream carries.
const (
	// hookAnnotation marks an object that is no part of the release.
	hookAnnotation = "helm.sh/hook"
	// filenameAnnotation is how Helm 4 remembers the template of an object; it
	// takes it off again behind the post-renderer.
	filenameAnnotation = "postrenderer.helm.sh/postrender-filename"
)

// ReadOptions are what a stream does not say of itself.
type ReadOptions struct {
	// Source names the stream in messages: a file, or "" for standard input.
	Source string
	// Namespace is that of the release, or "" if it is not known.
	Namespace string
	// Known marks a stream of knowledge that adds no claim and is not edited.
	Known bool
	// Live marks objects of a cluster rather than those of a release.
	Live bool
	// Unnumbered says that nobody can look the number of a document up, because the
	// stream is no file.
	Unnumbered bool
	// Services says that Services are wanted too, see [NeedsServices].
	Services bool
}

// Stream is a stream of manifests and the objects in it that concern us.
type Stream struct {
	options   ReadOptions
	input     []byte
	documents [][]byte // of the input, all of it
	objects   []*object
	findings  []engine.Finding
}

// object is one object of our kinds.
type object struct {
	identity
	document int     // index in Stream.documents
	path     keyPath // in the document; empty if it is the whole document
	value    map[string]any
	// index is that of the engine, which tells apart what has one name.
	index int
	// source is the template or file; the other two are how Helm 4 and Helm 3
	// name it, "" if they do not.
	source, filename, comment string
}

// identity tells objects of one release apart. An object without a namespace
// has that of the release.
type identity struct{ group, kind, namespace, name string }

func (i identity) String() string {
	if i.namespace == "" {
		return i.kind + " " + i.name
	}
	return i.kind + " " + i.namespace + "/" + i.name
}

// Read cuts a stream into documents and decodes those of our kinds. All other
// documents are not even validated. An error is, or joins, [*engine.Error].
func Read(input []byte, options ReadOptions) (*Stream, error) {
	s := &Stream{options: options, input: input, documents: split(input)}
	scan := newScanner(options.Services)
	var errs []error
	number, line := 0, 1
	above := "" // the template named by a document of comments
	for i, text := range s.documents {
		comment := sourceComment(text)
		if content(text) == len(text) {
			above = comment
		} else {
			number++
			if comment == "" {
				comment = above
			}
			above = ""
			if scan.concernsUs(text) {
				d := documentReader{stream: s, index: i, number: number, line: line, comment: comment}
				if err := d.read(); err != nil {
					errs = append(errs, err)
				}
			}
		}
		line += bytes.Count(text, []byte("\n"))
	}
	return s, errors.Join(errs...)
}

// AddTo decodes the objects of the stream into a snapshot.
func (s *Stream) AddTo(snapshot *engine.Snapshot) error {
	var errs []error
	for _, o := range s.objects {
		o.index = len(snapshot.Gateways) + len(snapshot.ListenerSets) // that of no other one, of whatever stream
		origin := engine.Origin{
			Namespace: s.options.Namespace, Source: o.source, Index: o.index,
			Known: s.options.Known, Live: s.options.Live || s.options.Known,
		}
		errs = append(errs, snapshot.Decode(o.value, origin))
	}
	return errors.Join(errs...)
}

// forget drops the objects that are in a snapshot now and are not edited.
func (s *Stream) forget() {
	for _, o := range s.objects {
		if !o.isLabelled() && o.kind != engine.KindGateway && o.kind != engine.KindListenerSet {
			o.value = nil
		}
	}
}

// Findings returns what Read found odd in the objects of the stream.
func (s *Stream) Findings() []engine.Finding { return s.findings }

// documentReader decodes the objects of one document.
type documentReader struct {
	stream  *Stream
	index   int    // of the document
	number  int    // of the document, from 1, those without content not counted
	line    int    // of the input, where the document begins
	comment string // the template, by Helm 3
	decoder decoder
}

func (d *documentReader) read() error {
	t, err := parse(d.stream.documents[d.index])
	if err == nil && t.root != nil {
		err = d.objects(t.root, nil, list{})
	}
	var wrong *syntaxError
	if !errors.As(err, &wrong) {
		return err
	}
	line := fmt.Sprintf("line %d", d.line+wrong.line-1)
	if wrong.line == 0 {
		line = fmt.Sprintf("line %d or below", d.line)
	}
	return &engine.Error{
		Object:  fmt.Sprintf("document %d", d.number),
		Source:  cmp.Or(filenameIn(d.stream.documents[d.index]), d.comment, d.stream.options.Source),
		Message: line + ": " + wrong.message,
		Fix:     "correct the template that renders it",
	}
}

// list is what a list of one kind says for those of its items that say neither.
type list struct{ kind, apiVersion string }

// objects adds the object at a node, or the items of a List.
func (d *documentReader) objects(n *yaml.Node, at keyPath, in list) error {
	if err := d.decoder.charge(n); err != nil {
		return err
	}
	if n.Kind == yaml.AliasNode {
		return d.decoder.alias(n, func(target *yaml.Node) error { return d.objects(target, at, in) })
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	if kind := direct(n, "kind").Value; strings.HasSuffix(kind, "List") {
		if i := childIndex(n, "items"); i >= 0 {
			in = list{strings.TrimSuffix(kind, "List"), direct(n, "apiVersion").Value}
			return d.items(n.Content[i], append(slices.Clip(at), "items"), in)
		}
	}
	d.decoder.duplicates = nil
	value, err := d.decoder.value(n)
	if err != nil {
		return err
	}
	d.add(value.(map[string]any), at, in)
	return nil
}

func (d *documentReader) items(n *yaml.Node, at keyPath, in list) error {
	if n.Kind == yaml.AliasNode {
		return d.decoder.alias(n, func(target *yaml.Node) error { return d.items(target, at, in) })
	}
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	for i, item := range n.Content {
		if err := d.objects(item, append(slices.Clip(at), i), in); err != nil {
			return err
		}
	}
	return nil
}

// add keeps an object of our kinds, unless it is a hook of a release: in a
// cluster that is an object like any other.
func (d *documentReader) add(value map[string]any, at keyPath, in list) {
	if _, found := value["kind"]; !found && in.kind != "" {
		value["kind"], value["apiVersion"] = in.kind, in.apiVersion
	}
	o := &object{document: d.index, path: at, value: value, comment: d.comment}
	o.identity = identify(value, d.stream.options.Namespace)
	if !o.isOurs() {
		return
	}
	annotations := annotationsOf(value)
	if _, isHook := annotations[hookAnnotation]; isHook && !d.stream.options.Live && !d.stream.options.Known {
		return
	}
	o.filename, _ = annotations[filenameAnnotation].(string)
	o.source = cmp.Or(o.filename, o.comment, d.place())
	d.stream.objects = append(d.stream.objects, o)
	for _, twice := range d.decoder.duplicates {
		d.stream.findings = append(d.stream.findings, engine.Finding{
			Severity: engine.Warning, Code: engine.CodeDuplicateKey, Object: o.String(), Source: o.source,
			Message: twice + " stands twice; the last one counts, as it does for Helm: remove the other",
		})
	}
}

// place names the document where no template is named.
func (d *documentReader) place() string {
	if d.stream.options.Unnumbered {
		return d.stream.options.Source
	}
	place := fmt.Sprintf("document %d", d.number)
	if d.stream.options.Source != "" {
		place = d.stream.options.Source + ", " + place
	}
	return place
}
