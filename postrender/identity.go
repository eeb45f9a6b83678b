package postrender

import (
	"slices"
	"strings"

	"github.com/gatewright/gatewright/postrender/engine"
)

// identify reads what an object is called. A missing namespace is that of the
// release.
func identify(value map[string]any, namespace string) identity {
	apiVersion, _ := value["apiVersion"].(string)
	group, _, isGroup := strings.Cut(apiVersion, "/")
	if !isGroup {
		group = ""
	}
	kind, _ := value["kind"].(string)
	metadata, _ := value["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if own, _ := metadata["namespace"].(string); own != "" {
		namespace = own
	}
	if kind == engine.KindNamespace || kind == engine.KindClusterIssuer {
		namespace = ""
	}
	return identity{group, kind, namespace, name}
}

// isOurs tells whether the kind is one of ours and of the group that we mean:
// Istio and Knative have a Gateway and a Certificate of their own.
func (i identity) isOurs() bool {
	switch i.kind {
	case engine.KindCertificate, engine.KindIssuer, engine.KindClusterIssuer:
		return i.group == engine.CertManagerGroup
	case engine.KindNamespace, engine.KindSecret, engine.KindService:
		return i.group == ""
	}
	return i.group == engine.GatewayGroup && slices.Contains(allKinds, i.kind)
}

func annotationsOf(value map[string]any) map[string]any {
	metadata, _ := value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}
