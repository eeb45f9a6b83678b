package postrender

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCorpus renders the streams of real charts, as Helm 3 and Helm 4 hand them
// over, if there is a folder with them: NAME.helm3.yaml and NAME.helm4.yaml.
// What is not a Gateway comes out as it went in, a second run changes nothing,
// and both Helms get the same plan.
func TestCorpus(t *testing.T) {
	const corpus = "../../shared/corpus"
	files, _ := filepath.Glob(corpus + "/*.helm3.yaml")
	if len(files) == 0 {
		t.Skipf("there are no streams of real charts in %s", corpus)
	}
	for _, file := range files {
		name, _, _ := bytes.Cut([]byte(filepath.Base(file)), []byte("."))
		t.Run(string(name), func(t *testing.T) {
			three := renderCorpus(t, filepath.Join(corpus, string(name)+".helm3.yaml"))
			four := renderCorpus(t, filepath.Join(corpus, string(name)+".helm4.yaml"))
			if diff := cmp.Diff(three, four); diff != "" {
				t.Errorf("the plans of Helm 3 and Helm 4 differ (-3 +4):\n%s", diff)
			}
		})
	}
}

func renderCorpus(t *testing.T, file string) (plan string) {
	t.Helper()
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	untouched, err := Render(in, Options{Namespace: "apps"})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, untouched), in) {
		t.Errorf("%s changed without a policy", file)
	}
	result, err := Render(in, issuing("apps"))
	if err != nil {
		t.Fatal(err)
	}
	out := written(t, result)
	checkKept(t, split(in), out, result.Plan)
	if len(result.Plan.Findings) == 0 {
		t.Errorf("%s ends in silence", file)
	}
	again, err := Render(out, issuing("apps"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, again), out) {
		t.Errorf("the second run of %s changes something", file)
	}
	return planText(t, result.Plan)
}
