package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"
)

// update makes a run rewrite the expected plans; it still fails.
var update = os.Getenv("UPDATE") != ""

// TestCases runs every file of testdata/cases: what a snapshot and a policy
// give. A file holds a comment (what it shows and why), optionally policy.yaml
// (the keys of one entry), flags.yaml and setup.yaml (namespace, complete, the
// listeners that our field manager owns, yields), the objects in input.yaml, what is
// known besides (--snapshot) in known.yaml, and the plan in want.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

type setup struct {
	Namespace string   `json:"namespace"`
	Complete  bool     `json:"complete"`
	Owned     []string `json:"owned"`
	// Released are the Certificates that our field manager does not own, NotReady
	// those without a certificate; the others are ours, and ready.
	Released []string `json:"released"`
	NotReady []string `json:"notReady"`
	// Edited are the Certificates that somebody writes to beside us.
	Edited []string `json:"edited"`
	// ServicesUnread says that Services were not read.
	ServicesUnread bool `json:"servicesUnread"`
	// IssuerKinds are those of which all issuers were read.
	IssuerKinds []string `json:"issuerKinds"`
	// ReadNamespaces are the only ones that were read.
	ReadNamespaces []string `json:"readNamespaces"`
	// Yield are hostnames to give up, each as NAMESPACE/NAME:HOSTNAME.
	Yield []string `json:"yield"`
	// What the sweep remembers of every parent: see [Gateway].
	Holders map[string]string `json:"holders"`
	Quotas  map[string]string `json:"quotas"`
}

func runCase(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	var s setup
	mustYAML(t, parts["setup.yaml"], &s)
	objects := parseObjects(t, parts["input.yaml"])
	got := explainPlan(t, objects, parts, s)
	for range 5 {
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		if again := explainPlan(t, objects, parts, s); again != got {
			t.Fatalf("the order of the objects matters:\n%s", cmp.Diff(got, again))
		}
	}
	if diff := cmp.Diff(parts["want"], got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
		if update {
			rewrite(t, file, archive, got)
		}
	}
}

