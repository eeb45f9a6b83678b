package charttest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// features are sets of values that differ in the rights they grant, each with
// the policy that makes use of them.
var features = map[string]feature{
	"default":              {values: `{}`},
	"no events":            {values: `{events: {enabled: false}}`},
	"redirects":            {values: `{redirects: {enabled: true}}`, policy: redirect, later: noRedirect},
	"services":             {values: `{services: {read: true}}`, policy: served, later: served},
	"retention":            {values: `{secretRetention: {enabled: true}}`, policy: retention, later: retention},
	"flux":                 {values: `{flux: {enabled: true}}`},
	"infrastructure":       {values: `{infrastructure: {report: true}}`},
	"all":                  {values: `{` + all + `}`, policy: redirect + served + retention, later: noRedirect + served + retention},
	"all in one namespace": {values: `{` + all + `, namespaces: [NS]}`, policy: redirect + served + retention, later: noRedirect + served + retention},
}

const (
	all = `redirects: {enabled: true}, services: {read: true}, secretRetention: {enabled: true},
		flux: {enabled: true}, infrastructure: {report: true}`
	redirect   = `, http: {listener: true, redirect: true}`
	noRedirect = `, http: {listener: true, redirect: false}`
	served     = `, withdraw: Served, passthrough: [{name: db, port: 443, hostname: "*.db.example.com"}]`
	retention  = `, secretRetention: Delete`
)

// A hostname comes and goes again while the sweep runs as the ServiceAccount.
// Every right that it uses is granted, and every right that is granted it uses.
func TestRightsAreThoseUsed(t *testing.T) {
	for name, feature := range features {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.tell(feature)
			if refused := sorted(s.recorder.refused); len(refused) > 0 {
				t.Errorf("the sweep uses rights that the chart does not grant: %q", refused)
			}
			if diff := cmp.Diff(sorted(s.granted(t)), sorted(s.recorder.used)); diff != "" {
				t.Errorf("rights granted (-) and used (+):\n%s", diff)
			}
		})
	}
}

// A dry run needs no right to write, and has none.
func TestDryRunHasNoRightToWrite(t *testing.T) {
	s := newStory(t)
	s.tell(feature{values: `{dryRun: true, ` + all + `}`, policy: redirect + served + retention, later: noRedirect + served + retention})
	if refused := sorted(s.recorder.refused); len(refused) > 0 {
		t.Errorf("the dry run uses rights that the chart does not grant: %q", refused)
	}
	for _, right := range sorted(s.granted(t).Union(s.recorder.used)) {
		if verb, _, _ := strings.Cut(right, " "); verb != "get" && verb != "list" {
			t.Errorf("a dry run may %s", right)
		}
	}
}
