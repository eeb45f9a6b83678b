package flux

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/repo"
)

// authority signs the certificates of servers and clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, block("CERTIFICATE", der)}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// sign returns a certificate for loopback and its key, as PEM.
func (a *authority) sign(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", der), block("EC PRIVATE KEY", encoded)
}

// serve serves a handler by TLS, to clients with a certificate of the authority if
// that is asked for.
func (a *authority) serve(t *testing.T, handler http.Handler, clients tls.ClientAuthType) string {
	t.Helper()
	certificate, key := a.sign(t)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = nothing()
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: clients, ClientCAs: pool}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// secretYAML is a Secret of the namespace of the HelmRelease.
func secretYAML(name string, values ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: web}\nstringData:\n", name)
	for i := 0; i < len(values); i += 2 {
		fmt.Fprintf(&out, "  %s: %q\n", values[i], values[i+1])
	}
	return out.String()
}

// tunnel is a proxy that takes a login and leads to one address, whatever it is
// asked for, and counts.
func tunnel(t *testing.T, user, password, to string) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
		if gotUser, gotPassword, _ := request.BasicAuth(); gotUser != user || gotPassword != password || r.Method != http.MethodConnect {
			http.Error(w, "who are you?", http.StatusProxyAuthRequired)
			return
		}
		asked.Add(1)
		there, err := net.Dial("tcp", to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { defer there.Close(); _, _ = io.Copy(there, here) }()
		go func() { defer here.Close(); _, _ = io.Copy(here, there) }()
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// TestSourcesByTLS downloads from servers with a certificate of an authority that
// nobody knows, and with logins, client certificates and a proxy.
func TestSourcesByTLS(t *testing.T) {
	isolate(t)
	ca := newAuthority(t)
	certificate, key := ca.sign(t)
	var charts http.Handler
	address := ca.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { charts.ServeHTTP(w, r) }), tls.RequireAndVerifyClientCert)
	charts = chartServer(t, "me", secretWord, address)
	open, _ := registryHandler(t, "", "")
	locked, _ := registryHandler(t, "me", secretWord)
	oci := strings.Replace(ca.serve(t, locked, tls.RequireAndVerifyClientCert), "https", "oci", 1) + "/charts"
	unverified := strings.Replace(ca.serve(t, open, tls.NoClientCert), "https", "oci", 1) + "/charts"
	host, _ := url.Parse(strings.Replace(oci, "oci", "https", 1))
	proxy, asked := tunnel(t, "p", secretWord, host.Host)

	login := secretYAML("login", "username", "me", "password", secretWord)
	both := secretYAML("tls", "ca.crt", ca.pem, "tls.crt", certificate, "tls.key", key)
	legacy := secretYAML("login", "username", "me", "password", secretWord, "caFile", ca.pem, "certFile", certificate, "keyFile", key)
	docker := secretYAML("login", ".dockerconfigjson", fmt.Sprintf(`{"auths": {%q: {"username": "me", "password": %q}}}`, host.Host, secretWord))
	const refs = ", secretRef: {name: login}, certSecretRef: {name: tls}"
	ociSource := func(more string) string {
		return release(ofOCI) + source("OCIRepository", "{url: '"+oci+"/allinone', ref: {tag: 1.0.0}"+more+"}")
	}
	for _, tt := range []struct{ name, manifest, want string }{
		{"HTTP", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+refs+"}") + login + both, "- v1-1-0.example.com\n"},
		{"HTTP, all in one Secret", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+", secretRef: {name: login}}") + legacy, "- v1-1-0.example.com\n"},
		{"HTTP without the authority", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+", secretRef: {name: login}}") + login, "certificate signed by unknown authority"},
		{"HTTP without a client certificate", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+refs+"}") + login + secretYAML("tls", "ca.crt", ca.pem), "certificate required"},
		{"HTTP without login", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+", certSecretRef: {name: tls}}") + both, "401"},
		{"certificate and key of different pairs", release(ofRepository("1.x")) + source("HelmRepository", "{url: "+address+refs+"}") + login + secretYAML("tls", "tls.crt", ca.pem, "tls.key", key), "Secret web/tls of HelmRepository web/src: "},
		{"OCI", ociSource(refs) + docker + both, "- v1-0-0.example.com\n"},
		{"OCI with user and password", ociSource(refs) + login + both, "- v1-0-0.example.com\n"},
		{"OCI of a HelmRepository", release(ofRepository("1.x")) + source("HelmRepository", "{type: oci, url: '"+oci+"'"+refs+"}") + docker + both, "- v1-1-0.example.com\n"},
		{"OCI without the authority", ociSource(", secretRef: {name: login}") + docker, "certificate signed by unknown authority"},
		{"a login for another registry", ociSource(refs) + strings.Replace(docker, host.Host, "other.example.com", 1) + both, "Secret web/login of OCIRepository web/src: its .dockerconfigjson has no login for the registry of " + oci},
		{"OCI unverified", release(ofOCI) + source("OCIRepository", "{url: '"+unverified+"/allinone', insecure: true, ref: {tag: 1.0.0}}"), "- v1-0-0.example.com\n"},
		{"OCI, a filter of tags", release(ofOCI) + source("OCIRepository", "{url: '"+unverified+"/allinone', insecure: true, ref: {semver: 1.x, semverFilter: '^1[.]0[.]'}}"), "- v1-0-0.example.com\n"},
		{"no proxy address", ociSource(refs+", proxySecretRef: {name: proxy}") + docker + both + secretYAML("proxy", "address", "ftp://"+secretWord+"@a"), "its key address is no http, https or socks5 URL"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkSource(t, tt.manifest, tt.want) })
	}
	t.Run("OCI by a proxy", func(t *testing.T) {
		manifest := ociSource(refs+", proxySecretRef: {name: proxy}") + docker + both + secretYAML("proxy", "address", proxy, "username", "p", "password", secretWord)
		checkSource(t, manifest, "- v1-0-0.example.com\n")
		if asked.Load() == 0 {
			t.Error("the proxy was not asked")
		}
	})
	t.Run("OCI without TLS and without insecure", func(t *testing.T) {
		plain, _ := ociRegistry(t, "", "")
		checkSource(t, release(ofOCI)+source("OCIRepository", "{url: '"+plain+"/allinone', ref: {tag: 1.0.0}}"), "if the registry has no TLS, set spec.insecure: true in its source")
	})
}

