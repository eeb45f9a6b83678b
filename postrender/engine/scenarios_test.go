package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// scenario is an entry of a file of testdata/scenarios; the README there
// explains the keys.
type scenario struct {
	ID            string `json:"id"`
	NotApplicable string `json:"notApplicable"`
	Property      string `json:"property"`
	scenarioCase
	Cases []scenarioCase `json:"cases"`
}

// scenarioCase is one run, or several that follow each other.
type scenarioCase struct {
	scenarioRun
	Steps []scenarioRun `json:"steps"`
}

type scenarioRun struct {
	Shows  string          `json:"shows"`
	Judged string          `json:"judged"`
	Given  *scenarioGiven  `json:"given"`
	Expect *scenarioExpect `json:"expect"`
}

// scenarioIDs are those that must be there.
const scenarioIDs = `S01 S02 S03 S04 S06 S07 S09 S10 S12 S13 S15 S16 S18 S19 S21 S22 S24 S25 S27 S28 S30 S31 S32 S33 S34 S36
	S37 S39 S40 S41 S42 S43 S44 S45 S46 S48 S49 S51 S52 S54 S55 S57 S58 S59 S60 S61 S63 S64 S66 S67 S69 S70 S72 S73 S75 S76
	S78 S79 S81 S82 S83 S84 S85 S87 S88 S90 S91 S93 S94 S96 S97 S99 S100 S102 S103 S104 S105 S106 S108 S109 S111 S112 S114
	S115 S117 S118 S120 S121 S123 S124 S126 S127 S129 S130`

// properties are checked on every run of every scenario.
var properties = map[string]func(*scenarioResult) []string{
	"order":    orderProblems,
	"aliasing": aliasingProblems,
	"kinds":    kindsProblems,
}

// TestScenarios runs every scenario of testdata/scenarios, and checks that all
// are there.
func TestScenarios(t *testing.T) {
	var ids []string
	for _, s := range readScenarios(t) {
		ids = append(ids, s.ID)
		t.Run(s.ID, func(t *testing.T) { s.run(t) })
	}
	for _, id := range strings.Fields(scenarioIDs) {
		if !slices.Contains(ids, id) {
			t.Errorf("scenario %s is missing", id)
		}
	}
	if want := len(strings.Fields(scenarioIDs)); len(ids) != want {
		t.Errorf("%d scenarios, want %d", len(ids), want)
	}
}

func readScenarios(t *testing.T) []scenario {
	t.Helper()
	const dir = "testdata/scenarios"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []scenario
	for _, entry := range entries {
		if entry.Name() == "README.md" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var file []scenario
		if err := yaml.UnmarshalStrict(data, &file); err != nil || len(file) == 0 || !strings.HasPrefix(string(data), "# ") {
			t.Fatalf("%s: %v, %d scenarios; it begins with a comment that says what they are about", entry.Name(), err, len(file))
		}
		all = append(all, file...)
	}
	return all
}

func (s *scenario) run(t *testing.T) {
	if s.Shows == "" {
		t.Error("it does not say what it shows")
	}
	switch {
	case s.NotApplicable != "":
		t.Skipf("%s says nothing about the engine. %s", s.Shows, s.NotApplicable)
	case s.Property != "":
		if properties[s.Property] == nil {
			t.Errorf("there is no property %s", s.Property)
		}
		return
	}
	cases := s.cases()
	if len(cases) == 0 {
		t.Error("it holds no run")
	}
	for i, c := range cases {
		for _, problem := range c.problems(t) {
			t.Errorf("case %d %s\n%s", i+1, c.Shows, problem)
		}
	}
}

// cases returns the independent sequences of runs of the scenario.
func (s *scenario) cases() []scenarioCase {
	if len(s.Cases) > 0 {
		return s.Cases
	}
	if s.Given == nil && len(s.Steps) == 0 {
		return nil
	}
	return []scenarioCase{s.scenarioCase}
}

