// Command plugin packs gatewright as a plugin for Helm 4: one archive that holds
// the executables of all platforms, as Helm has no archive for each.
//
// The same source and version give the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}

// run builds each platform, named os/arch in the arguments, and writes the archive.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("plugin", flag.ContinueOnError)
	version := flags.String("version", "", "semantic version, without v")
	ldflags := flags.String("ldflags", "", "as for go build")
	out := flags.String("out", "dist", "folder for the archive")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no platform given; name at least one, such as linux/amd64")
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return fmt.Errorf("%w; run this at the top of the repository", err)
	}
	contents, err := describe(*version, license)
	if err != nil {
		return err
	}
	if err := addExecutables(ctx, contents, flags.Args(), *ldflags); err != nil {
		return err
	}
	return write(filepath.Join(*out, archiveName(*version)), contents)
}

func addExecutables(ctx context.Context, contents map[string][]byte, platforms []string, ldflags string) error {
	dir, err := os.MkdirTemp("", "gatewright-plugin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, platform := range platforms {
		goos, arch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("platform %q: want os/arch, such as linux/amd64", platform)
		}
		path := filepath.Join(dir, "gatewright")
		if err := build(ctx, goos, arch, ldflags, path); err != nil {
			return fmt.Errorf("platform %s: %w", platform, err)
		}
		executable, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		contents[executableName(goos, arch)] = executable
	}
	return nil
}

// build makes a static executable: the archive must run wherever Helm does.
func build(ctx context.Context, goos, arch, ldflags, path string) error {
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath",
		"-ldflags", ldflags, "-o", path, "./cmd/gatewright")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
	command.Stderr = os.Stderr
	return command.Run()
}

func write(path string, contents map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	archive, err := pack(contents)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}
