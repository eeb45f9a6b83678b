package cluster

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	// The ways to log in that kubectl has built in.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs"
)

// Connect finds the cluster as kubectl does. It sends no request.
func Connect(connection cli.Connection) (*jobs.Cluster, error) {
	config, err := Config(connection)
	if err != nil {
		return nil, err
	}
	return jobs.Connect(config)
}

// Config finds how the cluster is reached, as kubectl does.
func Config(connection cli.Connection) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = connection.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: connection.Context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, noCluster()
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w; correct --kubeconfig (or KUBECONFIG) and --context", err)
	}
	return config, nil
}

// noCluster says why no cluster is known. A file of KUBECONFIG that does not exist
// is passed over, as kubectl does, and so it is what is wrong.
func noCluster() error {
	files := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if files == "" {
		return fmt.Errorf("no cluster is known: give --kubeconfig, or set KUBECONFIG")
	}
	var absent []string
	for _, file := range strings.Split(files, string(os.PathListSeparator)) {
		if _, err := os.Stat(file); file != "" && os.IsNotExist(err) {
			absent = append(absent, file)
		}
	}
	if len(absent) == 0 {
		return fmt.Errorf("no cluster is known: KUBECONFIG=%s names none; correct it, or give --kubeconfig", files)
	}
	return fmt.Errorf("no cluster is known: KUBECONFIG names %s, which does not exist; correct it, or give --kubeconfig", strings.Join(absent, " and "))
}
