package engine

import (
	"fmt"
	"slices"
	"strings"
)

// lintGivenSecret finds a Secret that the policy takes as given and cert-manager's
// gateway-shim writes all the same: it makes a Certificate for each Secret that a
// listener of an annotated Gateway names, and so overwrites what was bought.
func (r *linter) lintGivenSecret(g *gateway) {
	annotation := g.shimAnnotation()
	if annotation == "" || g.policy.Certificates != ExistingSecret {
		return
	}
	var names []string
	for _, e := range r.endpoints[g] {
		if e.ours != nil && e.mode == "Terminate" && e.ours.secretName == g.policy.SecretName && !ignoredByShim(g, e.name) {
			names = append(names, e.name)
		}
	}
	if len(names) > 0 {
		r.find(Warning, CodeShimServes, &g.Meta, fmt.Sprintf("annotation %s makes cert-manager write Secret %s, which the policy takes as given; remove the annotation, or list %s in cert-manager.io/ignore-tls-listeners",
			annotation, g.policy.SecretName, strings.Join(names, ", ")))
	}
}

// lintWriters finds Certificates that write one Secret: cert-manager issues for
// one of them only, and the other is never ready.
func (r *linter) lintWriters() {
	writers := map[ObjectName][]*Meta{}
	for _, c := range r.by.others {
		if key := (ObjectName{c.Namespace, c.SecretName}); !c.Known && c.SecretName != "" {
			writers[key] = append(writers[key], &c.Meta)
		}
	}
	for key, metas := range writers {
		slices.SortFunc(metas, compareMeta)
		if r.wantCertificates.get(key) != nil && r.hasOurs(key) {
			for _, m := range metas {
				r.find(Warning, CodeTwoWriters, m, fmt.Sprintf("Certificate %s, which gatewright made, writes Secret %s too, and cert-manager issues for one of them only; give this one a secretName of its own", placedName(key.Namespace, key.Name), key.Name))
			}
			continue
		}
		for _, m := range metas[1:] {
			if m.Name != metas[0].Name {
				r.find(Warning, CodeTwoWriters, m, fmt.Sprintf("%s writes Secret %s too, and cert-manager issues for one of them only; give each a secretName of its own", metas[0], key.Name))
			}
		}
	}
}
