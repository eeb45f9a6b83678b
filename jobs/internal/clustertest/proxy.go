package clustertest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Proxy starts a server in front of the API server whose requests pass through
// the wrappers, the first one outermost, so that the requests of another
// process can be recorded and go wrong. Who shows no token is the
// administrator. It returns the URL.
func (e *Env) Proxy(t testing.TB, wrappers ...func(http.RoundTripper) http.RoundTripper) string {
	t.Helper()
	target, err := url.Parse(e.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := rest.TransportFor(e.Config)
	if err != nil {
		t.Fatal(err)
	}
	anonymous, err := rest.TransportFor(rest.AnonymousClientConfig(e.Config))
	if err != nil {
		t.Fatal(err)
	}
	var transport http.RoundTripper = roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("Authorization") != "" {
			return anonymous.RoundTrip(req)
		}
		return admin.RoundTrip(req)
	})
	for _, wrap := range slices.Backward(wrappers) {
		transport = wrap(transport)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(server.Close)
	return server.URL
}

// ProxyKubeconfig is the path of a file that leads to a Proxy.
func (e *Env) ProxyKubeconfig(t testing.TB, proxy string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := writeKubeconfig(file, &api.Cluster{Server: proxy}, &api.AuthInfo{}, ""); err != nil {
		t.Fatal(err)
	}
	return file
}

func writeKubeconfig(file string, cluster *api.Cluster, user *api.AuthInfo, namespace string) error {
	config := api.NewConfig()
	config.Clusters["test"], config.AuthInfos["test"] = cluster, user
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test", Namespace: namespace}
	config.CurrentContext = "test"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return clientcmd.WriteToFile(*config, file)
}
