package charttest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

// features are sets of values that differ in the rights they grant, each with
// the policy that makes use of them.
var features = map[string]feature{
	"default":        {values: `{}`},
	"no events":      {values: `{events: {enabled: false}}`},
	"redirects":      {values: `{redirects: {enabled: true}}`, policy: redirect, later: noRedirect},
	"services":       {values: `{services: {read: true}}`, policy: served, later: served},
	"retention":      {values: `{secretRetention: {enabled: true}}`, policy: retention, later: retention},
	"flux":           {values: `{flux: {enabled: true}}`},
	"infrastructure": {values: `{infrastructure: {report: true}}`},
	"all":            {values: `{` + all + `}`, policy: redirect + served + retention, later: noRedirect + served + retention},
	"dry run":        {values: `{` + all + `}`, dry: `dryRun: true`, policy: redirect + served + retention, later: noRedirect + served + retention},
}

const (
	all = `redirects: {enabled: true}, services: {read: true}, secretRetention: {enabled: true},
		flux: {enabled: true}, infrastructure: {report: true}`
	redirect   = `, http: {listener: true, redirect: true}`
	noRedirect = `, http: {listener: true, redirect: false}`
	served     = `, withdraw: Served, passthrough: [{name: db, port: 443, hostname: "*.db.example.com"}]`
	retention  = `, secretRetention: Delete`
)

// A hostname comes and goes again while the sweep runs as the ServiceAccount,
// with rights everywhere or in one namespace. Every right that it uses is
// granted, and every right that is granted it uses: in that namespace, and of
// that name.
func TestRightsAreThoseUsed(t *testing.T) {
	for name, feature := range features {
		t.Run(name, func(t *testing.T) { checkRights(t, feature) })
		t.Run(name+" in one namespace", func(t *testing.T) {
			feature.values = "{namespaces: [NS], " + strings.TrimPrefix(feature.values, "{")
			checkRights(t, feature)
		})
	}
}

func checkRights(t *testing.T, f feature) {
	t.Helper()
	s := newStory(t)
	s.tell(f)
	if refused := sorted(s.recorder.refused); len(refused) > 0 {
		t.Errorf("the sweep uses rights that the chart does not grant: %q", refused)
	}
	granted := s.granted(t)
	if diff := cmp.Diff(sorted(granted), sorted(usedOf(granted, s.recorder.done))); diff != "" {
		t.Errorf("rights granted (-) and used (+):\n%s", diff)
	}
	if f.dry != "" {
		wantReadsAlone(t, granted)
	}
}

// A dry run needs no right to write, and has none.
func wantReadsAlone(t *testing.T, granted []right) {
	t.Helper()
	for _, r := range granted {
		if !r.reads() {
			t.Errorf("a dry run may, or does, %s", r)
		}
	}
}

// The comparison sees what is granted too widely, and what is not granted.
func TestRightsAreCompared(t *testing.T) {
	done := []right{{"list", "gateways", "", ""}, {"get", "leases", "ops", "sweep"}, {"patch", "certificates", "infra", "a"}}
	exact := []right{{"list", "gateways", "", ""}, {"get", "leases", "ops", "sweep"}, {"patch", "certificates", "infra", ""}}
	for name, tt := range map[string]struct{ granted, unused, missing []right }{
		"what is used":                {granted: exact},
		"one verb more":               {granted: append([]right{{"watch", "gateways", "", ""}}, exact...), unused: []right{{"watch", "gateways", "", ""}}},
		"one resource more":           {granted: append([]right{{"list", "secrets", "", ""}}, exact...), unused: []right{{"list", "secrets", "", ""}}},
		"everywhere besides":          {granted: append([]right{{"patch", "certificates", "", ""}}, exact...), unused: []right{{"patch", "certificates", "", ""}}},
		"all names besides":           {granted: append([]right{{"get", "leases", "ops", ""}}, exact...), unused: []right{{"get", "leases", "ops", ""}}},
		"another name":                {granted: append([]right{{"get", "leases", "ops", "other"}}, exact...), unused: []right{{"get", "leases", "ops", "other"}}},
		"one verb less":               {granted: exact[1:], missing: done[:1]},
		"in another namespace":        {granted: append([]right{{"patch", "certificates", "other", ""}}, exact[:2]...), unused: []right{{"patch", "certificates", "other", ""}}, missing: done[2:]},
		"in a namespace, used widely": {granted: append([]right{{"list", "gateways", "infra", ""}}, exact[1:]...), unused: []right{{"list", "gateways", "infra", ""}}, missing: done[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			granted, used := sets.New(tt.granted...), sets.New(usedOf(tt.granted, done)...)
			if diff := cmp.Diff(sorted(tt.unused), sorted(granted.Difference(used).UnsortedList())); diff != "" {
				t.Errorf("granted and not used (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(sorted(tt.missing), sorted(used.Difference(granted).UnsortedList())); diff != "" {
				t.Errorf("used and not granted (-want +got):\n%s", diff)
			}
		})
	}
}
