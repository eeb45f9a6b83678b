package jobs

import (
	"fmt"
	"slices"
	"strings"
)

// missing joins the errors of the kinds that the engine needs.
func (r *Reading) missing() error {
	var problems []string
	for _, k := range r.Kinds {
		if k.Needed && !k.Complete {
			problems = append(problems, k.Err.Error())
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("the cluster could not be read whole, so nothing is written: %s", strings.Join(problems, "; "))
}

// kind returns how the reading of a kind went, or nil if it was not asked for.
func (r *Reading) kind(name string) *KindReading {
	i := slices.IndexFunc(r.Kinds, func(k KindReading) bool { return k.Kind == name })
	if i < 0 {
		return nil
	}
	return &r.Kinds[i]
}

func (r *Reading) serves(kind string) bool {
	k := r.kind(kind)
	return k != nil && k.Served
}

func (r *Reading) complete(kind string) bool {
	k := r.kind(kind)
	return k != nil && k.Complete
}
