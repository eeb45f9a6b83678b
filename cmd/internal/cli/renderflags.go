package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	fs.StringVar(&r.release, "release", "", "`NAME` of the release")
	fs.StringVar(&r.snapshot, "snapshot", "",
		"`FILE` with objects of the cluster (kubectl get -o yaml), which add knowledge and no claims")
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "name" {
			name = "release"
		}
		return pflag.NormalizedName(name)
	})
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
	if !holdsObject(data) {
		return nil, fmt.Errorf("snapshot %s holds no Kubernetes object; make it with kubectl get -o yaml", r.snapshot)
	}
	return []postrender.File{{Name: r.snapshot, Data: data}}, nil
}
