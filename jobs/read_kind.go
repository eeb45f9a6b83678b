package jobs

import (
	"errors"
	"fmt"
	"slices"
)

// missing says why kinds that the engine needs are not whole.
func (c *Cluster) missing(r *Reading) error {
	var errs []error
	for _, k := range r.Kinds {
		if k.Needed && !k.Complete {
			errs = append(errs, k.Err)
		}
	}
	causes := c.causes(errs)
	switch len(causes) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the cluster could not be read whole, so nothing is written: %w", causes[0])
	}
	head := fmt.Errorf("the cluster could not be read whole, so nothing is written; %d things stand in the way", len(causes))
	return errors.Join(append([]error{head}, causes...)...)
}

// kind returns how the reading of a kind went, or nil if it was not asked for.
func (r *Reading) kind(name string) *KindReading {
	i := slices.IndexFunc(r.Kinds, func(k KindReading) bool { return k.Kind == name })
	if i < 0 {
		return nil
	}
	return &r.Kinds[i]
}

// fix says what to do for a kind that was not read whole, behind a semicolon, or is
// "".
func (r *Reading) fix(name string) string {
	if k := r.kind(name); k != nil {
		if failed, is := errors.AsType[*readError](k.Err); is {
			return "; " + failed.fix
		}
	}
	return ""
}

func (r *Reading) serves(kind string) bool {
	k := r.kind(kind)
	return k != nil && k.Served
}

func (r *Reading) complete(kind string) bool {
	k := r.kind(kind)
	return k != nil && k.Complete
}
