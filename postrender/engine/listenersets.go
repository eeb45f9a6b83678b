package engine

import "fmt"

// findHost finds the Gateway of a ListenerSet in the snapshot, and whether it
// takes listeners of the set. A Gateway that a release does not hold is not
// known, so nothing is barred.
func (r *run) findHost(g *gateway) error {
	if g.Kind != KindListenerSet {
		return nil
	}
	host, err := r.findParent(&g.Meta, KindGateway, g.hostName())
	if err != nil || host == nil {
		return err
	}
	if sameNamespace(host.Namespace, g.hostName().Namespace) == unknown {
		return r.needNamespace(&g.Meta, fmt.Sprintf("whether it is a part of %s depends on the namespace of the release", host))
	}
	g.host = host
	switch r.takesSets(host, g) {
	case no:
		g.barred = fmt.Sprintf("%s takes no ListenerSets from %s; widen its spec.allowedListeners", host, namespaceOf(&g.Meta))
		r.find(Warning, CodeListenerSetBarred, &g.Meta, g.barred)
	case unknown:
		return r.needNamespace(&g.Meta, fmt.Sprintf("whether %s takes its listeners depends on the namespace of the release", host))
	}
	return nil
}

// hostName is the Gateway that a ListenerSet names.
func (g *Gateway) hostName() ObjectName {
	if g.Parent.Namespace == "" {
		return ObjectName{g.Namespace, g.Parent.Name}
	}
	return ObjectName{g.Parent.Namespace, g.Parent.Name}
}

// GatewayName is the Gateway that a policy is for: the parent itself, or that
// of a ListenerSet.
func (g *Gateway) GatewayName() ObjectName {
	if g.Kind == KindListenerSet {
		return g.hostName()
	}
	return ObjectName{g.Namespace, g.Name}
}

// label is the Gateway's name, which objects of ours carry.
func (g *gateway) label() string { return g.GatewayName().Name }

func (r *run) takesSets(host, set *gateway) tri {
	switch host.AllowedListeners {
	case FromAll:
		return yes
	case FromSame:
		return sameNamespace(host.Namespace, set.Namespace)
	case FromSelector:
		return r.selectsByHand(host.AllowedListenersSelector, set.Namespace)
	}
	return no
}
