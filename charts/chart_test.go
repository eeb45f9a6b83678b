package charts_test

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
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender/engine"
)

func TestLint(t *testing.T) {
	eachHelm(t, func(t *testing.T, h helm) {
		for _, name := range []string{"default", "all", "all-namespaces"} {
			t.Run(name, func(t *testing.T) {
				text, err := h.run(append([]string{"lint", "--strict", chart}, valueFlags(t, []string{image, features[name]})...)...)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(text, "[WARNING]") || strings.Contains(text, "[ERROR]") {
					t.Error(text)
				}
			})
		}
		t.Run("as it is", func(t *testing.T) {
			if _, err := h.run("lint", chart); err != nil {
				t.Error(err)
			}
		})
	})
}

// wellFormed says whether every object has a type that Kubernetes knows and no
// field that it does not. None needs a CRD, so the chart installs before them.
func wellFormed(t *testing.T, rendered objects) {
	t.Helper()
	types := map[string]func() any{
		"ServiceAccount":     func() any { return &corev1.ServiceAccount{} },
		"ConfigMap":          func() any { return &corev1.ConfigMap{} },
		"Pod":                func() any { return &corev1.Pod{} },
		"CronJob":            func() any { return &batchv1.CronJob{} },
		"ClusterRole":        func() any { return &rbacv1.ClusterRole{} },
		"ClusterRoleBinding": func() any { return &rbacv1.ClusterRoleBinding{} },
		"Role":               func() any { return &rbacv1.Role{} },
		"RoleBinding":        func() any { return &rbacv1.RoleBinding{} },
	}
	for key := range rendered {
		kind, _, _ := strings.Cut(key, " ")
		if types[kind] == nil {
			t.Fatalf("%s is of a kind that is not looked at here", key)
		}
		rendered.decode(t, key, types[kind]())
		checkLabels(t, rendered, key)
	}
}

func checkLabels(t *testing.T, rendered objects, key string) {
	t.Helper()
	var object struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := json.Unmarshal(rendered[key], &object); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"helm.sh/chart":                "gatewright-0.1.0",
		"app.kubernetes.io/name":       "gatewright",
		"app.kubernetes.io/instance":   "sweep",
		"app.kubernetes.io/version":    "0.1.0",
		"app.kubernetes.io/managed-by": "Helm",
	}
	if diff := cmp.Diff(want, object.Metadata.Labels); diff != "" {
		t.Errorf("%s: labels (-want +got):\n%s", key, diff)
	}
}