// problems carries out the steps, each on what the one before left behind.
func (c *scenarioCase) problems(t *testing.T) []string {
	t.Helper()
	steps := c.Steps
	if len(steps) == 0 {
		steps = []scenarioRun{c.scenarioRun}
	}
	var out []string
	left := leftBehind{}
	for i, step := range steps {
		if step.Given == nil || step.Expect == nil {
			t.Fatal("a run needs given and expect")
		}
		result := step.Given.compute(t, left)
		out = append(out, result.compare(step.Expect, i > 0)...)
		if result.err == nil {
			for _, check := range properties {
				out = append(out, check(result)...)
			}
			out = append(out, fixedProblems(result)...)
			left = result.apply()
		}
	}
	return out
}

// TestScenariosCanFail spoils each expectation in turn and wants it noticed, so
// that no scenario holds whatever the engine does.
func TestScenariosCanFail(t *testing.T) {
	for name, spoil := range spoilers {
		spoiled := 0
		for _, s := range readScenarios(t) {
			for i, c := range s.cases() {
				steps := append(slices.Clone(c.Steps), c.scenarioRun)
				for j := range steps {
					if steps[j].Expect == nil || !spoil(steps[j].Expect) {
						continue
					}
					spoiled++
					if len(c.problems(t)) == 0 {
						t.Errorf("%s case %d step %d holds with %s spoiled", s.ID, i+1, j+1, name)
					}
					break
				}
			}
		}
		if spoiled == 0 {
			t.Errorf("no scenario expects %s", name)
		}
		t.Logf("%s: spoiled %d", name, spoiled)
	}
}

// spoilers change one part of an expectation, and say whether it has that part.
var spoilers = map[string]func(*scenarioExpect) bool{
	"listeners": func(e *scenarioExpect) bool {
		e.Listeners = append(e.Listeners, "HTTPS spoiled.a.example.com:443 from own")
		return e.Error == ""
	},
	"a listener less": func(e *scenarioExpect) bool { return drop(&e.Listeners) },
	"certs":           func(e *scenarioExpect) bool { e.Certs = append(e.Certs, []string{"spoiled"}); return e.Error == "" },
	"a cert less":     func(e *scenarioExpect) bool { return drop(&e.Certs) },
	"a verdict": func(e *scenarioExpect) bool {
		for route := range e.Verdicts {
			e.Verdicts[route] = "Spoiled"
		}
		return len(e.Verdicts) > 0
	},
	"a verdict less": func(e *scenarioExpect) bool {
		for route := range e.Verdicts {
			delete(e.Verdicts, route)
			return true
		}
		return false
	},
	"mentions":   func(e *scenarioExpect) bool { return addTo(e.Mentions, "spoiled") },
	"silentOn":   func(e *scenarioExpect) bool { return addTo(e.SilentOn, "example.com") },
	"refused":    func(e *scenarioExpect) bool { return addTo(e.Refused, "spoiled") },
	"findings":   func(e *scenarioExpect) bool { e.Findings = append(e.Findings, "Spoiled"); return e.Error == "" },
	"noFindings": func(e *scenarioExpect) bool { e.NoFindings = e.Findings; return len(e.Findings) > 0 },
	"changes": func(e *scenarioExpect) bool {
		if len(e.Changes) > 0 {
			e.Changes[0] = "spoiled"
		}
		return len(e.Changes) > 0
	},
	"entries": func(e *scenarioExpect) bool {
		for entry := range e.Entries {
			e.Entries[entry] = "spoiled"
		}
		return len(e.Entries) > 0
	},
	"error": func(e *scenarioExpect) bool { e.Error += "spoiled"; return e.Error != "spoiled" },
}

func drop[T any](list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	*list = (*list)[1:]
	return true
}

func addTo(texts map[string][]string, text string) bool {
	for route := range texts {
		texts[route] = append(texts[route], text)
	}
	return len(texts) > 0
}
