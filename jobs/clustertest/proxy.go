package clustertest

import (
	"encoding/pem"
	"io"
	"log"
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

// Proxy is a server in front of the API server.
type Proxy struct {
	Kubeconfig string // path of a file that leads here as the administrator

	cluster api.Cluster
}

// proxyAdmin is the token that the proxy takes for the administrator's.
const proxyAdmin = "administrator"

// Proxy starts a server whose requests pass through the wrappers, the first one
// outermost, on their way to the API server, so that the requests of another
// process can be recorded and go wrong. It stops when the test ends.
func (e *Env) Proxy(t testing.TB, wrappers ...func(http.RoundTripper) http.RoundTripper) *Proxy {
	t.Helper()
	target, err := url.Parse(e.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := e.forward()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrap := range slices.Backward(wrappers) {
		transport = wrap(transport)
	}
	server := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	server.StartTLS() // clients send no token without
	t.Cleanup(server.Close)
	certificate := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	proxy := &Proxy{
		Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		cluster:    api.Cluster{Server: server.URL, CertificateAuthorityData: pem.EncodeToMemory(certificate)},
	}
	if err := writeKubeconfig(proxy.Kubeconfig, &proxy.cluster, &api.AuthInfo{Token: proxyAdmin}, ""); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// forward sends requests to the API server with the token that they bring, or
// as the administrator.
func (e *Env) forward() (http.RoundTripper, error) {
	admin, err := rest.TransportFor(e.Config)
	if err != nil {
		return nil, err
	}
	anonymous, err := rest.TransportFor(rest.AnonymousClientConfig(e.Config))
	if err != nil {
		return nil, err
	}
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("Authorization") != "Bearer "+proxyAdmin {
			return anonymous.RoundTrip(req)
		}
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
		return admin.RoundTrip(req)
	}), nil
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
