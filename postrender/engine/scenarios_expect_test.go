package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// scenarioExpect is what a run must give.
type scenarioExpect struct {
	Listeners  []string            `json:"listeners"`
	Certs      [][]string          `json:"certs"`
	Verdicts   map[string]any      `json:"verdicts"`
	Mentions   map[string][]string `json:"mentions"`
	SilentOn   map[string][]string `json:"silentOn"`
	Refused    map[string][]string `json:"refused"`
	Entries    map[string]string   `json:"entries"`
	Findings   []string            `json:"findings"`
	NoFindings []string            `json:"noFindings"`
	Changes    []string            `json:"changes"`
	Error      string              `json:"error"`
}

// compare returns how the result differs from what is expected.
func (r *scenarioResult) compare(want *scenarioExpect, later bool) []string {
	if r.err != nil || want.Error != "" {
		if r.err == nil || want.Error == "" || !strings.Contains(r.err.Error(), want.Error) {
			return []string{fmt.Sprintf("error %v, want %q", r.err, want.Error)}
		}
		return nil
	}
	var out []string
	differ := func(what string, want, got any) {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			out = append(out, what+" (-want +got):\n"+diff)
		}
	}
	differ("listeners", want.Listeners, r.listenerLines())
	differ("certs", want.Certs, r.certs())
	differ("verdicts", want.Verdicts, r.verdicts())
	if later {
		differ("changes", want.Changes, r.changes())
	}
	for route, refused := range want.Refused {
		differ("refused hostnames of "+route, refused, r.refusedOf(route))
	}
	return append(out, append(r.compareMessages(want), r.compareEntries(want.Entries)...)...)
}

func (r *scenarioResult) compareMessages(want *scenarioExpect) []string {
	var out []string
	for route, words := range want.Mentions {
		for _, word := range words {
			if text := r.heard(route); !strings.Contains(text, word) {
				out = append(out, fmt.Sprintf("%s is not told of %s:\n%s", route, word, text))
			}
		}
	}
	for route, words := range want.SilentOn {
		for _, word := range words {
			if text := r.heard(route); strings.Contains(text, word) {
				out = append(out, fmt.Sprintf("%s is told of %s:\n%s", route, word, text))
			}
		}
	}
	found := func(finding string) bool {
		return slices.ContainsFunc(r.plan.Findings, func(f Finding) bool { return strings.HasPrefix(f.Code+" "+f.Object, finding) })
	}
	for _, finding := range want.Findings {
		if !found(finding) {
			out = append(out, fmt.Sprintf("no finding %s:\n%s", finding, mustJSON(r.plan.Findings)))
		}
	}
	for _, finding := range want.NoFindings {
		if found(finding) {
			out = append(out, "finding "+finding)
		}
	}
	return out
}

// compareEntries looks at the refused entries of passthrough: exactly the
// expected ones, each with its reason.
func (r *scenarioResult) compareEntries(want map[string]string) []string {
	var out []string
	left := maps.Clone(want)
	for _, v := range r.plan.Verdicts {
		message, isEntry := strings.CutPrefix(v.Message, "passthrough entry ")
		if v.Kind != KindGateway || v.Accepted || !isEntry {
			continue
		}
		quoted, reason, _ := strings.Cut(message, ": ")
		name, err := strconv.Unquote(quoted)
		key := name + " " + v.Hostname
		if because, expected := left[key]; err != nil || !expected || !strings.Contains(reason, because) {
			out = append(out, fmt.Sprintf("entry %s is refused: %s; want %q", key, reason, because))
		}
		delete(left, key)
	}
	for entry := range left {
		out = append(out, "entry "+entry+" is not refused")
	}
	return out
}