func TestCronJob(t *testing.T) {
	eachHelm(t, func(t *testing.T, h helm) {
		var cron batchv1.CronJob
		h.mustTemplate(t).decode(t, "CronJob ops/sweep-gatewright", &cron)
		got := cron.Spec
		got.JobTemplate.Spec.Template = corev1.PodTemplateSpec{}
		got.JobTemplate.Labels = nil
		want := batchv1.CronJobSpec{
			Schedule:                   "*/5 * * * *",
			ConcurrencyPolicy:          batchv1.ForbidConcurrent,
			StartingDeadlineSeconds:    new(int64(120)),
			SuccessfulJobsHistoryLimit: new(int32(1)),
			FailedJobsHistoryLimit:     new(int32(3)),
		}
		want.JobTemplate.Spec.BackoffLimit = new(int32(0))
		want.JobTemplate.Spec.ActiveDeadlineSeconds = new(int64(600))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// The Pod of a run and that of helm test differ in nothing but their arguments.
func TestPod(t *testing.T) {
	values := `{imagePullSecrets: [{name: registry}], priorityClassName: low, nodeSelector: {disk: ssd}, tolerations: [{operator: Exists}],
		affinity: {nodeAffinity: {}}, extraEnv: [{name: A, value: b}], podLabels: {team: ops, app.kubernetes.io/name: mine},
		podAnnotations: {note: "1", checksum/policy: mine, helm.sh/hook: mine}, image: {digest: "sha256:` + strings.Repeat("0a", 32) + `"}}`
	eachHelm(t, func(t *testing.T, h helm) {
		rendered := h.mustTemplate(t, values)
		var cron batchv1.CronJob
		rendered.decode(t, "CronJob ops/sweep-gatewright", &cron)
		var test corev1.Pod
		rendered.decode(t, "Pod ops/sweep-gatewright-test", &test)

		run := cron.Spec.JobTemplate.Spec.Template
		checkPod(t, run)
		if run.Annotations["checksum/policy"] == "mine" || test.Annotations["helm.sh/hook"] != "test" {
			t.Error("annotations of one's own take the place of the chart's")
		}
		spec := test.Spec
		spec.Containers[0].Args = run.Spec.Containers[0].Args
		if diff := cmp.Diff(run.Spec, spec); diff != "" {
			t.Errorf("the Pods differ (-CronJob +helm test):\n%s", diff)
		}
	})
}

func checkPod(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	if pod.Labels["team"] != "ops" || pod.Labels["app.kubernetes.io/name"] != "gatewright" || pod.Annotations["note"] != "1" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	got := pod.Spec
	got.Containers = slices.Clone(got.Containers)
	got.Containers[0].Args = nil
	got.Containers[0].Resources = corev1.ResourceRequirements{}
	want := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		ServiceAccountName:           "sweep-gatewright",
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		ImagePullSecrets:             []corev1.LocalObjectReference{{Name: "registry"}},
		PriorityClassName:            "low",
		NodeSelector:                 map[string]string{"disk": "ssd"},
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Affinity:                     &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "sweep", Image: "registry.example.com/gatewright@sha256:" + strings.Repeat("0a", 32),
			ImagePullPolicy: corev1.PullIfNotPresent,
			Env:             []corev1.EnvVar{{Name: "A", Value: "b"}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			VolumeMounts: []corev1.VolumeMount{{Name: "policy", MountPath: "/etc/gatewright", ReadOnly: true}},
		}},
		Volumes: []corev1.Volume{{Name: "policy", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "sweep-gatewright"}}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is written into the values is what the sweep reads, and a change of it
// shows in the Pod.
func TestPolicyReachesTheSweep(t *testing.T) {
	values := []string{`{}`, `{policy: [{match: {namespace: infra, name: edge}, issuerRef: {kind: ClusterIssuer, name: le}, maxListeners: 40,
		httpsPort: 8443, http: {listener: true, redirect: false}, maxListenersPerNamespace: 2000000,
		hostnames: {allow: ["*.example.com"], perNamespace: {"*": ["a.example.com"]}}}, {match: {name: "0123"}}]}`}
	eachHelm(t, func(t *testing.T, h helm) {
		sums := map[string]bool{}
		for _, text := range values {
			rendered := h.mustTemplate(t, text)
			var config corev1.ConfigMap
			rendered.decode(t, "ConfigMap ops/sweep-gatewright", &config)
			if _, err := engine.ParsePolicyFile("policy.yaml", []byte(config.Data["policy.yaml"])); err != nil {
				t.Error(err)
			}
			want, got := struct{ Policy any }{[]any{}}, struct{ Gateways any }{}
			if err := yaml.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(config.Data["policy.yaml"]), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Policy, got.Gateways); diff != "" {
				t.Errorf("policy (-values +ConfigMap):\n%s", diff)
			}
			var cron batchv1.CronJob
			rendered.decode(t, "CronJob ops/sweep-gatewright", &cron)
			sums[cron.Spec.JobTemplate.Spec.Template.Annotations["checksum/policy"]] = true
		}
		if len(sums) != len(values) {
			t.Errorf("%d policies have the checksums %v", len(values), sums)
		}
	})
}

// The names of a long release still fit where Kubernetes adds to them.
func TestLongNames(t *testing.T) {
	release := strings.Repeat("x", 51) + "-y"
	eachHelm(t, func(t *testing.T, h helm) {
		text, err := h.run(append([]string{"template", release, chart, "--namespace", "ops"}, valueFlags(t, []string{image})...)...)
		if err != nil {
			t.Fatal(err)
		}
		var cron batchv1.CronJob
		parse(t, text).decode(t, "CronJob ops/"+strings.Repeat("x", 51), &cron)
	})
}

func TestNotes(t *testing.T) {
	h := newHelm(t, "helm4") // Helm 3 shows them only on a cluster
	for name, tt := range map[string]struct{ values, want string }{
		"run now":      {`{}`, "create job --from=cronjob/sweep-gatewright sweep-gatewright-$(date +%s)"},
		"what for":     {`{}`, "Its policy names no Gateway"},
		"dry run":      {`{dryRun: true}`, "only reports"},
		"is suspended": {`{suspend: true}`, "once suspend is false"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"install", "sweep", chart, "--namespace", "ops", "--dry-run=client"}
			text, err := h.run(append(args, valueFlags(t, []string{image, tt.values})...)...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, tt.want) {
				t.Errorf("the notes lack %q:\n%s", tt.want, text[strings.Index(text, "NOTES:"):])
			}
		})
	}
}

// The chart is released with the program: one version for both.
func TestVersion(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(repository, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^VERSION +\?= (.+)$`).FindSubmatch(makefile)
	if version == nil {
		t.Fatal("the Makefile has no VERSION")
	}
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version, AppVersion string }
	if err := yaml.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	if want := string(version[1]); about.Version != want || about.AppVersion != want {
		t.Errorf("Chart.yaml has version %s and appVersion %s, the Makefile %s", about.Version, about.AppVersion, want)
	}
}
