package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

func mustWrite(t testing.TB, c *Cluster, o ReadOptions, partial bool) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := c.WriteSnapshot(t.Context(), &out, o, partial); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The file is what testdata shows: UPDATE=1 rewrites it. Nothing else is left.
func TestWriteSnapshot(t *testing.T) {
	const file = "testdata/snapshot.yaml"
	t.Setenv("TMPDIR", t.TempDir())
	got := mustWrite(t, newFakeServer(t, world).cluster(t, nil), everything, false)
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	want, err := os.ReadFile(file)
	if os.Getenv("UPDATE") != "" && got != string(want) {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("%s is rewritten, look at the difference and run again", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	for _, secret := range []string{"hidden", "aGlkZGVu", "someone@", lastApplied, "clusterIP", "foreign"} {
		if strings.Contains(got, secret) {
			t.Errorf("the snapshot holds %q", secret)
		}
	}
}

// A fault of a needed kind writes nothing; with partial, the header says so.
func TestWriteSnapshotFault(t *testing.T) {
	s := newFakeServer(t, manyRoutes(501)+world)
	s.fault = at(lists["HTTPRoute"], "500", failing(403, "Forbidden", "no"))
	c := s.cluster(t, nil)
	var out bytes.Buffer
	_, err := c.WriteSnapshot(t.Context(), &out, ReadOptions{}, false)
	if err == nil || !strings.Contains(err.Error(), "grant the verb list on httproutes.gateway.networking.k8s.io") || out.Len() > 0 {
		t.Errorf("error %v with %d bytes written", err, out.Len())
	}
	header, snapshot := readSnapshot(t, mustWrite(t, c, ReadOptions{}, true))
	if missing := header.Missing(); len(missing) != 1 || !strings.HasPrefix(missing[0], "HTTPRoute: GET ") {
		t.Errorf("missing are %q", missing)
	}
	if len(snapshot.Certificates) != 1 || len(snapshot.Routes) != 2 {
		t.Errorf("%d Certificates and %d routes, want 1 and the 2 of other kinds", len(snapshot.Certificates), len(snapshot.Routes))
	}
}

// What a list gave before it began anew is not written.
func TestWriteSnapshotBeginsExpiredListAnew(t *testing.T) {
	s := newFakeServer(t, manyRoutes(501))
	s.fault = func(w http.ResponseWriter, r *http.Request, number int) bool {
		return number == 2 && at(lists["HTTPRoute"], "500", failing(410, "Expired", "too old"))(w, r, number)
	}
	if _, snapshot := readSnapshot(t, mustWrite(t, s.cluster(t, nil), ReadOptions{}, false)); len(snapshot.Routes) != 501 {
		t.Errorf("%d routes, want 501", len(snapshot.Routes))
	}
}

// An optional kind that may not be read is recorded, and costs nothing else.
func TestWriteSnapshotWithoutOptionalKind(t *testing.T) {
	s := newFakeServer(t, world)
	s.fault = at(lists["ClusterIssuer"], "", failing(403, "Forbidden", "no"))
	header, _ := readSnapshot(t, mustWrite(t, s.cluster(t, nil), ReadOptions{Namespaces: []string{"infra", "app", "infra"}}, false))
	if missing := header.Missing(); missing != nil {
		t.Errorf("missing are %q", missing)
	}
	if diff := cmp.Diff([]string{"app", "infra"}, header.Namespaces); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
}

// Files that cannot be written are an error, never a short snapshot.
func TestWriteSnapshotWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	var out bytes.Buffer
	_, err := newFakeServer(t, world).cluster(t, nil).WriteSnapshot(t.Context(), &out, ReadOptions{}, true)
	if !errors.Is(err, os.ErrNotExist) || out.Len() > 0 {
		t.Errorf("error %v with %d bytes written", err, out.Len())
	}
}

// readSnapshot reads a snapshot's file as plan does.
func readSnapshot(t testing.TB, file string) (engine.SnapshotHeader, *engine.Snapshot) {
	t.Helper()
	var header engine.SnapshotHeader
	first, _, _ := strings.Cut(file, "\n---\n")
	if err := yaml.UnmarshalStrict([]byte(first), &header); err != nil {
		t.Fatal(err)
	}
	stream, err := postrender.Read([]byte(file), postrender.ReadOptions{Source: "snapshot.yaml", Live: true, Services: true})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &engine.Snapshot{Complete: len(header.Missing()) == 0, ReadNamespaces: header.Namespaces}
	for _, kind := range []string{engine.KindIssuer, engine.KindClusterIssuer} {
		if header.Has(engine.GroupKind{Group: engine.CertManagerGroup, Kind: kind}) {
			snapshot.IssuerKinds = append(snapshot.IssuerKinds, kind)
		}
	}
	if err := stream.AddTo(snapshot); err != nil {
		t.Fatal(err)
	}
	return header, snapshot
}

// A snapshot that went through a file is the one that was read, and so is the
// plan.
func TestSnapshotRoundTrip(t *testing.T) {
	s := newFakeServer(t, manyRoutes(20)+world)
	c := s.cluster(t, nil)
	reading, err := c.Read(t.Context(), everything)
	if err != nil {
		t.Fatal(err)
	}
	header, snapshot := readSnapshot(t, mustWrite(t, c, everything, false))
	if header.Missing() != nil {
		t.Errorf("missing are %q", header.Missing())
	}
	equalSnapshots(t, reading.Snapshot, snapshot)
	if plan := planOf(t, snapshot); !strings.Contains(plan, `"hostname":"h00001.example.com"`) {
		t.Errorf("the plan is empty:\n%s", plan)
	}
}

// equalSnapshots compares snapshots, and the plans made of them.
func equalSnapshots(t *testing.T, want, got *engine.Snapshot) {
	t.Helper()
	options := cmp.Options{
		cmpopts.IgnoreFields(engine.Meta{}, "Source", "Index"),
		cmpopts.IgnoreFields(engine.Certificate{}, "Object"), // a file has more of it, which no plan shows
		cmpopts.IgnoreFields(engine.ReferenceGrant{}, "Object"),
		cmpopts.IgnoreFields(engine.Route{}, "Object"),
		cmpopts.IgnoreUnexported(engine.Snapshot{}, engine.SourceListener{}),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, options); diff != "" {
		t.Errorf("snapshot (-read +file):\n%s", diff)
	}
	if diff := cmp.Diff(planOf(t, want), planOf(t, got)); diff != "" {
		t.Errorf("plan (-read +file):\n%s", diff)
	}
}

func planOf(t *testing.T, snapshot *engine.Snapshot) string {
	t.Helper()
	plan, err := engine.Compute(snapshot, engine.PolicySources{Flags: engine.Keys{"attach": map[string]any{"from": "All"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan.Findings {
		plan.Findings[i].Source = "" // a file is named, a cluster is not
	}
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
