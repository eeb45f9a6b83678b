package clustertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// cronJob runs a script as a ServiceAccount that may read ConfigMaps, with a
// ConfigMap as a volume, as restricted as Pod security asks.
const cronJob = `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {policy.yaml: "claims: All"}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep}
spec:
  schedule: "* * * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata: {labels: {app: sweep}}
    spec:
      backoffLimit: 0
      template:
        metadata: {labels: {app: sweep}}
        spec:
          serviceAccountName: reader
          restartPolicy: Never
          securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
          containers:
          - name: sweep
            image: example.com/sweep:1
            command: [sh, -c]
            args: [SCRIPT, sh, /etc/settings/policy.yaml, /dev/termination-log]
            env:
            - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
            - {name: SETTINGS, value: /etc/settings of $(NAMESPACE)}
            terminationMessagePolicy: FallbackToLogsOnError
            volumeMounts: [{name: settings, mountPath: /etc/settings}]
            securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          volumes: [{name: settings, configMap: {name: settings}}]
`

// runCronJob lets the controllers make the Pod of a CronJob with the script and
// runs it.
func runCronJob(t *testing.T, cluster *clustertest.Env, namespace, script string) clustertest.PodRun {
	t.Helper()
	cluster.StartControllerManager(t)
	cluster.Apply(t, "test", namespace, strings.Replace(cronJob, "SCRIPT", `"`+script+`"`, 1))
	cluster.Trigger(t, namespace, "sweep")
	kubelet := clustertest.Kubelet{Programs: map[string]string{"sh": "/bin/sh"}}
	return cluster.RunPod(t, kubelet, namespace, "app=sweep")
}

// The Pod of a CronJob runs with the rights of its ServiceAccount, sees its
// volumes and its environment, and when it ends well its Job is complete.
func TestRunPodOfACronJob(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t, "pod-security.kubernetes.io/enforce=restricted")
	kubectl := cluster.KubectlPath(t)
	run := runCronJob(t, cluster, namespace, `cat $1; echo; echo $SETTINGS;
		`+kubectl+` get configmap settings -o name && ! `+kubectl+` get secrets && printf 'swept 3' >$2`)
	lines := strings.Split(run.Stdout, "\n")
	if run.Code != 0 || lines[0] != "claims: All" || lines[2] != "configmap/settings" {
		t.Errorf("exit code %d, output %q, %q", run.Code, run.Stdout, run.Stderr)
	}
	if !strings.HasSuffix(lines[1], "/settings of "+namespace) || strings.HasPrefix(lines[1], "/etc") {
		t.Errorf("the environment says %q", lines[1])
	}
	if !strings.Contains(run.Stderr, `"system:serviceaccount:`+namespace+`:reader" cannot list resource "secrets"`) {
		t.Errorf("stderr %q, want a refusal", run.Stderr)
	}
	if run.Message != "swept 3" || run.Pod.Status.ContainerStatuses[0].State.Terminated.Message != "swept 3" {
		t.Errorf("termination message %q", run.Message)
	}
	cluster.Kubectl(t, "", "wait", "job/"+run.Pod.OwnerReferences[0].Name, "-n", namespace, "--for=condition=Complete", "--timeout=60s")
	clustertest.Eventually(t, func() error {
		_, err := cluster.TryKubectl("", "wait", "cronjob/sweep", "-n", namespace, "--for=jsonpath={.status.lastSuccessfulTime}", "--timeout=10s")
		return err
	})
}

// When it ends badly its Job has failed, and the end of its output is the
// termination message.
func TestRunPodThatFails(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t)
	run := runCronJob(t, cluster, namespace, "echo no such Gateway >&2; exit 4")
	if run.Code != 4 || run.Message != "no such Gateway\n" {
		t.Errorf("exit code %d, message %q", run.Code, run.Message)
	}
	cluster.Kubectl(t, "", "wait", "job/"+run.Pod.OwnerReferences[0].Name, "-n", namespace, "--for=condition=Failed", "--timeout=60s")
}

// As under a kubelet, a ConfigMap may be made after the Pod that mounts it.
func TestRunPodWaitsForItsConfigMap(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartControllerManager(t)
	namespace := cluster.Namespace(t)
	begin, settings, _ := strings.Cut(cronJob, "{apiVersion: v1, kind: ConfigMap")
	settings, end, _ := strings.Cut(settings, "---")
	cluster.Apply(t, "test", namespace, strings.Replace(begin+end, "SCRIPT", "cat $1", 1))
	cluster.Trigger(t, namespace, "sweep")
	time.AfterFunc(time.Second, func() {
		if _, err := cluster.TryApply("test", namespace, "{apiVersion: v1, kind: ConfigMap"+settings); err != nil {
			t.Error(err)
		}
	})
	kubelet := clustertest.Kubelet{Programs: map[string]string{"sh": "/bin/sh"}}
	if run := cluster.RunPod(t, kubelet, namespace, "app=sweep"); run.Stdout != "claims: All" {
		t.Errorf("exit code %d, output %q, %q", run.Code, run.Stdout, run.Stderr)
	}
}

// A Pod reaches the API server through a proxy, with its own rights.
func TestRunPodThroughAProxy(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t)
	cluster.StartControllerManager(t)
	recorder := &clustertest.Recorder{}
	script := cluster.KubectlPath(t) + " get secret x -n $NAMESPACE"
	cluster.Apply(t, "test", namespace, strings.Replace(cronJob, "SCRIPT", `"`+script+`"`, 1))
	cluster.Trigger(t, namespace, "sweep")
	run := cluster.RunPod(t, clustertest.Kubelet{
		Programs: map[string]string{"sh": "/bin/sh"}, Proxy: cluster.Proxy(t, recorder.Wrap),
	}, namespace, "app=sweep")
	if !strings.Contains(run.Stderr, "cannot get resource") {
		t.Errorf("stderr %q, want a refusal", run.Stderr)
	}
	calls := recorder.Calls()
	if len(calls) == 0 || calls[len(calls)-1].String() != "get secrets "+namespace+"/x" {
		t.Errorf("calls: %v", calls)
	}
}

// Pod security admission is that of a cluster.
func TestPodSecurity(t *testing.T) {
	cluster := clustertest.Start(t)
	cluster.StartControllerManager(t)
	namespace := cluster.Namespace(t, "pod-security.kubernetes.io/enforce=restricted")
	cluster.Apply(t, "test", namespace, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}")
	_, err := cluster.TryApply("test", namespace, `{apiVersion: v1, kind: Pod, metadata: {name: a},
spec: {serviceAccountName: a, containers: [{name: a, image: example.com/a:1}]}}`)
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("got %v, want a refusal", err)
	}
}
