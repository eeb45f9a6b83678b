package engine

import (
	"fmt"
	"slices"
)

// lintWriters finds Certificates that write one Secret: cert-manager issues for
// one of them only, and the other is never ready.
func (r *linter) lintWriters() {
	writers := map[ObjectName][]*Meta{}
	for _, c := range r.snapshot.Certificates {
		if key := (ObjectName{c.Namespace, c.SecretName}); !c.Known && !c.ours() && c.SecretName != "" {
			writers[key] = append(writers[key], &c.Meta)
		}
	}
	for key, metas := range writers {
		slices.SortFunc(metas, compareMeta)
		for _, m := range metas[1:] {
			if m.Name != metas[0].Name {
				r.find(Warning, CodeTwoWriters, m, fmt.Sprintf("%s writes Secret %s too, and cert-manager issues for one of them only; give each a secretName of its own", metas[0], key.Name))
			}
		}
	}
}
