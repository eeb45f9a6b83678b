package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// Connection says which cluster, as the flags of kubectl do. Without any of
// them it is that of kubectl, or the one that the program runs in.
type Connection struct {
	Kubeconfig string
	Context    string
}

func (c *Connection) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&c.Kubeconfig, "kubeconfig", "",
		"kubeconfig `FILE` (default $KUBECONFIG, then ~/.kube/config, then the cluster that this runs in)")
	fs.StringVar(&c.Context, "context", "", "`CONTEXT` of the kubeconfig")
}

// check refuses the flags where no cluster is asked.
func (c Connection) check(cmd *cobra.Command, cluster bool) error {
	if cluster || c == (Connection{}) {
		return nil
	}
	return &usageError{cmd.CommandPath(), errors.New("--kubeconfig and --context need --cluster, without which no cluster is asked")}
}
