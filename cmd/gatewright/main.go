// Command gatewright renders Gateway listeners and Certificates into manifests,
// and shows beforehand what it will do.
//
// It links neither Helm nor a Kubernetes client, so that it starts as fast as a
// program must that Helm runs on every command. Its twin gatewright-full does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// version is set by the linker in releases.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what does not heed the first
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, cli.Program{Version: version})
	stop()
	os.Exit(code)
}
