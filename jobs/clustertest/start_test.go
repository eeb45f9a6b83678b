package clustertest_test

import (
	"os"
	"testing"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

func TestDefinitionsAreServed(t *testing.T) {
	cluster := clustertest.Start(t)
	version, err := cluster.Client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.Major+"."+version.Minor != "1.37" {
		t.Errorf("the server is %s.%s, want 1.37", version.Major, version.Minor)
	}
	for group, kinds := range map[string][]string{
		"gateway.networking.k8s.io/v1": {"Gateway", "GatewayClass", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "ReferenceGrant"},
		"cert-manager.io/v1":           {"Certificate", "CertificateRequest", "Issuer", "ClusterIssuer"},
	} {
		served := map[string]bool{}
		list, err := cluster.Client.Discovery().ServerResourcesForGroupVersion(group)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			served[r.Kind] = true
		}
		for _, kind := range kinds {
			if !served[kind] {
				t.Errorf("%s of %s is not served", kind, group)
			}
		}
	}
}
