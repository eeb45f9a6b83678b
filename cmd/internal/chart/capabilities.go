package chart

// defaultKubeVersion is the Kubernetes that a chart sees in .Capabilities when
// nothing else is said: the one that the k8s.io libraries of go.mod stand for.
// Helm's own default is 1.20 in every program that embeds it, and many charts
// refuse that.
const defaultKubeVersion = "v1.37.0"

// assumedAPIs are APIs that a cluster has where gatewright is of use, beside
// those built into Kubernetes that Helm knows. Charts ask for them before they
// render a route or a Certificate.
var assumedAPIs = []struct {
	version string
	kinds   []string
}{
	{"gateway.networking.k8s.io/v1", []string{
		"BackendTLSPolicy", "GRPCRoute", "Gateway", "GatewayClass", "HTTPRoute", "ListenerSet",
		"ReferenceGrant", "TCPRoute", "TLSRoute", "UDPRoute",
	}},
	{"gateway.networking.k8s.io/v1beta1", []string{"Gateway", "GatewayClass", "HTTPRoute", "ReferenceGrant"}},
	{"cert-manager.io/v1", []string{"Certificate", "CertificateRequest", "ClusterIssuer", "Issuer"}},
	{"acme.cert-manager.io/v1", []string{"Challenge", "Order"}},
}

// servedAPIs lists them in the two forms that .Capabilities.APIVersions.Has
// takes: group/version and group/version/Kind.
func servedAPIs() []string {
	var out []string
	for _, api := range assumedAPIs {
		out = append(out, api.version)
		for _, kind := range api.kinds {
			out = append(out, api.version+"/"+kind)
		}
	}
	return out
}
