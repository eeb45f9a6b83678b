package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/gatewright/gatewright/jobs/report"
	"github.com/gatewright/gatewright/postrender/engine"
)

// TestLeaveUnreadRendered: where the annotation rendered cannot be read, any
// listener may be the release's, which our manager owns until an apply of that.
func TestLeaveUnreadRendered(t *testing.T) {
	for _, rendered := range []string{"{", `{"version": "v9", "names": ["https-a"]}`} {
		s := &sweep{report: newRecorder(report.New(time.Now(), report.Write))} // no cluster, so a write panics
		p := &parent{source: &engine.Gateway{
			Meta:      engine.Meta{Kind: engine.KindGateway, Namespace: "infra", Name: "edge", Annotations: map[string]string{engine.AnnotationRendered: rendered}},
			Listeners: []engine.SourceListener{{Name: "https-a", Owned: true, Object: map[string]any{"name": "https-a"}}},
		}}
		p.rendered = p.source.Rendered()
		p.plan = p.withoutOurs()
		s.leaveParent(t.Context(), p)
		if problems := s.report.Problems; len(problems) != 1 || !strings.Contains(problems[0].Message, engine.AnnotationRendered) {
			t.Errorf("%s: problems %v", rendered, problems)
		}
	}
}
