package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// added is what gatewright adds to a chart of testdata/charts: the hostnames of
// the new listeners, and the kinds of the new objects with their number.
type added struct {
	hostnames []string
	objects   map[string]int
}

// The charts, each rendered as release demo into namespace infra.
var charts = map[string]added{
	"allinone": {[]string{"api.example.com", "blog.example.com", "checkout.example.com", "shop.example.com"},
		map[string]int{"Certificate": 4}},
	"certificates": {[]string{"docs.example.com", "legacy.example.com", "pay.example.com", "wiki.example.com"},
		map[string]int{"ReferenceGrant": 1}},
	"empty": {},
	"listenerset": {[]string{"api.orders.example.com", "orders.example.com", "search.example.com", "www.example.com"},
		map[string]int{"Certificate": 4}},
	"lists":    {[]string{"a.example.com", "b.example.com"}, map[string]int{"Certificate": 2}},
	"plain":    {},
	"platform": {[]string{"status.example.com"}, map[string]int{"Certificate": 1}},
	"shop":     {},
	"umbrella": {[]string{"login.example.com", "portal.example.com"}, map[string]int{"Certificate": 2}},
	"wildcard": {[]string{"*.example.com", "db.example.com", "example.com"}, map[string]int{"Certificate": 1}},
}

func TestChartsAreAllTested(t *testing.T) {
	entries, err := os.ReadDir(chartsFolder)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		if entry.IsDir() {
			found = append(found, entry.Name())
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(charts)), found); diff != "" {
		t.Errorf("charts in the table and in %s differ (-table +folder):\n%s", chartsFolder, diff)
	}
}

func TestBothHelmsRenderEveryChart(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		for name, want := range charts {
			t.Run(name, func(t *testing.T) {
				plain := helm.template(t, name)
				rendered := helm.template(t, name, helm.postRender()...)

				if diff := cmp.Diff(want.hostnames, minus(hostnames(t, rendered), hostnames(t, plain))); diff != "" {
					t.Errorf("hostnames of added listeners (-want +got):\n%s", diff)
				}
				before, after := objects(t, plain), objects(t, rendered)
				if lost := minus(before, after); len(lost) > 0 {
					t.Errorf("objects are lost: %q", lost)
				}
				got := map[string]int{}
				for _, object := range minus(after, before) {
					kind, _, _ := strings.Cut(object, " ")
					got[kind]++
				}
				if len(want.objects) != len(got) || cmp.Diff(want.objects, got) != "" && len(got) > 0 {
					t.Errorf("added objects are %v, want %v", got, want.objects)
				}
			})
		}
	})
}

// A chart without anything to do comes out as it would without a post-renderer.
func TestNothingToDoChangesNothing(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		for _, name := range []string{"plain", "shop"} {
			plain, _ := helm.identity(t, name)
			rendered := helm.template(t, name, helm.postRender()...)
			if diff := cmp.Diff(plain, rendered); diff != "" {
				t.Errorf("chart %s (-without +with gatewright):\n%s", name, diff)
			}
		}
	})
}

func TestSecondRunChangesNothing(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		for name := range charts {
			rendered := helm.template(t, name, helm.postRender()...)
			again := gatewright(t, rendered, "post-render", "--namespace=infra")
			if len(objects(t, rendered)) == 0 && strings.HasPrefix(again, rendered) {
				continue // a comment is added for Helm 4, which refuses an empty output
			}
			if diff := cmp.Diff(rendered, again); diff != "" {
				t.Errorf("chart %s, second run (-first +second):\n%s", name, diff)
			}
		}
	})
}

func TestBothStreamsGiveOnePlan(t *testing.T) {
	for name := range charts {
		var plans []string
		eachHelm(t, func(t *testing.T, helm helm) {
			_, stream := helm.identity(t, name)
			plans = append(plans, gatewright(t, stream, "plan", "--namespace=infra", "-o", "json"))
		})
		if len(plans) != 2 {
			t.Fatalf("%d plans, want one of each Helm", len(plans))
		}
		if diff := cmp.Diff(plans[0], plans[1]); diff != "" {
			t.Errorf("chart %s: plan of Helm 3's stream and of Helm 4's differ (-3 +4):\n%s", name, diff)
		}
	}
}

func TestHooksPassThroughAndClaimNothing(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		rendered := helm.template(t, "shop", helm.postRender()...)
		for _, hook := range []string{"Job demo-migrate", "HTTPRoute demo-maintenance", "Pod demo-connection"} {
			if !slices.Contains(objects(t, rendered), hook) {
				t.Errorf("hook %s is lost", hook)
			}
		}
		_, stream := helm.identity(t, "shop")
		plan := gatewright(t, stream, "plan", "--namespace=infra", "-o", "json")
		if strings.Contains(plan, "maintenance.shop.example.com") {
			t.Errorf("the hook's hostname is in the plan:\n%s", plan)
		}
		if !strings.Contains(plan, "orders.shop.example.com") {
			t.Errorf("the GRPCRoute's hostname is not in the plan:\n%s", plan)
		}
	})
}

// What is added has a template's name, so that Helm can show it alone.
func TestShowOnlyFindsAddedObjects(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		for _, template := range []string{"templates/gatewright.yaml", "templates/gateway.yaml"} {
			shown := helm.template(t, "allinone", append(helm.postRender(), "--show-only", template)...)
			if len(objects(t, shown)) == 0 || !strings.Contains(shown, "shop.example.com") {
				t.Errorf("--show-only %s shows:\n%s", template, shown)
			}
		}
	})
}

// Helm 3 writes the files of --output-dir before it runs the post-renderer, and
// hands it nothing; Helm 4 writes what came out.
func TestOutputDirHoldsWhatHelmMakesOfIt(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm helm) {
		dir := t.TempDir()
		helm.template(t, "allinone", append(helm.postRender(), "--output-dir", dir)...)
		gateway, err := os.ReadFile(filepath.Join(dir, "allinone", "templates", "gateway.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(string(gateway), "shop.example.com"), helm.major == 4; got != want {
			t.Errorf("the Gateway's file has computed listeners: %v, want %v", got, want)
		}
		_, err = os.Stat(filepath.Join(dir, "allinone", "templates", "gatewright.yaml"))
		if got, want := err == nil, helm.major == 4; got != want {
			t.Errorf("added objects have a file: %v, want %v", got, want)
		}
	})
}

func TestHelm4InstallsTheArchive(t *testing.T) {
	got := newHelm(t, 4).run(t, "plugin", "list")
	if got.err != nil || got.stderr != "" || !strings.Contains(got.stdout, "gatewright\t"+pluginVersion) {
		t.Errorf("want gatewright %s in the list of plugins: %v", pluginVersion, got)
	}
}

// Helm 3 gives up on all its plugins where one is written for Helm 4, so the
// README tells to keep them apart.
func TestHelm3MustNotSeeThePlugin(t *testing.T) {
	helm := newHelm(t, 3)
	if got := helm.run(t, "plugin", "list"); got.err != nil || got.stderr != "" || strings.Contains(got.stdout, "gatewright") {
		t.Errorf("in a folder of its own, Helm 3 should find no plugin and nothing to complain of: %v", got)
	}
	helm.home = newHelm(t, 4).home
	if got := helm.run(t, "plugin", "list"); got.err == nil || !strings.Contains(got.stderr, "failed to load plugins") {
		t.Errorf("Helm 3 gets along with plugins for Helm 4 now; the README need not warn: %v", got)
	}
}
