package flux

import (
	"strings"
	"testing"
)

// TestOurEntryIsReplaced has an entry of ours that is out of date, and one of
// somebody else that was put behind it.
func TestOurEntryIsReplaced(t *testing.T) {
	first, _ := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	first["edge.yaml"] += "  - kustomize:\n      images: [{name: a, newTag: b}] # theirs\n"
	second, _ := mustRender(t, first, renders(edge, strings.Replace(route, "shop.example", "new.example", 1)))
	text := second["edge.yaml"]
	if strings.Count(text, patchHead) != 1 || strings.Contains(text, "shop.example") || !strings.Contains(text, "# theirs") {
		t.Errorf("not replaced:\n%s", text)
	}
	if strings.Index(text, "# theirs") > strings.Index(text, patchHead) {
		t.Errorf("ours is not the last:\n%s", text)
	}
	if companion := second["edge.gatewright.yaml"]; strings.Contains(companion, "shop.example") || !strings.Contains(companion, "new.example") {
		t.Errorf("the companion file is not replaced:\n%s", companion)
	}
}

// TestListed checks the path by which a kustomization lists a companion file.
func TestListed(t *testing.T) {
	for at, want := range map[string]string{"a/b": "- edge.gatewright.yaml", "a": "- b/edge.gatewright.yaml", ".": "- a/b/edge.gatewright.yaml", "c": `- "../a/b/edge.gatewright.yaml"`} {
		name := strings.TrimPrefix(at+"/kustomization.yaml", "./")
		listed := strings.Replace(strings.Trim(want, `- "`), "edge.gatewright", "edge", 1)
		r, _ := mustRender(t, repo{"a/b/edge.yaml": edgeRelease, "source.yaml": source, name: "resources:\n- " + listed + "\n"}, renders(edge, route))
		if got := r[name]; got != "resources:\n- "+listed+"\n"+want+"\n" {
			t.Errorf("in %s:\n%s", at, got)
		}
	}
}

// TestChartBringsTheListener has a chart that by now brings a listener for the
// hostname itself, under a name of its own or under ours: the patch goes.
func TestChartBringsTheListener(t *testing.T) {
	first, result := mustRender(t, repo{"edge.yaml": edgeRelease, "source.yaml": source}, renders(edge, route))
	for _, name := range []string{"own", result.Releases[0].Plan.Gateways[0].Listeners[0].Name} {
		listener := "  - {name: " + name + ", port: 443, protocol: HTTPS, hostname: shop.example.com, tls: {certificateRefs: [{name: own-tls}]}}\n"
		after, _ := mustRender(t, first, renders(edge+listener, route))
		if strings.Contains(after["edge.yaml"], "/spec/listeners/-") || after["edge.gatewright.yaml"] != "" {
			t.Errorf("listener %s: still there: %v", name, after)
		}
		out := applied(t, after, "edge.yaml", "", chart(edge+listener, route))
		if strings.Count(out, "hostname: shop.example.com") != 1 {
			t.Errorf("listener %s:\n%s", name, out)
		}
	}
}
