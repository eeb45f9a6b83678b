package engine

import (
	"cmp"
	"fmt"
	"strings"
)

// The alias of our annotations of a Certificate: those of gateway-cert-operator.
const (
	aliasGatewayName      = "gateway-cert-operator.io/gateway-name"
	aliasGatewayNamespace = "gateway-cert-operator.io/gateway-namespace"
	aliasListenerPort     = "gateway-cert-operator.io/listener-port"
)

// gatewayOf reads the annotations of both families; ours come first.
func gatewayOf(c *Certificate) (ObjectName, bool) {
	if value := c.Annotations[AnnotationGateway]; value != "" {
		namespace, name, found := strings.Cut(value, "/")
		if !found || namespace == "" { // what begins with a slash names nothing
			namespace, name = c.Namespace, value
		}
		return ObjectName{shortened(namespace), shortened(name)}, true
	}
	return aliasOf(c)
}

func aliasOf(c *Certificate) (ObjectName, bool) {
	name := c.Annotations[aliasGatewayName]
	return ObjectName{shortened(cmp.Or(c.Annotations[aliasGatewayNamespace], c.Namespace)), shortened(name)}, name != ""
}

// oddAnnotations warns of a Certificate whose annotations of the two families
// disagree, and of one that asks for nothing.
func (r *run) oddAnnotations(c *Certificate, target ObjectName) {
	if alias, set := aliasOf(c); set && alias != target {
		r.find(Warning, CodeTwoAnnotations, &c.Meta, fmt.Sprintf("annotation %s names Gateway %s, and %s names %s; the first counts, so remove the other",
			AnnotationGateway, placedName(target.Namespace, target.Name), aliasGatewayName, placedName(alias.Namespace, alias.Name)))
	}
	if port, alias := c.Annotations[AnnotationPort], c.Annotations[aliasListenerPort]; port != "" && alias != "" && port != alias {
		r.find(Warning, CodeTwoAnnotations, &c.Meta, fmt.Sprintf("annotation %s asks for port %s, and %s for %s; the first counts, so remove the other", AnnotationPort, port, aliasListenerPort, alias))
	}
	if len(c.DNSNames)+len(c.IPAddresses) == 0 {
		r.find(Warning, CodeNoDNSNames, &c.Meta, fmt.Sprintf("it asks for Gateway %s and has no dnsNames, so it gets no listener; name its hostnames in spec.dnsNames", placedName(target.Namespace, target.Name)))
	}
}
