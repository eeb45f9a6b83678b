package charttest

import (
	"strings"
	"testing"
)

// Whoever stops the sweep, by its value, by hand or by both, finds it stopped
// after later upgrades, which are accepted; and lets it go on as the notes say.
func TestAStopHolds(t *testing.T) {
	t.Parallel()
	byHand, byValue := release.suspend, release.suspendValue
	for name, stop := range map[string][]func(release, *testing.T, string){
		"by value": {byValue}, "by hand": {byHand}, "by hand then by value": {byHand, byValue},
	} {
		t.Run(name, func(t *testing.T) {
			eachHelm(t, func(t *testing.T, r release) {
				r.put(t, "install", `{}`)
				for _, step := range stop {
					step(r, t, "true")
				}
				r.wantSuspended(t, true)
				r.run(t, "upgrade", chart, "--reuse-values", "--set", "grace=168h")
				r.run(t, "upgrade", chart, "--reset-then-reuse-values", "--set", "settle=20m")
				r.wantSuspended(t, true)

				byValue(r, t, "false")
				byHand(r, t, "false")
				r.run(t, "upgrade", chart, "--reuse-values", "--set", "grace=24h")
				r.wantSuspended(t, false)
			})
		})
	}
}

// What is started by hand alone while the value says stop is a conflict to
// Helm 4, in the words that the page has.
func TestAStartByHandConflicts(t *testing.T) {
	t.Parallel()
	eachHelm(t, func(t *testing.T, r release) {
		r.put(t, "install", `{suspend: true}`)
		r.suspend(t, "false")
		out, err := r.helm("upgrade", "sweep", chart, "--namespace", r.namespace, "--reuse-values", "--set", "grace=168h")
		if strings.HasSuffix(t.Name(), "helm3") {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), `conflict with "kubectl-patch"`) || !strings.Contains(err.Error(), ".spec.suspend") {
			t.Errorf("Helm 4 has other words than the page: %v\n%s", err, out)
		}
	})
}

func (r release) suspend(t *testing.T, value string) {
	t.Helper()
	r.cluster.Kubectl(t, "", "patch", "cronjob", "sweep-gatewright", "--namespace", r.namespace, "--patch", `{"spec":{"suspend":`+value+`}}`)
}

func (r release) suspendValue(t *testing.T, value string) {
	t.Helper()
	r.run(t, "upgrade", chart, "--reuse-values", "--set", "suspend="+value)
}

func (r release) wantSuspended(t *testing.T, want bool) {
	t.Helper()
	if got := *r.cronJob(t).Spec.Suspend; got != want {
		t.Fatalf("suspend is %t, want %t", got, want)
	}
}
