package clustertest_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/jobs/clustertest"
)

// threeGateways makes a namespace with three Gateways.
func threeGateways(t *testing.T, cluster *clustertest.Env) string {
	namespace := cluster.Namespace(t)
	for _, name := range []string{"a", "b", "c"} {
		cluster.Apply(t, "test", namespace, strings.Replace(gateway, "edge", name, 1))
	}
	return namespace
}

// listAll lists Gateways with a dynamic client, two a page, and returns how
// many there are and how many requests were needed.
func listAll(t *testing.T, config *rest.Config, namespace string) (objects, pages int, err error) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	options := metav1.ListOptions{Limit: 2}
	for {
		list, err := client.Resource(gatewayKind).Namespace(namespace).List(t.Context(), options)
		if err != nil {
			return objects, pages, err
		}
		pages++
		objects += len(list.Items)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return objects, pages, nil
		}
	}
}

// Each fault does to the second page what it says.
func TestFaultsOnTheSecondPage(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := threeGateways(t, cluster)
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	tests := map[clustertest.FaultKind]func(error) bool{
		clustertest.Status403: apierrors.IsForbidden,
		clustertest.Status404: apierrors.IsNotFound,
		clustertest.Status500: apierrors.IsInternalError,
		clustertest.Status503: apierrors.IsServiceUnavailable,
		clustertest.Gone410:   apierrors.IsResourceExpired,
		clustertest.Timeout: func(err error) bool {
			var netErr net.Error
			return errors.As(err, &netErr) && netErr.Timeout()
		},
		clustertest.Reset:      func(err error) bool { return err == nil }, // the client tries again by itself
		clustertest.Truncate:   is(io.ErrUnexpectedEOF),
		clustertest.KillBefore: is(clustertest.ErrKilled),
		clustertest.KillAfter:  is(clustertest.ErrKilled),
	}
	for kind, want := range tests {
		t.Run(string(kind), func(t *testing.T) {
			fault := &clustertest.Fault{Kind: kind, Match: clustertest.Call.Reads, Nth: 2}
			objects, _, err := listAll(t, clustertest.Wrapped(cluster.Config, fault.Wrap), namespace)
			if !want(err) || fault.Hits() != 1 || objects < 2 {
				t.Errorf("got error %v and %d objects after %d hits", err, objects, fault.Hits())
			}
		})
	}
}

// Those that answer 200 with something else.
func TestFaultsThatAnswer(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := threeGateways(t, cluster)
	tests := map[clustertest.FaultKind]struct{ objects, pages int }{
		clustertest.EmptyContinue: {3, 3}, // an empty page, then the two real ones
		clustertest.EmptyList:     {0, 1},
		clustertest.WrongKind:     {0, 1},
	}
	for kind, want := range tests {
		t.Run(string(kind), func(t *testing.T) {
			fault := &clustertest.Fault{Kind: kind, Match: func(c clustertest.Call) bool { return c.Resource == "gateways" }}
			objects, pages, err := listAll(t, clustertest.Wrapped(cluster.Config, fault.Wrap), namespace)
			if err != nil || objects != want.objects || pages != want.pages || fault.Hits() != 1 {
				t.Errorf("got %d objects on %d pages, %d hits, error %v", objects, pages, fault.Hits(), err)
			}
		})
	}
}

// A fault may last: for some requests, or for ever.
func TestFaultsThatLast(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := threeGateways(t, cluster)
	for times, want := range map[int]string{0: "+-+++", 2: "+--++", -1: "+----"} {
		fault := &clustertest.Fault{Kind: clustertest.Status500, Nth: 2, Times: times}
		config := clustertest.Wrapped(cluster.Config, fault.Wrap)
		got := ""
		for range want {
			if _, err := rawList(t, config, namespace); err != nil {
				got += "-"
			} else {
				got += "+"
			}
		}
		if got != want || fault.Hits() != strings.Count(want, "-") {
			t.Errorf("%d times: got %s with %d hits, want %s", times, got, fault.Hits(), want)
		}
	}
}

