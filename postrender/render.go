package postrender

import (
	"bytes"
	"io"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// Options are what a stream is rendered with. The zero value knows nothing and
// so changes nothing but the Gateways that carry a policy of their own.
type Options struct {
	// Policies are those that do not stand on a Gateway.
	Policies engine.PolicySources
	// Namespace is that of the release, or "" if it is not known.
	Namespace string
	// Release is the name of the release, for messages.
	Release string
	// Snapshot holds what is known of the cluster.
	Snapshot []File
}

// File is the content of a file and its name, for messages.
type File struct {
	Name string
	Data []byte
}

// Result is a rendered stream and the plan that it follows.
type Result struct {
	Plan     *engine.Plan
	segments [][]byte
}

// Render adds to a stream of manifests what the routes and Certificates in it
// ask for. An error is, or joins, [*engine.Error]; there is no result then.
func Render(in []byte, options Options) (*Result, error) {
	source := ""
	if options.Release != "" {
		source = "release " + options.Release
	}
	services := NeedsServices(in)
	stream, err := Read(in, ReadOptions{Source: source, Namespace: options.Namespace, Services: services})
	if err != nil {
		return nil, err
	}
	var snapshot engine.Snapshot
	if err := stream.AddTo(&snapshot); err != nil {
		return nil, err
	}
	for _, file := range options.Snapshot {
		known, err := Read(file.Data, ReadOptions{Source: file.Name, Known: true, Services: services})
		if err == nil {
			err = known.AddTo(&snapshot)
		}
		if err != nil {
			return nil, err
		}
	}
	stream.forget()
	plan, err := engine.Compute(&snapshot, options.Policies)
	if err != nil {
		return nil, err
	}
	plan.Findings = append(plan.Findings, stream.Findings()...)
	return stream.Edit(plan)
}

// nothing is written where a stream holds nothing at all: Helm 4 takes an
// empty output for a failure.
const nothing = "# gatewright: the release renders nothing\n"

// newResult makes sure that no output is blank.
func newResult(plan *engine.Plan, segments [][]byte) *Result {
	isBlank := func(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
	if !slices.ContainsFunc(segments, func(text []byte) bool { return !isBlank(text) }) {
		if len(segments) > 0 && !bytes.HasSuffix(segments[len(segments)-1], []byte("\n")) {
			segments = append(segments, []byte("\n"))
		}
		segments = append(segments, []byte(nothing))
	}
	return &Result{Plan: plan, segments: segments}
}

// WriteTo writes the stream. Parts that were not edited are written from the
// input itself.
func (r *Result) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for _, text := range r.segments {
		n, err := w.Write(text)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Renderer is a post-renderer by the shape that Helm 3 and Helm 4 share.
type Renderer struct{ Options Options }

// Run renders a stream.
func (r *Renderer) Run(manifests *bytes.Buffer) (*bytes.Buffer, error) {
	result, err := Render(manifests.Bytes(), r.Options)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if _, err := result.WriteTo(&out); err != nil {
		return nil, err
	}
	return &out, nil
}
