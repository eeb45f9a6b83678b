package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (a *app) snapshotCommand() *cobra.Command {
	var request SnapshotRequest
	var output string
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Write what gatewright reads of a cluster to a file",
		Long: `snapshot reads from a cluster what gatewright decides by, and writes it as YAML:
a document that says of each kind whether it was read whole, then the Gateways,
ListenerSets, routes, ReferenceGrants, Certificates, issuers and Namespaces.

plan and explain take the file as the whole cluster (-f), a post-render as
knowledge (--snapshot), and a bug report as an attachment: it holds no data of
Secrets, no credentials of issuers, and of the rules of a route only where they
forward and redirect to. Look at annotations before you hand it out.

It only reads. If a kind cannot be read whole it writes nothing.`,
		Example: `  gatewright snapshot -o cluster.yaml
  gatewright plan -f cluster.yaml --policy policy.yaml
  gatewright snapshot --namespaces infra,shop --context prod \
    | gatewright explain -f - shop.example.com`,
		Args: noArguments("name the file with -o"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(request.check(), checkFile(output)); err != nil {
				return &usageError{cmd.CommandPath(), err}
			}
			return a.snapshot(cmd.Context(), request, output)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&output, "output", "o", "-", "`FILE` to write, - for stdout")
	fs.StringSliceVar(&request.Namespaces, "namespaces", nil, "only these `NAMESPACES`, each read by itself, as a Role permits (repeatable)")
	fs.BoolVar(&request.Services, "services", false, "names of Services too, which decide where a policy says withdraw: Served")
	fs.BoolVar(&request.Secrets, "secrets", false, "metadata of Secrets too, of those that gatewright's Certificates made")
	fs.BoolVar(&request.Partial, "partial", false, "write what could be read, and in the first document what could not")
	request.Connection.register(cmd)
	return cmd
}

func (r *SnapshotRequest) check() error {
	for _, name := range r.Namespaces {
		if len(validation.IsDNS1123Label(name)) > 0 {
			return fmt.Errorf("no namespace can be called %q; --namespaces takes names, with commas between them", name)
		}
	}
	return nil
}

// checkFile refuses a name that is a format of other commands, whose -o says how
// to write and not where.
func checkFile(output string) error {
	if !slices.Contains(outputFormats(), output) {
		return nil
	}
	return fmt.Errorf("-o %s: want a FILE, which is YAML always, or - for stdout; write ./%s if a file is to be called so", output, output)
}

// snapshot reads, then writes the file in one go.
func (a *app) snapshot(ctx context.Context, request SnapshotRequest, output string) error {
	if a.program.Snapshot == nil {
		return a.needFull(ctx, need{"snapshot", "read clusters", "use kubectl get -o yaml"})
	}
	progress := newProgress(a.stderr)
	request.Progress = func(kind string, objects int) { progress.show(fmt.Sprintf("reading %ss: %d", kind, objects)) }
	write := func(out io.Writer) error {
		warnings, err := a.program.Snapshot(ctx, out, request)
		progress.clear()
		if err != nil {
			return err
		}
		for _, warning := range warnings {
			say(a.stderr, oneLine("gatewright: warning: "+warning))
		}
		return nil
	}
	if output == "-" {
		return write(a.stdout)
	}
	return writeFile(output, write)
}

// writeFile replaces a file once all of it is written. What is no regular file,
// such as /dev/stdout, is written to.
func writeFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w; give -o a file that can be written", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("%w; give -o a file in a folder that can be written", atPath(path, err))
	}
	err = errors.Join(write(file), file.Close())
	if err == nil {
		if err = os.Rename(file.Name(), path); err != nil {
			err = atPath(path, err)
		}
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

func writeThrough(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("%w; give -o a file that can be written", err)
	}
	return errors.Join(write(file), file.Close())
}
