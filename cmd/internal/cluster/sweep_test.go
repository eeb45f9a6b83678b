package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs/clustertest"
	"github.com/gatewright/gatewright/jobs/report"
)

func runSweep(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	code = cli.Main(t.Context(), append([]string{"sweep"}, args...), strings.NewReader(""), &out, &errs, cli.Program{Sweep: Sweep})
	return out.String(), errs.String(), code
}

// A sweep that meets another one does nothing, says so, and is no failure: the
// CronJob and a run by hand may meet.
func TestSweepBesideAnother(t *testing.T) {
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "helm", namespace, release)
	env.Apply(t, "other", namespace, `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: sweep}
spec: {holderIdentity: another, leaseDurationSeconds: 600, renewTime: "`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}
`)
	file := filepath.Join(t.TempDir(), "termination")
	arguments := []string{"--kubeconfig", env.Kubeconfig, "--namespaces", namespace, "--lease", namespace + "/sweep",
		"--lock-timeout", "1s", "--termination-log", file, "-o", "json"}
	output, errs, code := runSweep(t, arguments...)
	var got report.Report
	if err := json.Unmarshal([]byte(output), &got); err != nil {
		t.Fatalf("%v in %s%s", err, output, errs)
	}
	if code != 0 || got.Result != report.Skipped || !strings.Contains(got.Message, "another") || got.Writes != 0 {
		t.Errorf("exit code %d, result %s (%s), %d writes", code, got.Result, got.Message, got.Writes)
	}
	if message, err := os.ReadFile(file); err != nil || !strings.Contains(string(message), string(report.Skipped)) {
		t.Errorf("the termination message is %q, %v", message, err)
	}
	for _, asks := range [][]string{{"--yield", namespace + "/edge:a.example.com"}, {"--leave", namespace + "/edge"}} {
		output, errs, code := runSweep(t, slices.Concat([]string{"--kubeconfig", env.Kubeconfig, "--lease", namespace + "/sweep", "--lock-timeout", "1s"}, asks)...)
		if code != 4 || !strings.Contains(output, "nothing is yielded or left; run the same command again") {
			t.Errorf("%v: exit code %d\n%s%s", asks, code, output, errs)
		}
	}
}

// With --detailed-exitcode a script learns whether there is anything to do.
func TestSweepDetailedExitCode(t *testing.T) {
	env := clustertest.Start(t)
	namespace := env.Namespace(t)
	env.Apply(t, "helm", namespace, release)
	arguments := []string{"--kubeconfig", env.Kubeconfig, "--namespaces", namespace, "--detailed-exitcode"}
	for _, step := range []struct {
		more []string
		want int
	}{{[]string{"--dry-run"}, 2}, {nil, 2}, {[]string{"--dry-run"}, 0}, {nil, 0}} {
		if output, errs, code := runSweep(t, append(arguments[:len(arguments):len(arguments)], step.more...)...); code != step.want {
			t.Errorf("%v: exit code %d, want %d\n%s%s", step.more, code, step.want, output, errs)
		}
	}
}
