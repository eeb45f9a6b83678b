package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// bench is one run of the program.
type bench struct {
	config
	dir string
	out io.Writer
}

// postRenderArgs are the same for every stream.
var postRenderArgs = []string{"post-render", "--issuer", "letsencrypt", "--namespace", namespace}

// startUp measures what every Helm command pays.
func (b *bench) startUp(ctx context.Context) error {
	info, err := os.Stat(b.gatewright)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nstart-up of %s, a file of %s\n", b.gatewright, size(info.Size()))
	commands := []command{
		{name: "gatewright version", program: b.gatewright, args: []string{"version"}},
		{name: "gatewright post-render of nothing", program: b.gatewright, args: postRenderArgs},
	}
	if b.kustomize != "" {
		commands = append(commands, command{name: "kustomize version", program: b.kustomize, args: []string{"version"}})
	}
	t := newTable(b.out, "command", "runs", "time", "cpu", "peak")
	defer t.print()
	for _, c := range commands {
		r, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		t.row(c.name, r.runs, r.bound(duration(r.wall)), duration(r.cpu), size(r.peak))
	}
	return nil
}

// streams compares the tools on one stream after the other.
func (b *bench) streams(ctx context.Context) error {
	streams, err := b.prepare()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\ntools; x counts times gatewright's, allowed is a peak of 3 times the size and 20 MB, OVER one beyond it\n")
	t := newTable(b.out, "stream", "documents", "size", "tool", "runs", "time", "x", "cpu", "peak", "x", "allowed")
	defer t.print()
	for _, s := range streams {
		if err := b.compare(ctx, t, s); err != nil {
			return err
		}
	}
	return nil
}

// compare measures all tools on one stream.
func (b *bench) compare(ctx context.Context, t *table, s stream) error {
	tools, err := b.tools(s)
	if err != nil {
		return err
	}
	var ours result
	for i, c := range tools {
		r, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		if i == 0 {
			ours = r
		}
		t.row(s.name, s.documents, size(s.size), c.name, r.runs,
			r.bound(duration(r.wall)), r.bound(ratio(r.wall, ours.wall)), r.bound(duration(r.cpu)), r.bound(size(r.peak)), r.bound(ratio(r.peak, ours.peak)), allowed(s, r))
	}
	if ours.certificates != s.hostnames {
		return fmt.Errorf("%s: gatewright made %d Certificates for %d hostnames", s.name, ours.certificates, s.hostnames)
	}
	return nil
}

// tools are the commands to compare, gatewright first.
func (b *bench) tools(s stream) ([]command, error) {
	out := []command{b.renderer(s), {name: "cat", program: "cat", stdin: s.file}}
	if b.kustomize == "" {
		return out, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return append(out, command{name: "kustomize", program: self, args: []string{wrapperCommand, b.kustomize}, stdin: s.file}), nil
}

// renderer is gatewright on a stream.
func (b *bench) renderer(s stream) command {
	return command{name: "gatewright", program: b.gatewright, args: postRenderArgs, stdin: s.file}
}

// growth measures gatewright on streams that grow.
func (b *bench) growth(ctx context.Context) error {
	fmt.Fprintf(b.out, "\ngrowth of gatewright; x counts times the first line\n")
	t := newTable(b.out, "documents", "size", "x", "runs", "time", "x", "per MB", "peak", "allowed")
	defer t.print()
	var first stream
	var base result
	for i, documents := range []int{b.documents / 10, b.documents, b.documents * 2} {
		s, err := b.generated(documents)
		if err != nil {
			return err
		}
		r, err := b.measure(ctx, b.renderer(s))
		if err != nil {
			return err
		}
		if i == 0 {
			first, base = s, r
		}
		perMB := time.Duration(float64(r.wall) * 1e6 / float64(s.size))
		t.row(documents, size(s.size), ratio(s.size, first.size), r.runs,
			r.bound(duration(r.wall)), ratio(r.wall, base.wall), duration(perMB), size(r.peak), allowed(s, r))
	}
	return nil
}
