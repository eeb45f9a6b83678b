package crdtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/gateway-api/pkg/consts"
	"sigs.k8s.io/yaml"
)

// Channel is a release channel of the Gateway API's definitions. cert-manager
// has no channels: its kinds are the same in both.
type Channel string

// The channels that the Gateway API publishes.
const (
	Standard     Channel = "standard"
	Experimental Channel = "experimental"
)

// Channels are both, for tests that loop.
var Channels = []Channel{Standard, Experimental}

const (
	gatewayModule     = "sigs.k8s.io/gateway-api"
	certManagerModule = "github.com/cert-manager/cert-manager"
)

// folders asks go once per process where the two modules are.
var folders = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}", gatewayModule, certManagerModule)
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

// crdFile returns the file that defines a kind; they are named after the plural.
func crdFile(channel Channel, gvk schema.GroupVersionKind) (string, error) {
	dirs, err := folders()
	if err != nil {
		return "", err
	}
	name := gvk.Group + "_" + strings.ToLower(gvk.Kind) + "s.yaml"
	switch {
	case strings.HasPrefix(gvk.Group, "gateway.networking."):
		return filepath.Join(dirs[gatewayModule], "config", "crd", string(channel), name), nil
	case gvk.Group == "cert-manager.io" || strings.HasSuffix(gvk.Group, ".cert-manager.io"):
		return filepath.Join(dirs[certManagerModule], "deploy", "crds", name), nil
	}
	return "", fmt.Errorf("%s: no definition known for the API group %q", gvk.Kind, gvk.Group)
}

// readCRD reads a definition and makes sure that it is the wanted one.
func readCRD(channel Channel, file string, kind schema.GroupKind) (*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("definition of %s in channel %s: %w", kind, channel, err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if got := (schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}); got != kind {
		return nil, fmt.Errorf("%s: defines %s instead of %s", file, got, kind)
	}
	if err := checkBundle(channel, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	return crd, nil
}

// checkBundle refuses Gateway API definitions of another release than the Go
// module that this program was built with.
func checkBundle(channel Channel, crd *apiextensionsv1.CustomResourceDefinition) error {
	if !strings.HasPrefix(crd.Spec.Group, "gateway.networking.") {
		return nil
	}
	if got := crd.Annotations[consts.BundleVersionAnnotation]; got != consts.BundleVersion {
		return fmt.Errorf("is of Gateway API %s, not %s", got, consts.BundleVersion)
	}
	if got := crd.Annotations[consts.ChannelAnnotation]; got != string(channel) {
		return fmt.Errorf("is of channel %s, not %s", got, channel)
	}
	return nil
}
