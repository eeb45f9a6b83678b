package clustertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

const (
	ownModule         = "github.com/gatewright/gatewright"
	gatewayModule     = "sigs.k8s.io/gateway-api"
	certManagerModule = "github.com/cert-manager/cert-manager"
)

// modules asks go once per process for the folders of the modules that
// programs and definitions come from.
var modules = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}", ownModule, gatewayModule, certManagerModule)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w: %s", err, stderr.Bytes())
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if dir == "" {
			return nil, fmt.Errorf("module %s is not downloaded: run go mod download", path)
		}
		dirs[path] = dir
	}
	return dirs, nil
})

// program returns the path of etcd, kube-apiserver, kubectl or another program
// of "make cluster". What KUBEBUILDER_ASSETS lacks (it holds three of them) is
// looked for in our own cache.
func program(name string) (string, error) {
	dirs, err := modules()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dirs[ownModule], ".cache", "cluster", name)
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		if given := filepath.Join(assets, name); isFile(given) {
			return given, nil
		}
	}
	if !isFile(file) {
		return "", fmt.Errorf("%s is missing: run make cluster", file)
	}
	return file, nil
}

// tool returns the path of a program of "make tools".
func tool(name string) (string, error) {
	dirs, err := modules()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dirs[ownModule], ".cache", "bin", name)
	if !isFile(file) {
		return "", fmt.Errorf("%s is missing: run make tools", file)
	}
	return file, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// definitions returns the folders with the CustomResourceDefinitions.
func definitions() ([]string, error) {
	dirs, err := modules()
	if err != nil {
		return nil, err
	}
	return []string{
		filepath.Join(dirs[gatewayModule], "config", "crd", "standard"),
		filepath.Join(dirs[certManagerModule], "deploy", "crds"),
	}, nil
}
