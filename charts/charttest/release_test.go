// Package charttest tests the chart on a real API server: what Helm 3 and Helm 4
// do with it, and what its ServiceAccount may do.
package charttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

const (
	chart      = "../gatewright"
	restricted = "pod-security.kubernetes.io/enforce=restricted"
)

// release is the chart as one of the Helms installed it, in a namespace of its
// own that admits restricted Pods alone.
type release struct {
	cluster   *clustertest.Env
	helm      func(...string) (string, error)
	namespace string
}

func eachHelm(t *testing.T, test func(*testing.T, release)) {
	t.Helper()
	cluster := clustertest.Start(t)
	// What Helm reads, go test must see, or it takes an old result for a new chart.
	if err := os.CopyFS(t.TempDir(), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	for name, helm := range map[string]func(...string) (string, error){"helm3": cluster.TryHelm3, "helm4": cluster.TryHelm4} {
		t.Run(name, func(t *testing.T) {
			r := release{cluster, helm, cluster.Namespace(t, restricted)}
			t.Cleanup(func() { // what lies in no namespace stays otherwise
				if _, err := helm("uninstall", "sweep", "--namespace", r.namespace, "--ignore-not-found"); err != nil {
					t.Error(err)
				}
			})
			test(t, r)
		})
	}
}

// run runs a command of Helm on the release and returns what it prints.
func (r release) run(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := r.helm(append([]string{command, "sweep", "--namespace", r.namespace}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// put installs or upgrades the release with the values.
func (r release) put(t *testing.T, command, values string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(path, []byte(values), 0o644); err != nil {
		t.Fatal(err)
	}
	return r.run(t, command, chart, "--set", "image.repository=registry.example.com/gatewright", "--values", path)
}

func (r release) cronJob(t *testing.T) *batchv1.CronJob {
	t.Helper()
	cron, err := r.cluster.Client.BatchV1().CronJobs(r.namespace).Get(t.Context(), "sweep-gatewright", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cron
}

// mayDeleteSecrets stands for the rights of a feature.
func (r release) mayDeleteSecrets(t *testing.T) bool {
	t.Helper()
	out, err := r.cluster.TryKubectl("", "auth", "can-i", "delete", "secrets", "--namespace", r.namespace,
		"--as", "system:serviceaccount:"+r.namespace+":sweep-gatewright")
	if err != nil && !strings.Contains(out, "no") { // can-i ends with 1 for no
		t.Fatal(err)
	}
	return strings.TrimSpace(out) == "yes"
}

// A release goes its way: each step shows in the policy, in the Pod and in what
// the ServiceAccount may do, and in the end nothing is left.
func TestLifeOfARelease(t *testing.T) {
	eachHelm(t, func(t *testing.T, r release) {
		r.put(t, "install", `{policy: [{match: {name: edge}}]}`)
		first := r.cronJob(t)
		if r.mayDeleteSecrets(t) {
			t.Error("the chart as it is grants rights on Secrets")
		}

		r.put(t, "upgrade", `{policy: [{match: {name: edge}, secretRetention: Delete}], secretRetention: {enabled: true}, suspend: true}`)
		second := r.cronJob(t)
		if !r.mayDeleteSecrets(t) {
			t.Error("the upgrade does not grant the rights of its feature")
		}
		if !*second.Spec.Suspend || podSum(first) == podSum(second) {
			t.Error("the upgrade does not show in the CronJob")
		}

		r.run(t, "rollback", "1")
		if r.mayDeleteSecrets(t) {
			t.Error("the rollback leaves the rights of the feature")
		}
		if third := r.cronJob(t); cmp.Diff(first.Spec, third.Spec) != "" {
			t.Errorf("after the rollback the CronJob differs (-first +now):\n%s", cmp.Diff(first.Spec, third.Spec))
		}

		r.run(t, "uninstall")
		if left := r.objects(t); len(left) > 0 {
			t.Errorf("uninstall leaves %q", left)
		}
	})
}

func podSum(cron *batchv1.CronJob) string {
	return cron.Spec.JobTemplate.Spec.Template.Annotations["checksum/policy"]
}

// objects are all that carry the labels of the release, in any namespace.
func (r release) objects(t *testing.T) []string {
	t.Helper()
	out := r.cluster.Kubectl(t, "", "get", "cronjob,configmap,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding",
		"--all-namespaces", "--selector", "app.kubernetes.io/name=gatewright", "-o", "json")
	var list struct {
		Items []metav1.PartialObjectMetadata
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, o := range list.Items {
		if o.Namespace == r.namespace || strings.HasPrefix(o.Name, r.namespace+":") {
			found = append(found, o.Kind+" "+o.Namespace+"/"+o.Name)
		}
	}
	slices.Sort(found)
	return found
}

// The server itself admits the Pods of the CronJob and of helm test where only
// restricted Pods may run, and no others.
func TestPodsAreRestricted(t *testing.T) {
	eachHelm(t, func(t *testing.T, r release) {
		r.put(t, "install", `{}`)
		pods := r.cluster.Client.CoreV1().Pods(r.namespace)
		job := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "of-the-cronjob"}, Spec: r.cronJob(t).Spec.JobTemplate.Spec.Template.Spec}
		loose := job.DeepCopy()
		loose.Name, loose.Spec.Containers[0].SecurityContext = "loose", nil
		for _, pod := range []*corev1.Pod{job, r.testPod(t)} {
			if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
		}
		if _, err := pods.Create(t.Context(), loose, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("the namespace admits a Pod that is not restricted: %v", err)
		}
	})
}

// testPod is the Pod that helm test makes.
func (r release) testPod(t *testing.T) *corev1.Pod {
	t.Helper()
	out, err := r.helm("get", "hooks", "sweep", "--namespace", r.namespace)
	if err != nil {
		t.Fatal(err)
	}
	made := r.cluster.Kubectl(t, out, "create", "--dry-run=server", "-o", "json", "--namespace", r.namespace, "-f", "-")
	pod := &corev1.Pod{}
	if err := json.Unmarshal([]byte(made), pod); err != nil {
		t.Fatal(err)
	}
	pod.ResourceVersion, pod.UID = "", ""
	return pod
}

// The commands in the notes do what the notes say.
func TestNotes(t *testing.T) {
	kubectl := regexp.MustCompile(`(?m)^  kubectl (.*)$`)
	eachHelm(t, func(t *testing.T, r release) {
		notes := r.put(t, "install", `{schedule: "0 0 1 1 *"}`)
		for _, match := range kubectl.FindAllStringSubmatch(notes, -1) {
			command := strings.NewReplacer("$(date +%s)", "1", "'", "").Replace(match[1])
			r.cluster.Kubectl(t, "", strings.Fields(command)...)
		}
		if !*r.cronJob(t).Spec.Suspend {
			t.Error("the command that stops the sweep does not suspend it")
		}
		jobs, err := r.cluster.Client.BatchV1().Jobs(r.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) != 1 || jobs.Items[0].Spec.Template.Spec.ServiceAccountName != "sweep-gatewright" {
			t.Errorf("the command that runs the sweep now made %+v (%v)", jobs.Items, err)
		}
	})
}

// Two releases of one name in two namespaces do not take each other's rights.
func TestTwoReleases(t *testing.T) {
	eachHelm(t, func(t *testing.T, r release) {
		other := release{r.cluster, r.helm, r.cluster.Namespace(t)}
		r.put(t, "install", `{secretRetention: {enabled: true}}`)
		other.put(t, "install", `{}`)
		if other.mayDeleteSecrets(t) || !r.mayDeleteSecrets(t) {
			t.Error("the releases share their rights")
		}
		other.run(t, "uninstall")
		if len(r.objects(t)) != 7 || !r.mayDeleteSecrets(t) {
			t.Errorf("after uninstall of the other release there are %q", r.objects(t))
		}
	})
}
