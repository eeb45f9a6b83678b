package jobs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs"
)

// TestLock: one holder at a time; what a killed one held is free after its
// duration, and what it gave back at once.
func TestLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cluster, err := jobs.Connect(w.as(w.config, w.options))
	if err != nil {
		t.Fatal(err)
	}
	name := w.lease()
	_, unlock, err := cluster.Lock(t.Context(), name, "first", 0)
	if err != nil {
		t.Fatal(err)
	}
	var held *jobs.LockHeldError
	if _, _, err := cluster.Lock(t.Context(), name, "second", 0); !errors.As(err, &held) || held.Holder != "first" {
		t.Fatalf("the second got %v", err)
	}
	unlock()
	_, unlock, err = cluster.Lock(t.Context(), name, "second", 0)
	if err != nil {
		t.Fatalf("after the first gave it back: %v", err)
	}
	unlock()
	old := time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z")
	w.Kubectl(t, "", "patch", "lease", name.Name, "-n", name.Namespace, "--type=merge",
		"-p", `{"spec":{"holderIdentity":"killed","renewTime":"`+old+`","leaseDurationSeconds":60}}`)
	_, unlock, err = cluster.Lock(t.Context(), name, "third", 0)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	unlock()
}
