package flux

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/flux"
)

// readTimeout is how long the answer of an API server may take.
const readTimeout = 30 * time.Second

// resources are what is read of a cluster, each under the versions that there may
// be.
var resources = map[string][]schema.GroupVersionResource{
	"ConfigMap":      {{Version: "v1", Resource: "configmaps"}},
	"Secret":         {{Version: "v1", Resource: "secrets"}},
	"HelmRepository": ofSource("helmrepositories"),
	"OCIRepository":  ofSource("ocirepositories"),
	"HelmChart":      ofSource("helmcharts"),
	"GitRepository":  ofSource("gitrepositories"),
}

func ofSource(resource string) []schema.GroupVersionResource {
	group := schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Resource: resource}
	var out []schema.GroupVersionResource
	for _, group.Version = range []string{"v1", "v1beta2"} {
		out = append(out, group)
	}
	return out
}

// objects returns [flux.Options.Object] for a cluster. It gets objects by name, so
// that is the one right it needs.
func objects(config *rest.Config) (func(context.Context, flux.SourceName) (map[string]any, error), error) {
	config = rest.CopyConfig(config)
	config.Timeout, config.WarningHandler = readTimeout, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("API server %s: %w; correct the kubeconfig", config.Host, err)
	}
	return func(ctx context.Context, name flux.SourceName) (map[string]any, error) {
		for _, resource := range resources[name.Kind] {
			found, err := client.Resource(resource).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
			switch {
			case err == nil:
				return found.Object, nil
			case apierrors.IsForbidden(err):
				return nil, fmt.Errorf("%w; grant the verb get on %s in namespace %s by a Role", err, resource.GroupResource(), name.Namespace)
			case !apierrors.IsNotFound(err):
				return nil, err
			}
		}
		return nil, nil
	}, nil
}