// rawList lists Gateways in one request.
func rawList(t *testing.T, config *rest.Config, namespace string) (*unstructured.UnstructuredList, error) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(gatewayKind).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
}

// A kill stops everything after it. The server has done what was sent before:
// with KillAfter that write too.
func TestKillAtAWrite(t *testing.T) {
	cluster := clustertest.Start(t)
	for kind, want := range map[clustertest.FaultKind]string{clustertest.KillBefore: "one", clustertest.KillAfter: "one two"} {
		t.Run(string(kind), func(t *testing.T) {
			namespace := cluster.Namespace(t)
			fault := &clustertest.Fault{Kind: kind, Match: clustertest.Call.Writes, Nth: 2}
			client, err := kubernetes.NewForConfig(clustertest.Wrapped(cluster.Config, fault.Wrap))
			if err != nil {
				t.Fatal(err)
			}
			maps := client.CoreV1().ConfigMaps(namespace)
			var errs []error
			for _, name := range []string{"one", "two", "three"} {
				_, getErr := maps.Get(t.Context(), name, metav1.GetOptions{})
				_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				errs = append(errs, getErr, err)
			}
			if errs[1] != nil || !errors.Is(errs[3], clustertest.ErrKilled) || !errors.Is(errs[4], clustertest.ErrKilled) {
				t.Errorf("errors: %v", errs)
			}
			got := cluster.Kubectl(t, "", "get", "configmap", "-n", namespace, "-o", "jsonpath={.items[*].metadata.name}")
			if got = strings.TrimPrefix(got, "kube-root-ca.crt "); got != want {
				t.Errorf("the server has %q, want %q", got, want)
			}
		})
	}
}

func TestRecorder(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := cluster.Namespace(t)
	recorder := &clustertest.Recorder{}
	config := clustertest.Wrapped(cluster.Config, recorder.Wrap)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := listAll(t, config, namespace); err != nil {
		t.Fatal(err)
	}
	gateways := client.Resource(gatewayKind).Namespace(namespace)
	apply := []byte(strings.ReplaceAll(gateway, "\n\n", "\n"))
	options := metav1.PatchOptions{FieldManager: "test"}
	for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
		options.DryRun = dryRun
		if _, err := gateways.Patch(t.Context(), "edge", "application/apply-patch+yaml", apply, options); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = gateways.Get(t.Context(), "edge", metav1.GetOptions{}, "status")
	var got []string
	for _, call := range recorder.Calls() {
		mark := map[bool]string{true: "write: ", false: "read: "}[call.Writes()]
		got = append(got, mark+call.String())
	}
	want := []string{
		"read: list gateways.gateway.networking.k8s.io " + namespace,
		"read: patch gateways.gateway.networking.k8s.io " + namespace + "/edge",
		"write: patch gateways.gateway.networking.k8s.io " + namespace + "/edge",
		"read: get gateways.gateway.networking.k8s.io/status " + namespace + "/edge",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if recorder.Reset(); len(recorder.Calls()) != 0 {
		t.Error("Reset forgets nothing")
	}
}

// The requests of another process are recorded and go wrong in a proxy.
func TestProxy(t *testing.T) {
	cluster := clustertest.Start(t)
	namespace := threeGateways(t, cluster)
	recorder := &clustertest.Recorder{}
	fault := &clustertest.Fault{Kind: clustertest.Status403, Match: func(c clustertest.Call) bool { return c.Resource == "secrets" }}
	kubeconfig := cluster.Proxy(t, recorder.Wrap, fault.Wrap).Kubeconfig
	out := cluster.Kubectl(t, "", "--kubeconfig="+kubeconfig, "get", "gateways", "-n", namespace, "-o", "name")
	if !strings.Contains(out, "/a\n") {
		t.Errorf("got %q", out)
	}
	_, err := cluster.TryKubectl("", "--kubeconfig="+kubeconfig, "get", "secrets", "-n", namespace)
	if err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("got %v, want forbidden", err)
	}
	calls := recorder.Calls()
	if len(calls) == 0 || calls[len(calls)-1].String() != "list secrets "+namespace {
		t.Errorf("calls: %v", calls)
	}
}
