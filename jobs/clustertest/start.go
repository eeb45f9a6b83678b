package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// Env is a cluster.
type Env struct {
	Config     *rest.Config         // an administrator; copy before changing
	Kubeconfig string               // path of a file that says the same
	Client     kubernetes.Interface // as the administrator
	Dynamic    dynamic.Interface    // as the administrator

	guard  *guard
	dir    string // of this cluster, in that of the guard
	mapper *restmapper.DeferredDiscoveryRESTMapper

	controllerManager func() error // starts it once
	accounts          chartAccounts
}

// Start returns a cluster that belongs to the test, and to its subtests, until it
// ends: what a test makes of the whole cluster disturbs no other. Tests that run
// side by side get one each, which is started where all others are in use. It
// fails the test if the programs are missing.
func Start(t testing.TB) *Env {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	c := clusters.take(test)
	t.Cleanup(func() { clusters.giveBack(c) })
	e, err := c.start()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newEnv(number int) (*Env, error) {
	log.SetLogger(logr.Discard())
	g, err := running()
	if err != nil {
		return nil, err
	}
	e := &Env{guard: g, dir: filepath.Join(g.dir, fmt.Sprintf("cluster-%d", number))}
	e.accounts.made = map[string]ChartAccount{}
	if err := os.Mkdir(e.dir, 0o700); err != nil {
		return nil, err
	}
	server, err := e.newServer()
	if err != nil {
		return nil, err
	}
	config, err := server.Start()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, tail(e.log("kube-apiserver")))
	}
	config.WarningHandler = rest.NoWarnings{}
	e.Config, e.Kubeconfig = config, filepath.Join(e.dir, "kubeconfig")
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
func (e *Env) newServer() (*envtest.Environment, error) {
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
	server.ControlPlane.Etcd = &envtest.Etcd{DataDir: filepath.Join(e.dir, "etcd")}
	api.CertDir = e.certs()
	api.Configure().Disable("disable-admission-plugins")
	for name, path := range map[string]*string{"kube-apiserver": &api.Path, "etcd": &server.ControlPlane.Etcd.Path} {
		if *path, err = e.guard.guarded(name); err != nil {
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
	output, err := os.Create(e.log("kube-apiserver"))
	if err != nil {
		return nil, err
	}
	api.Out, api.Err = output, output
	return server, nil
}

// certs is the folder with the server's keys.
func (e *Env) certs() string { return filepath.Join(e.dir, "certs") }

// log is the file that the output of a program goes to.
func (e *Env) log(name string) string { return filepath.Join(e.dir, name+".log") }

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
