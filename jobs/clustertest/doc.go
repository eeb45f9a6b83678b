// Package clustertest gives tests a real API server: etcd and kube-apiserver,
// with the definitions of the Gateway API's standard channel and of
// cert-manager, RBAC and Pod security admission. "make cluster" builds the
// programs; a set KUBEBUILDER_ASSETS is used instead.
//
// The tests of a process take turns; those that run side by side have a server
// each. TestMain starts with Run, which stops everything at the end; a guard
// process stops it even if the test process is killed. A test begins with Start
// and works in namespaces of its own:
//
//	func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
//
//	func TestSweep(t *testing.T) {
//		t.Parallel()
//		cluster := clustertest.Start(t)
//		namespace := cluster.Namespace(t)
//		...
//	}
//
// There is no kubelet and no Gateway implementation. Only tests import this
// package.
package clustertest
