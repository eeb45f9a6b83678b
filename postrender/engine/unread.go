package engine

import (
	"fmt"
	"slices"
)

// unread says whether a complete snapshot may lack an object of a namespace that
// is there: it holds those of other namespaces only.
func (s *Snapshot) unread(namespace string) bool {
	return s.Complete && len(s.ReadNamespaces) > 0 && !slices.Contains(s.ReadNamespaces, namespace)
}

// hostUnread says why a ListenerSet is kept as it is whose Gateway was not read,
// or "": whether that takes its listeners, by which policy, and which hostnames
// are free there, is not known.
func (r *run) hostUnread(g *gateway) string {
	if g.Kind != KindListenerSet || g.host != nil || !r.snapshot.unread(g.hostName().Namespace) {
		return ""
	}
	host := g.hostName()
	why := fmt.Sprintf("its Gateway %s/%s is in a namespace that was not read, so its policy is not known", host.Namespace, host.Name)
	r.find(Warning, CodeGatewayNotRead, &g.Meta, fmt.Sprintf("%s; it is kept as it is until namespace %s is read too", why, host.Namespace))
	return why
}

// notRead answers for a parent of a namespace that was not read.
func notRead(parent Parent) answer {
	return refuse(ReasonPending, "namespace %s was not read, so what %s %s there serves is not known", parent.Namespace, parent.Kind, parent.Name)
}
