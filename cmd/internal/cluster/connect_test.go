package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gatewright/gatewright/cmd/internal/cli"
)

// kubeconfig writes a file with the contexts; each has a server of its own, whose
// address ends in its name.
func kubeconfig(t *testing.T, server string, contexts ...string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Config\ncurrent-context: %s\nclusters:\n", contexts[0])
	for _, name := range contexts {
		fmt.Fprintf(&b, "- {name: %s, cluster: {server: %s/%s}}\n", name, server, name)
	}
	b.WriteString("contexts:\n")
	for _, name := range contexts {
		fmt.Fprintf(&b, "- {name: %s, context: {cluster: %s}}\n", name, name)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The cluster is found as kubectl finds it.
func TestConnect(t *testing.T) {
	defer func(file string) { clientcmd.RecommendedHomeFile = file }(clientcmd.RecommendedHomeFile)
	var asked atomic.Value // the name of the server, from its address
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		asked.Store(name)
		http.Error(w, "", http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	given, home := kubeconfig(t, server.URL, "given", "other"), t.TempDir()
	env := kubeconfig(t, server.URL, "env")
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(kubeconfig(t, server.URL, "home"), filepath.Join(home, ".kube", "config")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		connection cli.Connection
		env, home  string
		want       string // the server asked
		says       string // or the error
	}{
		{name: "--kubeconfig", connection: cli.Connection{Kubeconfig: given}, env: env, home: home, want: "given"},
		{name: "--context", connection: cli.Connection{Kubeconfig: given, Context: "other"}, want: "other"},
		{name: "KUBECONFIG", env: env, home: home, want: "env"},
		{name: "several in KUBECONFIG", connection: cli.Connection{Context: "given"}, env: env + string(os.PathListSeparator) + given, want: "given"},
		{name: "home", home: home, want: "home"},
		{name: "none", says: "no cluster is known: give --kubeconfig, or set KUBECONFIG"},
		{name: "KUBECONFIG that is not there", env: "nope.kc", says: "no cluster is known: KUBECONFIG names nope.kc, which does not exist; correct it"},
		{name: "KUBECONFIG that is empty", env: os.DevNull, says: "no cluster is known: KUBECONFIG=" + os.DevNull + " names none; correct it"},
		{name: "no such context", connection: cli.Connection{Kubeconfig: given, Context: "x"}, says: `context "x" does not exist; correct`},
		{name: "no such file", connection: cli.Connection{Kubeconfig: home + "/x"}, says: "no such file or directory; correct"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tt.env)
			clientcmd.RecommendedHomeFile = filepath.Join(tt.home, ".kube", "config") // read from HOME when the program starts
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			asked.Store("")
			_, err := Snapshot(t.Context(), nil, cli.SnapshotRequest{Connection: tt.connection})
			if asked.Load() != tt.want || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("asked %q, want %q; error %v, want %q", asked.Load(), tt.want, err, tt.says)
			}
		})
	}
}
