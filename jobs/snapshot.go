package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// WriteSnapshot reads the cluster and writes what the engine reads of it as a
// YAML stream: a [engine.SnapshotHeader], then the objects by kind. If a needed kind cannot be read whole it writes nothing, unless
// partial is set.
//
// Objects go to temporary files page by page, so that memory does not grow with
// the cluster, and nothing is written before all is known.
func (c *Cluster) WriteSnapshot(ctx context.Context, w io.Writer, o ReadOptions, partial bool) (kinds []KindReading, err error) {
	o.Ingresses = false // only removals ask for them
	spools := new(spools)
	defer func() { err = errors.Join(err, spools.remove()) }()
	results, err := c.readKinds(ctx, kindsOf(o), o, spools.open)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, r := range results {
		kinds = append(kinds, r.KindReading)
		if r.Needed && !r.Complete {
			failed = append(failed, r.Err)
		}
	}
	if len(failed) > 0 && !partial {
		return kinds, errors.Join(c.causes(failed)...)
	}
	return kinds, writeSpools(w, o.namespaces(), results)
}

// writeSpools writes the header, then the objects of each kind.
func writeSpools(w io.Writer, namespaces []string, results []kindResult) error {
	out := bufio.NewWriterSize(w, 1<<16)
	header := engine.SnapshotHeader{APIVersion: engine.PolicyAPIVersion, Kind: engine.SnapshotKind, Namespaces: namespaces}
	for _, r := range results {
		part := engine.SnapshotPart{
			Group: r.Group, Kind: r.Kind, Version: r.Version, Served: r.Served, Complete: r.Complete, Objects: r.Objects,
		}
		if r.Err != nil {
			part.Error = r.Err.Error()
		}
		header.Kinds = append(header.Kinds, part)
	}
	if err := encode(out, header); err != nil {
		return err
	}
	for _, r := range results {
		if err := r.sink.(*spool).copyTo(out); err != nil {
			return fmt.Errorf("%s: %w", r.Kind, err)
		}
	}
	return out.Flush()
}

// encode writes a document, indented as kubectl does. An encoder for many
// documents would keep all of them.
func encode(w io.Writer, document any) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return encoder.Close()
}

// spools are the temporary files of a snapshot, in a folder of their own.
type spools struct {
	folder string
	all    []*spool
}

// open makes the file of a kind.
func (s *spools) open(k kind) (sink, error) {
	if s.folder == "" {
		var err error
		if s.folder, err = os.MkdirTemp("", "gatewright-snapshot-"); err != nil {
			return nil, err
		}
	}
	file, err := os.CreateTemp(s.folder, k.kind+"-*.yaml")
	if err != nil {
		return nil, err
	}
	opened := &spool{file: file, out: bufio.NewWriter(file)}
	s.all = append(s.all, opened)
	return opened, nil
}

func (s *spools) remove() error {
	if s.folder == "" {
		return nil
	}
	for _, opened := range s.all {
		_ = opened.file.Close() // it goes with the folder
	}
	return os.RemoveAll(s.folder)
}

// spool keeps the objects of one kind as documents of a file.
type spool struct {
	file *os.File
	out  *bufio.Writer
}

func (s *spool) mark() (int64, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	return s.file.Seek(0, io.SeekCurrent)
}

func (s *spool) back(mark int64) error {
	s.out.Reset(s.file)
	if err := s.file.Truncate(mark); err != nil {
		return err
	}
	_, err := s.file.Seek(mark, io.SeekStart)
	return err
}

func (s *spool) add(object map[string]any) error {
	clean(object)
	if _, err := s.out.WriteString("---\n"); err != nil {
		return err
	}
	return encode(s.out, object)
}

// copyTo writes what there is.
func (s *spool) copyTo(w io.Writer) error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}
