package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/gatewright/gatewright/cmd/internal/cli"
	"github.com/gatewright/gatewright/jobs"
)

// Preflight asks the cluster whether it would take the Gateways of a release.
func Preflight(ctx context.Context, request cli.PreflightRequest) (*cli.PreflightResult, error) {
	cluster, err := Connect(request.Connection)
	if err != nil {
		return nil, err
	}
	objects, err := objectsOf(request.Manifests)
	if err != nil {
		return nil, err
	}
	findings, err := cluster.Preflight(ctx, objects, jobs.Release{Name: request.Release, Namespace: request.Namespace})
	if err != nil {
		return nil, err
	}
	result := &cli.PreflightResult{Findings: findings}
	for _, f := range findings {
		if jobs.Blocks(f) {
			result.Blocking = append(result.Blocking, f)
		}
	}
	return result, nil
}

func objectsOf(manifests []byte) ([]map[string]any, error) {
	var objects []map[string]any
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 1<<16)
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("manifests after the post-render: %w", err)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}
