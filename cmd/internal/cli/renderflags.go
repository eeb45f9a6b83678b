package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gatewright/gatewright/postrender"
)

// releaseFlags say what a stream of manifests does not say of itself.
type releaseFlags struct {
	policy    policyFlags
	namespace string
	release   string
	snapshot  string
}

func (r *releaseFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	r.policy.register(cmd)
	fs.StringVarP(&r.namespace, "namespace", "n", os.Getenv("HELM_NAMESPACE"),
		"`NAMESPACE` of the release, which Helm does not tell (default $HELM_NAMESPACE)")
	fs.StringVar(&r.release, "release", "", "`NAME` of the release, for messages")
	fs.StringVar(&r.snapshot, "snapshot", "",
		"`FILE` with objects of the cluster (gatewright snapshot, kubectl get -o yaml), which add knowledge and no claims")
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "name" {
			name = "release"
		}
		return pflag.NormalizedName(name)
	})
}

// maxReleaseName is Helm's limit.
const maxReleaseName = 53

// check refuses names that Helm and Kubernetes refuse, all at once.
func (r *releaseFlags) check(cmd *cobra.Command) error {
	var errs []error
	if r.release != "" && (len(r.release) > maxReleaseName || len(validation.IsDNS1123Subdomain(r.release)) > 0) {
		errs = append(errs, fmt.Errorf("no release can be called %q; --release takes small letters, digits, dashes and dots, at most %d characters",
			r.release, maxReleaseName))
	}
	if r.namespace != "" && len(validation.IsDNS1123Label(r.namespace)) > 0 {
		errs = append(errs, fmt.Errorf("no namespace can be called %q; --namespace (or $HELM_NAMESPACE) takes small letters, digits and dashes, at most %d characters",
			r.namespace, validation.DNS1123LabelMaxLength))
	}
	for i, err := range errs {
		errs[i] = &usageError{cmd.CommandPath(), err}
	}
	return errors.Join(errs...)
}

// known reads the file of --snapshot.
func (r *releaseFlags) known() ([]postrender.File, error) {
	if r.snapshot == "" {
		return nil, nil
	}
	data, err := os.ReadFile(r.snapshot)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w; give --snapshot a file that can be read", err)
	}
	found, err := holdsObject(data)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s is no YAML: %w; make it with gatewright snapshot", r.snapshot, err)
	}
	if !found {
		return nil, fmt.Errorf("snapshot %s holds no Kubernetes object; make it with gatewright snapshot", r.snapshot)
	}
	return []postrender.File{{Name: r.snapshot, Data: data}}, nil
}