// checkSource renders a manifest, and wants a text in its companion file or output
// and no secret there.
func checkSource(t *testing.T, manifest, want string) {
	t.Helper()
	folder, output, _ := command(t, manifest)
	all := output
	if companions, err := os.ReadFile(filepath.Join(folder, "web.gatewright.yaml")); err == nil {
		all += string(companions)
	}
	if !strings.Contains(all, want) || strings.Contains(all, secretWord) {
		t.Errorf("want %q and no secret in\n%s", want, all)
	}
}

// TestLocalFolderIsNoChart has a folder that is called like the chart of a
// repository, which Helm's own command line would take instead.
func TestLocalFolderIsNoChart(t *testing.T) {
	isolate(t)
	address := helmRepository(t, "", "")
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "allinone"), os.DirFS(filepath.Join(root, "testdata/charts/allinone"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	checkSource(t, release(ofRepository("1.0.0"))+source("HelmRepository", "{url: "+address+"}"), "- v1-0-0.example.com\n")
}

// chartServer serves three versions of the chart to who logs in. at is the address
// by which it is reached.
func chartServer(t *testing.T, user, password, at string) http.Handler {
	t.Helper()
	dir := t.TempDir()
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		pack(t, dir, version)
	}
	index, err := repo.IndexDirectory(dir, at)
	if err != nil {
		t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(dir, "index.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	return guarded(http.FileServer(http.Dir(dir)), user, password)
}
