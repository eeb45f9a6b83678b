package jobs

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A server that cannot be reached is told once, and waited for once.
func TestUnreachableIsToldOnce(t *testing.T) {
	c := connect(t, &rest.Config{Host: "https://127.0.0.1:1"})
	c.sleep = func(ctx context.Context, d time.Duration) error { return sleep(ctx, d/10) }
	start := time.Now()
	reading, err := c.Read(t.Context(), everything)
	if err != nil {
		t.Fatal(err)
	}
	const reason = "the API server at 127.0.0.1:1 cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused (after 4 attempts); run again when the API server answers"
	if err, want := c.missing(reading), "the cluster could not be read whole, so nothing is written: "+reason; err == nil || err.Error() != want {
		t.Errorf("missing: %v\nwant %s", err, want)
	}
	if _, err := c.WriteSnapshot(t.Context(), new(bytes.Buffer), everything, false); err == nil || err.Error() != reason {
		t.Errorf("snapshot: %v\nwant %s", err, reason)
	}
	// 0.7 seconds for each of the two; one list after the other would take 7.
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// Each right that is missing has a line of its own.
func TestEachRightIsToldOnce(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		status(w, http.StatusForbidden, "Forbidden", `User "sweep" cannot`)
		return true
	}
	c := s.cluster(t, nil)
	reading, err := c.Read(t.Context(), everything)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(c.missing(reading).Error(), "\n")
	if len(lines) < 3 || !strings.HasSuffix(lines[0], "things stand in the way") {
		t.Errorf("%q, want a head and a line for each", lines)
	}
	seen := map[string]bool{}
	for _, line := range lines[1:] {
		if seen[line] || !strings.Contains(line, "403 Forbidden") || strings.Count(line, "GET ") != 1 {
			t.Errorf("%q is told twice, or is more than one cause", line)
		}
		seen[line] = true
	}
}
