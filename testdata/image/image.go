// Command image builds the container image of gatewright without Docker and
// without a registry: an OCI image layout in a tar file, with one image for each
// platform. Given a reference, it also pushes what it built.
//
// The same source, version and Go give the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run builds each platform, named os/arch in the arguments, writes the layout
// and prints its path and the digest of the image.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	version := flags.String("version", "", "tag of the image")
	source := flags.String("source", ".", "folder of the module to build")
	program := flags.String("package", "./cmd/gatewright-full", "package in it that becomes /gatewright")
	ldflags := flags.String("ldflags", "", "as for go build")
	out := flags.String("out", "dist", "folder for the tar file")
	push := flags.String("push", "", "also push to this `REGISTRY/REPOSITORY`, with the version as tag")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || flags.NArg() == 0 {
		return errors.New("give -version and at least one platform, such as linux/amd64")
	}
	created, err := creationTime(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	builder := builder{source: *source, program: *program, ldflags: *ldflags}
	index, err := builder.index(ctx, flags.Args(), metadata{version: *version, created: created})
	if err != nil {
		return err
	}
	path := filepath.Join(*out, "gatewright-"+*version+"-image.tar")
	if err := writeLayout(path, *version, index, created); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, path)
	fmt.Fprintln(stdout, digest)
	if *push == "" {
		return nil
	}
	return pushImage(ctx, *push+":"+*version, index, stdout)
}

// creationTime is when the image says that it was made: never now, which would
// make each build another image.
func creationTime(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %q is not a number of seconds", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// builder makes the executables.
type builder struct{ source, program, ldflags string }

func (b builder) index(ctx context.Context, platforms []string, about metadata) (v1.ImageIndex, error) {
	dir, err := os.MkdirTemp("", "gatewright-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var images []v1.Image
	for _, name := range platforms {
		platform, err := v1.ParsePlatform(name)
		if err != nil || platform.OS != "linux" || platform.Architecture == "" || platform.Variant != "" {
			return nil, fmt.Errorf("platform %q: want linux/ARCH, such as linux/amd64", name)
		}
		path := filepath.Join(dir, platform.Architecture)
		if err := b.build(ctx, platform, path); err != nil {
			return nil, fmt.Errorf("platform %s: %w", name, err)
		}
		executable, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		image, err := newImage(platform, executable, about)
		if err != nil {
			return nil, fmt.Errorf("platform %s: %w", name, err)
		}
		images = append(images, image)
	}
	return newIndex(images, about)
}

// build makes a static executable: the image holds no C library.
func (b builder) build(ctx context.Context, platform *v1.Platform, path string) error {
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath",
		"-ldflags", b.ldflags, "-o", path, b.program)
	command.Dir = b.source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	command.Stderr = os.Stderr
	return command.Run()
}