func rewrite(t *testing.T, file string, archive *txtar.Archive, got string) {
	for i, f := range archive.Files {
		if f.Name == "want" {
			archive.Files = append(archive.Files[:i], archive.Files[i+1:]...)
			break
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustYAML(t testing.TB, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// parseObjects reads documents, and fills in the apiVersion that a case leaves
// out.
func parseObjects(t testing.TB, text string) []map[string]any {
	t.Helper()
	versions := map[string]string{
		KindCertificate: CertManagerGroup + "/v1", KindNamespace: "v1", KindSecret: "v1",
	}
	var objects []map[string]any
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object map[string]any
		mustYAML(t, document, &object)
		if object == nil {
			continue
		}
		if object["apiVersion"] == nil {
			object["apiVersion"] = GatewayGroup + "/v1"
			if version := versions[object["kind"].(string)]; version != "" {
				object["apiVersion"] = version
			}
		}
		objects = append(objects, object)
	}
	return objects
}

func explainPlan(t testing.TB, objects []map[string]any, parts map[string]string, s setup) string {
	t.Helper()
	snapshot := &Snapshot{Complete: s.Complete, ServicesUnread: s.ServicesUnread, ReadNamespaces: s.ReadNamespaces, IssuerKinds: s.IssuerKinds}
	for _, object := range objects {
		if err := snapshot.Decode(object, Origin{Namespace: s.Namespace}); err != nil {
			return "error " + err.Error() + "\n"
		}
	}
	for _, object := range parseObjects(t, parts["known.yaml"]) {
		if err := snapshot.Decode(object, Origin{Known: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range slices.Concat(snapshot.Gateways, snapshot.ListenerSets) {
		g.Holders, g.Quotas = s.Holders, s.Quotas
		for i := range g.Listeners {
			g.Listeners[i].Owned = slices.Contains(s.Owned, g.Listeners[i].Name)
		}
	}
	for _, c := range snapshot.Certificates {
		c.Owned, c.Ready = !slices.Contains(s.Released, c.Name), !slices.Contains(s.NotReady, c.Name)
		if slices.Contains(s.Edited, c.Name) {
			c.Owned, c.EditedBy = false, "kubectl-edit"
		}
	}
	for _, text := range s.Yield {
		parent, hostname, _ := strings.Cut(text, ":")
		namespace, name, _ := strings.Cut(parent, "/")
		snapshot.Yield(ObjectName{namespace, name}, hostname, time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))
	}
	policies := PolicySources{}
	if parts["policy.yaml"] != "" {
		file, err := ParsePolicyFile("policy.yaml", []byte("apiVersion: gatewright.dev/v1alpha1\nkind: Policy\ngateways:\n"+parts["policy.yaml"]))
		if err != nil {
			return "error " + err.Error() + "\n"
		}
		policies.File = file
	}
	mustYAML(t, parts["flags.yaml"], &policies.Flags)
	plan, err := Compute(snapshot, policies)
	if err != nil {
		return errorLines(err)
	}
	if null := regexp.MustCompile(`"[a-zA-Z]+":null`).Find(compactJSON(t, plan)); null != nil {
		t.Errorf("the plan has %s, where those who read it want a list", null)
	}
	return printPlan(plan)
}

func compactJSON(t testing.TB, value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func errorLines(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var b strings.Builder
		for _, e := range joined.Unwrap() {
			fmt.Fprintf(&b, "error %v\n", e)
		}
		return b.String()
	}
	return fmt.Sprintf("error %v\n", err)
}

func printListeners(b *strings.Builder, listeners []Listener) {
	for _, l := range listeners {
		fmt.Fprintf(b, "  %s %s %s:%d %s %s", l.Action, l.Name, l.Hostname, l.Port, l.Protocol, compact(l.AllowedRoutes["namespaces"]))
		if l.secretName != "" {
			fmt.Fprintf(b, " secret %s", placedName(l.secretNamespace, l.secretName))
		}
		b.WriteString(because(l.Action, l.object, l.Reason) + "\n")
	}
}

// because is the reason why what nothing claims goes, or stays as it is.
func because(action Action, object map[string]any, reason string) string {
	if action != Remove && object == nil {
		return ""
	}
	return ", " + reason
}

// printPlan prints a plan a line an entry.
func printPlan(p *Plan) string {
	var b strings.Builder
	for _, g := range p.Gateways {
		fmt.Fprintf(&b, "gateway %s\n", placedName(g.Namespace, g.Name))
		printListeners(&b, g.Listeners)
	}
	for _, g := range p.ListenerSets {
		fmt.Fprintf(&b, "listenerset %s\n", placedName(g.Namespace, g.Name))
		printListeners(&b, g.Listeners)
	}
	for _, c := range p.Certificates {
		fmt.Fprintf(&b, "certificate %s %s %s %s/%s%s\n", c.Action, placedName(c.Namespace, c.Name), strings.Join(c.DNSNames, ","), c.IssuerRef.Kind, c.IssuerRef.Name, because(c.Action, c.object, c.Reason))
	}
	for _, g := range p.Grants {
		fmt.Fprintf(&b, "grant %s %s from %s to %s\n", g.Action, placedName(g.Namespace, g.Name), strings.Join(g.From, ","), g.Secret)
	}
	for _, r := range p.Redirects {
		fmt.Fprintf(&b, "redirect %s %s on %s\n", r.Action, placedName(r.Namespace, r.Name), r.Listener)
	}
	for _, v := range p.Verdicts {
		fmt.Fprintf(&b, "%s %s %s: %s %s", v.Kind, placedName(v.Namespace, v.Name), v.Hostname, v.Reason, v.Listener)
		if !v.Accepted {
			b.WriteString(v.Message)
		}
		b.WriteString("\n")
	}
	for _, f := range p.Findings {
		if f.Code != CodeRefused {
			fmt.Fprintf(&b, "%s %s %s: %s\n", f.Severity, f.Code, f.Object, f.Message)
		}
	}
	return b.String()
}
