//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// TestEveryFlagIsOnAPage looks each flag of each command up on the pages.
func TestEveryFlagIsOnAPage(t *testing.T) {
	var pages bytes.Buffer
	for _, page := range []string{"README.md", "postrender/README.md", "jobs/README.md", "flux/README.md", "charts/gatewright/README.md"} {
		text, err := os.ReadFile(filepath.Join(repository, page))
		if err != nil {
			t.Fatal(err)
		}
		pages.Write(text)
	}
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z0-9-]+)`)
	seen := 0
	for _, command := range []string{"post-render", "plan", "explain", "sweep", "snapshot", "flux render", "flux check"} {
		var help bytes.Buffer
		args := append(strings.Fields(command), "--help")
		if code := cli.Main(t.Context(), args, nil, &help, &help, cli.Program{}); code != 0 {
			t.Fatalf("%s --help: exit code %d", command, code)
		}
		_, flags, _ := strings.Cut(help.String(), "\nFlags:\n")
		for _, match := range flag.FindAllStringSubmatch(flags, -1) {
			seen++
			if name := match[1]; name != "--help" && !regexp.MustCompile(name+`\b[^-]`).Match(pages.Bytes()) {
				t.Errorf("%s %s is on no page", command, name)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d flags are seen, so the help is not read", seen)
	}
}
