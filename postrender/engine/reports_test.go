package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// reports are faults that were reported of tools like this one, in public, and
// what shows that they are not here: cases, pitfalls and tests.
var reports = []struct{ id, fault, shown string }{
	{"B48", "a wildcard stood in a listener's name, and the whole Gateway was refused", "P3 P4 names-do-not-collide"},
	{"B49", "names that were cut collided, or ended in a dash", "P5 TestNamesOfAllClaimsDiffer TestNamesAreStable names-do-not-collide"},
	{"B51", "a commonName of more than 64 bytes was refused", "P43"},
	{"B52", "a name stood twice in a certificate request", "P41 one-certificate-for-many-claims hostname-on-two-ports"},
	{"B54", "two claims of one hostname made two listeners", "P11 claims-of-two-namespaces one-certificate-for-many-claims"},
	{"B55", "a hostname that was served already got a second listener", "served-by-hand annotated-certificate-handwritten"},
	{"B57", "HTTPS and passthrough of one hostname on one port closed the port", "P13 P15 tlsroute-on-handwritten-passthrough lint-same-hostname lint-mixed-tls"},
	{"B58", "listeners of one port took different kinds", "P26 kinds-of-routes"},
	{"B59", "the 65th listener made the whole Gateway fail, or was left out without a word", "P2 limit-64 limit-65 limit-cluster"},
	{"B60", "a route without hostnames got a listener for every hostname", "P34 no-hostnames"},
	{"B61", "hostnames were compared with their case", "P7 hostname-forms"},
	{"B62", "who writes and who removes disagreed on the last dot", "P7 hostname-forms FuzzEngine"},
	{"B64", "an IP address became a hostname", "P9 hostname-forms annotated-certificate-odd"},
	{"B65", "a Secret of another namespace was named without a grant", "P22 attach-list annotated-certificate-not-granted grant-again"},
	{"B66", "a listener took no routes of other namespaces, and nobody was told", "P23 attach-list attach-same"},
	{"B67", "two Certificates wrote one Secret in turn", "P46 annotated-certificate name-taken-by-secretname FuzzEngine"},
	{"B68", "cert-manager's shim wrote the Certificate too", "P47 shim shim-beside-issuer shim-ignored-listener"},
	{"B69", "labels that were copied from the Gateway made a Certificate look like one's own", "P48 certificate-of-the-shim"},
	{"B70", "a route of an ACME challenge was taken for an application", "P38 solver-route"},
	{"B71", "a route that asked for plain HTTP alone got a certificate", "P29 pinned pinned-to-claimed"},
	{"B73", "the last listener, or the one that challenges need, was removed", "P1 cluster-last-listener cluster-unclaimed plain-never-zero no-listener"},
	{"B74", "a wildcard was asked of an issuer that cannot give one", "P33 P40 lint-wildcard-dns01"},
	{"B76", "hosts that shared a certificate shared connections", "P55 lint-shared-secret lint-overlapping-tls"},
	{"B77", "one missing Secret of several took a listener down", "P20"},
	{"B78", "a hostname that came and went was issued anew each time", "P46 TestReturningClaim"},
	{"B79", "another version of a kind was not read, or its absence was an error", "P56 kinds-of-routes"},
}

// TestReports finds what shows each of them.
func TestReports(t *testing.T) {
	pitfalls := map[string]bool{}
	for _, list := range [][]pitfall{listenerPitfalls, hostnamePitfalls, routePitfalls, certificatePitfalls, issuancePitfalls} {
		for _, p := range list {
			pitfalls[p.id] = true
		}
	}
	tests := testsOfPackage(t)
	for _, r := range reports {
		for _, name := range strings.Fields(r.shown) {
			_, err := os.Stat("testdata/cases/" + name + ".txtar")
			if err != nil && !tests[name] && !pitfalls[name] {
				t.Errorf("%s (%s): there is no %s", r.id, r.fault, name)
			}
		}
	}
	if len(reports) != 26 {
		t.Errorf("there are %d reports of 26", len(reports))
	}
}

// testsOfPackage returns the names of the tests and fuzz targets.
func testsOfPackage(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// TestReturningClaim: a route that goes and comes back ten times, each time to a
// cluster that was swept, gets the very Certificate that it had, so that the
// Secret is not issued anew.
func TestReturningClaim(t *testing.T) {
	w := &world{objects: parseObjects(t, edge(plain)), complete: true, owned: map[string]bool{}, fresh: map[string]bool{}, policies: PolicySources{Flags: issuer()}}
	claim := parseObjects(t, shop("a.example.com"))[0]
	made := map[string]bool{}
	for range 10 {
		for _, present := range []bool{true, false} {
			w.objects = slices.DeleteFunc(w.objects, func(object map[string]any) bool { return keyOf(object) == keyOf(claim) })
			if present {
				w.objects = append(w.objects, claim)
			}
			plan, err := w.compute(w.objects)
			if err != nil {
				t.Fatal(err)
			}
			w.objects = w.apply(plan)
			for _, object := range madeBy(plan) {
				made[compact(object)] = true
			}
			if present != (len(madeBy(plan)) == 1) {
				t.Fatalf("present: %v, made: %v", present, madeBy(plan))
			}
		}
	}
	if len(made) != 1 {
		t.Errorf("several Certificates for one hostname: %v", made)
	}
}
