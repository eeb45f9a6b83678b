package charttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// The CronJob's own run, from its schedule to the end of its Job.
func TestCronJobRuns(t *testing.T) {
	s := newStory(t)
	s.values("install", `{schedule: "* * * * *"}`, "")
	s.apply(gateway, route("a", "edge"))
	s.cluster.Kubectl(t, "", "patch", "cronjob", "sweep-gatewright", "--namespace", s.namespace, "--patch", `{"spec":{"suspend":false}}`)
	s.cluster.Trigger(t, s.namespace, "sweep-gatewright")
	run := s.cluster.RunPod(t, s.kubelet, s.namespace, "app.kubernetes.io/instance=sweep")

	job := run.Pod.OwnerReferences[0].Name
	s.cluster.Kubectl(t, "", "wait", "job/"+job, "--namespace", s.namespace, "--for=condition=Complete", "--timeout=60s")
	s.wantHostnames("a.example.com")
	if !json.Valid([]byte(run.Stdout)) {
		t.Errorf("the log is no JSON:\n%s", run.Stdout)
	}
	if run.Message == "" || len(run.Message) > 4096 {
		t.Errorf("the termination message has %d bytes:\n%s", len(run.Message), run.Message)
	}
}

// helm test shows what a run would do, and stores nothing.
func TestHelmTest(t *testing.T) {
	eachHelm(t, func(t *testing.T, r release) {
		s := storyOf(t, r)
		s.values("install", `{}`, "")
		s.apply(gateway, route("a", "edge"))
		done := make(chan error)
		go func() {
			_, err := s.helm("test", "sweep", "--namespace", s.namespace, "--timeout", "60s")
			done <- err
		}()
		run := s.cluster.RunPod(t, s.kubelet, s.namespace, "app.kubernetes.io/instance=sweep")
		if err := <-done; err != nil {
			t.Error(err)
		}
		if run.Code != 0 || !strings.Contains(run.Stdout, "a.example.com") {
			t.Errorf("it ends with %d:\n%s%s", run.Code, run.Stdout, run.Stderr)
		}
		s.wantHostnames()
		if len(s.recorder.wrote) > 0 {
			t.Errorf("it writes: %q", sorted(s.recorder.wrote))
		}
	})
}

// helm test fails for want of a right to write what the next run would, too.
func TestHelmTestMissesARight(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.values("install", `{}`, "")
	s.apply(gateway, route("a", "edge"))
	pod := s.testPod(t)
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec}
	for resource, verb := range map[string]string{"gateways": "patch", "certificates": "create", "httproutes": "list"} {
		var all []rbacv1.PolicyRule
		s.change(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			all = rules
			return withhold(rules, verb, resource)
		})
		run := s.runPod(template)
		if run.Code == 0 || !strings.Contains(run.Stdout+run.Stderr, resource) {
			t.Errorf("without the right to %s %s it ends with %d, and does not name it:\n%s%s", verb, resource, run.Code, run.Stdout, run.Stderr)
		}
		s.change(func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return all })
	}
}

// The line of the notes that runs the sweep now is typed into a shell as it is:
// its Job runs to the end, and the hostname is served.
func TestRunNow(t *testing.T) {
	runNow := regexp.MustCompile(`(?m)^  (kubectl .* create job .*)$`)
	eachHelm(t, func(t *testing.T, r release) {
		s := storyOf(t, r)
		line := runNow.FindStringSubmatch(s.values("install", `{}`, ""))
		if line == nil {
			t.Fatal("the notes have no line that creates a Job")
		}
		s.apply(gateway, route("a", "edge"))
		shell := exec.Command("/bin/sh", "-c", line[1])
		shell.Env = []string{"KUBECONFIG=" + s.cluster.Kubeconfig, "HOME=" + t.TempDir(),
			"PATH=" + filepath.Dir(s.cluster.KubectlPath(t)) + ":" + os.Getenv("PATH")}
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line[1], err, out)
		}
		run := s.cluster.RunPod(t, s.kubelet, s.namespace, "app.kubernetes.io/instance=sweep,batch.kubernetes.io/job-name")
		if run.Code != 0 {
			t.Fatalf("it ends with %d:\n%s%s", run.Code, run.Stdout, run.Stderr)
		}
		s.cluster.Kubectl(t, "", "wait", "job/"+run.Pod.OwnerReferences[0].Name, "--namespace", s.namespace, "--for=condition=Complete", "--timeout=60s")
		s.wantHostnames("a.example.com")
	})
}

// A Gateway of Flux whose HelmRelease the sweep may not see loses nothing.
func TestFluxWithoutTheFeature(t *testing.T) {
	s := newStory(t)
	s.installFlux()
	s.values("install", `{}`, "")
	s.apply(fluxGateway, route("a", "edge"), route("b", "edge"))
	s.sweep()
	s.cluster.Kubectl(t, "", "delete", "httproute", "a", "--namespace", s.infra)
	var last clustertest.PodRun
	for range 4 {
		last = s.runPod(s.cronJob(t).Spec.JobTemplate.Spec.Template)
	}
	s.wantHostnames("a.example.com", "b.example.com")
	if !strings.Contains(last.Stdout, "HelmRelease") {
		t.Errorf("the report says nothing of the HelmRelease:\n%s", last.Stdout)
	}
	s.values("upgrade", `{flux: {enabled: true}}`, "")
	for range 4 {
		s.sweep()
	}
	s.wantHostnames("b.example.com")
}
