package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/cmd/internal/scripttest"
)

// TestMain installs this program and the lean one, as a release does, side by
// side.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gatewright-full": main,
		"gatewright":      lean,
	})
}

func lean() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, cli.Program{}))
}

// TestScript runs the scripts. UPDATE=1 rewrites what they compare with.
func TestScript(t *testing.T) {
	testscript.Run(t, scripttest.Params(t))
}
