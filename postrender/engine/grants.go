package engine

import (
	"slices"
)

// wantGrant lets the Gateway read the Secret of a Certificate in another
// namespace. The release that holds the Certificate consents by rendering it.
func (r *run) wantGrant(g *gateway, cert *Certificate) {
	key := ObjectName{cert.Namespace, grantName(g.Name, cert.SecretName)}
	grant := r.wantGrants[key]
	if grant == nil {
		grant = &Grant{
			Placed: g.placeLike(&cert.Meta),
			Secret: cert.SecretName,
		}
		grant.Name = key.Name
		r.wantGrants[key] = grant
	}
	if !slices.Contains(grant.From, g.Namespace) {
		grant.From = append(grant.From, g.Namespace)
		slices.Sort(grant.From)
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
		grant.Action, grant.Reason = Add, "Gateways of other namespaces read the Secret"
		if old := before[key]; old != nil {
			grant.Action, grant.Reason = compareWith(old.Object, grant.Object())
		}
		delete(before, key)
		r.grants = append(r.grants, *grant)
	}
	for _, old := range before {
		if owners := r.owners(&old.Meta); len(owners) > 0 && old.Name == grantName(owners[0].Name, grantedSecret(old)) {
			r.grants = append(r.grants, Grant{Placed: owners[0].placeLike(&old.Meta), From: []string{}, Action: Remove, Reason: unclaimed})
		}
	}
}

// grantedSecret returns the Secret that a grant of ours names.
func grantedSecret(g *ReferenceGrant) string {
	r := reader{object: g.Object, problem: new(string)}
	for _, to := range r.child("spec").children("to") {
		return to.text("name")
	}
	return ""
}
