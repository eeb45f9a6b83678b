package engine

import (
	"slices"
)

// wantGrant lets the Gateway read the Secret of a Certificate in another
// namespace. The release that holds the Certificate consents by rendering it.
func (r *run) wantGrant(g *gateway, cert *Certificate) {
	key := ObjectName{cert.Namespace, grantName(g.Kind, g.Name, cert.SecretName)}
	grant := r.wantGrants[key]
	if grant == nil {
		grant = &Grant{
			Placed: g.placeLike(&cert.Meta),
			Secret: cert.SecretName, fromKind: g.Kind,
		}
		grant.Name = key.Name
		r.wantGrants[key] = grant
	}
	if !slices.Contains(grant.From, g.Namespace) {
		grant.From = append(grant.From, g.Namespace)
		slices.Sort(grant.From)
	}
}

// dropGrant takes back that the Gateway reads a Secret.
func (r *run) dropGrant(g *gateway, secret ObjectName) {
	key := ObjectName{secret.Namespace, grantName(g.Kind, g.Name, secret.Name)}
	grant := r.wantGrants[key]
	if grant == nil {
		return
	}
	grant.From = slices.DeleteFunc(grant.From, func(namespace string) bool { return namespace == g.Namespace })
	if len(grant.From) == 0 {
		delete(r.wantGrants, key)
	}
}

// planGrants compares the wanted grants with those rendered before.
func (r *run) planGrants() {
	before := map[ObjectName]*ReferenceGrant{}
	for _, g := range r.snapshot.Grants {
		if !g.Known && g.Labels[LabelFor] != "" {
			keepFirst(before, &g.Meta, g, func(g *ReferenceGrant) map[string]any { return g.Object })
		}
	}
	for key, grant := range r.wantGrants {
		if before[key] == nil && r.snapshot.Complete {
			continue // another grant permits it: its owner consented, and we add none
		}
		grant.Action, grant.Reason = Add, "Gateways of other namespaces read the Secret"
		if old := before[key]; old != nil {
			grant.Action, grant.Reason = compareWith(old.Object, grant.Object(), grant.Reason)
			if r.snapshot.Complete {
				grant.Action, grant.Reason = Keep, releases
			}
		}
		delete(before, key)
		r.grants = append(r.grants, *grant)
	}
	if r.snapshot.Complete {
		return // a grant is its owner's consent, and not ours to take back
	}
	for _, old := range before {
		for _, g := range r.byLabel[old.Labels[LabelFor]] {
			if !g.policy.noRemovals && len(old.To) == 1 && old.Name == grantName(g.Kind, g.Name, old.To[0].Name) {
				r.grants = append(r.grants, Grant{Placed: g.placeLike(&old.Meta), From: []string{}, Action: Remove, Reason: r.unclaimed()})
				break
			}
		}
	}
}

// permission is one that a grant gives: objects of a kind in one namespace may
// name a Secret or Service in another, "" for all of them.
type permission struct{ kind, from, namespace, target, name string }

// permissions looks up what all grants permit.
func permissions(grants []*ReferenceGrant) map[permission]bool {
	out := map[permission]bool{}
	for _, grant := range grants {
		for _, from := range grant.From {
			for _, to := range grant.To {
				if from.Group == GatewayGroup && to.Group == "" {
					out[permission{from.Kind, from.Namespace, grant.Namespace, to.Kind, to.Name}] = true
				}
			}
		}
	}
	return out
}

// permits says whether a grant permits what p asks for, by name or for all.
func (r *run) permits(p permission) bool {
	if r.permitted[p] {
		return true
	}
	p.name = ""
	return r.permitted[p]
}

// grantedSecret says whether a grant of the snapshot lets the parent read the
// Secret of a Certificate in another namespace.
func (r *run) grantedSecret(g *gateway, cert *Certificate) bool {
	return r.mayRead(g, cert.Namespace, cert.SecretName)
}

func (r *run) mayRead(g *gateway, namespace, secret string) bool {
	return r.permits(permission{g.Kind, g.Namespace, namespace, KindSecret, secret})
}
