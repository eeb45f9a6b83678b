package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// startTimeout is long: the machine may be busy with other tests.
const startTimeout = 3 * time.Minute

// Env is the cluster of this test process.
type Env struct {
	Config     *rest.Config         // an administrator; copy before changing
	Kubeconfig string               // path of a file that says the same
	Client     kubernetes.Interface // as the administrator
	Dynamic    dynamic.Interface    // as the administrator

	guard  *guard
	certs  string // folder with the server's keys
	mapper *restmapper.DeferredDiscoveryRESTMapper

	controllerManager func() error // starts it once
}

var start = sync.OnceValues(func() (*Env, error) {
	g, err := running()
	if err != nil {
		return nil, err
	}
	return newEnv(g)
})

// Start returns the cluster, which the first call starts. It fails the test if
// the programs are missing.
func Start(t testing.TB) *Env {
	t.Helper()
	e, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newEnv(g *guard) (*Env, error) {
	log.SetLogger(logr.Discard())
	server, err := newServer(g)
	if err != nil {
		return nil, err
	}
	config, err := server.Start()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail(g.log("kube-apiserver")))
	}
	config.WarningHandler = rest.NoWarnings{}
	e := &Env{Config: config, guard: g, certs: server.ControlPlane.APIServer.CertDir, Kubeconfig: filepath.Join(g.dir, "kubeconfig")}
	if err := os.WriteFile(e.Kubeconfig, server.KubeConfig, 0o600); err != nil {
		return nil, err
	}
	if e.Client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	e.controllerManager = sync.OnceValue(e.startControllerManager)
	e.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(e.Client.Discovery()))
	e.Dynamic, err = dynamic.NewForConfig(config)
	return e, err
}

// newServer describes etcd and kube-apiserver. envtest switches the admission
// of ServiceAccounts off; here it is on, as in a cluster.
func newServer(g *guard) (*envtest.Environment, error) {
	crds, err := definitions()
	if err != nil {
		return nil, err
	}
	no := false
	server := &envtest.Environment{
		UseExistingCluster: &no, ControlPlaneStartTimeout: startTimeout,
		CRDDirectoryPaths: crds, ErrorIfCRDPathMissing: true,
		CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: startTimeout},
	}
	api := server.ControlPlane.GetAPIServer()
	server.ControlPlane.Etcd = &envtest.Etcd{DataDir: filepath.Join(g.dir, "etcd")}
	api.CertDir = filepath.Join(g.dir, "certs")
	api.Configure().Disable("disable-admission-plugins")
	for name, path := range map[string]*string{"kube-apiserver": &api.Path, "etcd": &server.ControlPlane.Etcd.Path} {
		if *path, err = g.guarded(name); err != nil {
			return nil, err
		}
	}
	if server.ControlPlane.KubectlPath, err = program("kubectl"); err != nil {
		return nil, err
	}
	for _, dir := range []string{api.CertDir, server.ControlPlane.Etcd.DataDir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	output, err := os.Create(g.log("kube-apiserver"))
	if err != nil {
		return nil, err
	}
	api.Out, api.Err = output, output
	return server, nil
}

// tail returns the end of a log.
func tail(file string) []byte {
	data, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	return data[max(0, len(data)-4000):]
}

// mapping says where objects of a kind are found. A kind that was defined since
// is looked for again.
func (e *Env) mapping(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		e.mapper.Reset()
		return e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	return mapping, err
}
