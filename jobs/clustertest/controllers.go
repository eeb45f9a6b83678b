package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CertManagerNamespace is where cert-manager looks for the Secrets that
// ClusterIssuers name.
const CertManagerNamespace = "cert-manager"

// StartCertManager runs cert-manager's own controllers until the test ends, so
// that nothing which they write at any time disturbs a later test: SelfSigned
// and CA issuers and the gateway shim work; ACME does not. There is no webhook.
// Of the flags there is --enable-certificate-owner-ref. Subtests that
// call it cannot run side by side.
func (e *Env) StartCertManager(t testing.TB, flags ...string) {
	t.Helper()
	process, err := e.startCertManager(flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.stop(); err != nil {
			t.Error(err)
		}
	})
}

func (e *Env) startCertManager(flags []string) (*process, error) {
	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: " + CertManagerNamespace + "}}"
	if _, err := e.TryApply("clustertest", "", namespace); err != nil {
		return nil, err
	}
	ready := func(log []byte) bool { return bytes.Contains(log, []byte("ready\n")) }
	return e.startController("certmanager", ready, append(flags[:len(flags):len(flags)],
		"--kubeconfig="+e.Kubeconfig, "--cluster-resource-namespace="+CertManagerNamespace)...)
}

// controllers of kube-controller-manager that a CronJob and its Pods need, and
// those that clean up.
var controllers = []string{
	"cronjob-controller", "job-controller", "ttl-after-finished-controller",
	"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
	"garbage-collector-controller", "namespace-controller", "clusterrole-aggregation-controller",
}

// StartControllerManager starts kube-controller-manager, once per cluster:
// CronJobs make Jobs and Jobs make Pods, namespaces go away, and what has no
// owner any more is collected. Nothing runs the Pods but RunPod.
func (e *Env) StartControllerManager(t testing.TB) {
	t.Helper()
	if err := e.controllerManager(); err != nil {
		t.Fatal(err)
	}
}

func (e *Env) startControllerManager() error {
	ca := filepath.Join(e.certs(), "root-ca.crt")
	if err := os.WriteFile(ca, e.Config.CAData, 0o600); err != nil {
		return err
	}
	ready := func([]byte) bool {
		_, err := e.Client.CoreV1().ServiceAccounts("default").Get(context.Background(), "default", metav1.GetOptions{})
		return err == nil
	}
	_, err := e.startController("kube-controller-manager", ready,
		"--kubeconfig="+e.Kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--controllers="+strings.Join(controllers, ","),
		"--root-ca-file="+ca, "--service-account-private-key-file="+filepath.Join(e.certs(), "sa-signer.key"))
	return err
}

// startController starts a program and waits until it is ready, which can be
// seen from its log or from the cluster.
func (e *Env) startController(name string, ready func(log []byte) bool, args ...string) (*process, error) {
	p, err := e.guard.start(name, e.log(name), args...)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		log, err := os.ReadFile(e.log(name))
		if err != nil {
			return nil, err
		}
		if ready(log) {
			return p, nil
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s has ended:\n%s", name, tail(e.log(name)))
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("%s is not ready after %s:\n%s", name, startTimeout, tail(e.log(name)))
}

// Trigger lets the CronJob controller make a Job at once, as it does after it
// was away for a while: it takes the last run to be an hour ago. A CronJob with
// startingDeadlineSeconds needs a schedule that came up within it, such as
// "* * * * *" within 60.
func (e *Env) Trigger(t testing.TB, namespace, cronJob string) {
	t.Helper()
	hourAgo := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	_, err := e.Client.BatchV1().CronJobs(namespace).Patch(t.Context(), cronJob, types.MergePatchType,
		[]byte(`{"status":{"lastScheduleTime":"`+hourAgo+`"}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually calls a function until it returns no error, and fails the test
// with the last error after a minute.
func Eventually(t testing.TB, f func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
