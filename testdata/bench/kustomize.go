package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// wrapperCommand makes this program a post-renderer around kustomize, which
// cannot read a stream itself.
const wrapperCommand = "kustomize-post-renderer"

// patched asks for a listener on every Gateway of the stream.
const patched = `patches:
- target: {group: gateway.networking.k8s.io, kind: Gateway}
  patch: |
    - op: add
      path: /spec/listeners/-
      value: {name: bench, hostname: bench.example.com, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: bench}]}}
`

// postRender puts the stream into a folder, has kustomize build it and lets the
// outcome through.
func postRender(ctx context.Context, kustomize string, stdin io.Reader, stdout io.Writer) error {
	dir, err := os.MkdirTemp("", "kustomize")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gateway, err := save(filepath.Join(dir, "stream.yaml"), stdin)
	if err != nil {
		return err
	}
	kustomization := "resources: [stream.yaml]\n"
	if gateway {
		kustomization += patched
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, kustomize, "build", dir)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kustomize build: %w", err)
	}
	return nil
}

// save writes the stream to a file and says whether it holds a Gateway.
func save(name string, stream io.Reader) (gateway bool, err error) {
	file, err := os.Create(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	in := bufio.NewScanner(io.TeeReader(stream, file))
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		gateway = gateway || string(in.Bytes()) == "kind: Gateway"
	}
	return gateway, in.Err()
}
