package charttest

import (
	"strings"
	"testing"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// An admin of the namespace may install the chart where somebody else grants the
// rights of the sweep, and cannot where the chart does.
func TestWhoMayInstall(t *testing.T) {
	t.Parallel()
	eachHelm(t, func(t *testing.T, r release) {
		r.cluster.StartControllerManager(t) // fills the role admin
		r.cluster.Kubectl(t, "", "create", "rolebinding", "owner", "--clusterrole=admin", "--user=owner", "--namespace", r.namespace)
		clustertest.Eventually(t, func() error {
			_, err := r.cluster.TryKubectl("", "auth", "can-i", "create", "cronjobs", "--namespace", r.namespace, "--as", "owner")
			return err
		})
		asOwner := func(rbac string) error {
			_, err := r.helm("upgrade", "--install", "sweep", chart, "--namespace", r.namespace, "--kube-as-user", "owner",
				"--set", "image.repository=registry.example.com/gatewright", "--set", "rbac.create="+rbac)
			return err
		}
		if err := asOwner("true"); err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("with the rights of the sweep: %v, want that it is forbidden", err)
		}
		if err := asOwner("false"); err != nil {
			t.Errorf("without the rights of the sweep: %v", err)
		}
	})
}
