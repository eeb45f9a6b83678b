package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubelet runs Pods on this host.
type Kubelet struct {
	// Programs says which file on this host the first word of a container's
	// command stands for. The empty word is what the image would run.
	Programs map[string]string
	// Proxy, if set, is used instead of the API server.
	Proxy *Proxy
}

// PodRun is what became of a Pod.
type PodRun struct {
	Pod            *corev1.Pod // with its last status
	Stdout, Stderr string
	Code           int
	Message        string // the termination message
}

// RunPod does a kubelet's work for the first pending Pod that the labels
// select, which it waits for: it runs the one container's command with the
// arguments, environment and volumes of the Pod, the Pod's own ServiceAccount
// token among them, and writes the end into the Pod's status, so that its Job
// completes. The image and the security context are ignored.
//
// A path of a volume, and /dev/termination-log, is another one on this host. It
// is replaced in arguments and in the values of environment variables. A
// program has no other way to learn it; the way to the API server is in
// KUBECONFIG.
func (e *Env) RunPod(t testing.TB, kubelet Kubelet, namespace, selector string) PodRun {
	t.Helper()
	pod := e.pendingPod(t, namespace, selector)
	host := &podHost{Env: e, kubelet: kubelet, pod: pod, dir: t.TempDir()}
	var cmd *exec.Cmd
	var err error
	Eventually(t, func() error {
		cmd, err = host.prepare(t.Context())
		if apierrors.IsNotFound(err) { // a ConfigMap may come late, such as that with the server's certificate
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Pod %s/%s: %v", namespace, pod.Name, err)
	}
	run, err := host.run(cmd)
	if err == nil {
		run.Pod, err = e.Client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatalf("Pod %s/%s: %v", namespace, pod.Name, err)
	}
	return run
}

func (e *Env) pendingPod(t testing.TB, namespace, selector string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	Eventually(t, func() error {
		list, err := e.Client.CoreV1().Pods(namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: selector, FieldSelector: "status.phase=Pending"})
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return fmt.Errorf("no pending Pod in %s has the labels %s", namespace, selector)
		}
		pod = &list.Items[0]
		return nil
	})
	return pod
}

// podHost is a Pod's place on this host.
type podHost struct {
	*Env
	kubelet Kubelet
	pod     *corev1.Pod
	dir     string
	mounts  []string // path in the container and path here, in turn
}

// serviceAccountPath is where a Pod finds its ServiceAccount's token.
const serviceAccountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// prepare makes the volumes and the command.
func (h *podHost) prepare(ctx context.Context) (*exec.Cmd, error) {
	spec := h.pod.Spec
	if len(spec.Containers) != 1 || len(spec.InitContainers) != 0 {
		return nil, errors.New("RunPod runs Pods with one container and no other")
	}
	if spec.RestartPolicy != corev1.RestartPolicyNever {
		return nil, fmt.Errorf("RunPod runs a container once: restartPolicy must be Never, not %s", spec.RestartPolicy)
	}
	container := spec.Containers[0]
	h.mounts = nil
	if err := h.mount(ctx, container); err != nil {
		return nil, err
	}
	env, err := h.environment(ctx, container)
	if err != nil {
		return nil, err
	}
	words := append(append([]string{}, container.Command...), container.Args...)
	if len(container.Command) == 0 {
		words = append([]string{""}, words...)
	}
	path, ok := h.kubelet.Programs[words[0]]
	if !ok {
		return nil, fmt.Errorf("no program is given for the command %q", words[0])
	}
	host := strings.NewReplacer(h.mounts...)
	for i, word := range words {
		words[i] = host.Replace(expand(word, env))
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Dir = h.dir
	cmd.Env = append(h.system(), "PATH="+os.Getenv("PATH"), "HOME="+h.dir)
	for _, v := range env {
		cmd.Env = append(cmd.Env, v.Name+"="+host.Replace(v.Value))
	}
	h.guard.adopt(cmd)
	return cmd, nil
}

// system is what a kubelet adds to the environment, and the way to the API
// server for a client that cannot find the token in its usual place.
func (h *podHost) system() []string {
	server, err := url.Parse(h.Config.Host)
	if err != nil {
		return nil // the server was started with it
	}
	env := []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	if kubeconfig := h.kubeconfig(); isFile(kubeconfig) {
		env = append(env, "KUBECONFIG="+kubeconfig)
	}
	return env
}

func (h *podHost) kubeconfig() string { return filepath.Join(h.dir, "kubeconfig") }

func (h *podHost) terminationLog() string { return filepath.Join(h.dir, "termination-log") }

// run runs the command to its end and notes it in the Pod's status.
func (h *podHost) run(cmd *exec.Cmd) (PodRun, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return PodRun{}, err
	}
	timer := time.AfterFunc(h.timeout(), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return PodRun{}, err
	}
	run := PodRun{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if run.Code < 0 {
		run.Code = 137 // killed, as a shell says it
	}
	run.Message = h.message(run)
	h.setStatus(run, begin)
	return run, nil
}

// timeout is the Pod's own or that of every command.
func (h *podHost) timeout() time.Duration {
	if seconds := h.pod.Spec.ActiveDeadlineSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return commandTimeout
}

// message is what the container left in its termination log, cut like a
// kubelet cuts it, or the end of its output if it failed and asks for that.
func (h *podHost) message(run PodRun) string {
	data, err := os.ReadFile(h.terminationLog())
	message := string(data)
	if err != nil || message == "" {
		if run.Code == 0 || h.pod.Spec.Containers[0].TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
			return ""
		}
		logs := run.Stdout + run.Stderr
		return logs[max(0, len(logs)-2048):]
	}
	return message[:min(len(message), 4096)]
}

func (h *podHost) setStatus(run PodRun, begin time.Time) {
	end := &corev1.ContainerStateTerminated{
		ExitCode: int32(run.Code), Reason: "Completed", Message: run.Message,
		StartedAt: metav1.NewTime(begin), FinishedAt: metav1.Now(),
	}
	status := &h.pod.Status
	status.Phase = corev1.PodSucceeded
	if run.Code != 0 {
		status.Phase, end.Reason = corev1.PodFailed, "Error"
	}
	started := metav1.NewTime(begin)
	status.StartTime = &started
	container := h.pod.Spec.Containers[0]
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container.Name, Image: container.Image, State: corev1.ContainerState{Terminated: end},
	}}
}
