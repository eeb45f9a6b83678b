package flux

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// found is what was found in the cluster under a name.
type found struct {
	object *object
	err    error
}

// object returns an object of the files, or else of the cluster, which is asked
// once: nil if neither has it. What is encrypted in the files may be there in
// clear in the cluster.
func (r *run) object(ctx context.Context, id key) (*object, error) {
	o := r.repository.objects[id]
	if o != nil && !o.encrypted() || r.options.Object == nil {
		return o, nil
	}
	live, asked := r.live[id]
	if !asked {
		value, err := r.options.Object(ctx, SourceName{id.kind, id.namespace, id.name})
		live = found{err: err}
		if value != nil {
			live.object = &object{id, "cluster", value}
		}
		r.live[id] = live
	}
	if live.object == nil && live.err == nil {
		return o, nil
	}
	return live.object, live.err
}

// sopsKey is what SOPS adds to what it encrypts.
const sopsKey = "sops"

// encrypted tells whether SOPS has encrypted an object.
func (o *object) encrypted() bool { return o.value[sopsKey] != nil }

// absent says that a value is not at hand.
type absent struct {
	message, fix string
	// missing says that there is none, as far as can be known.
	missing bool
}

func (a *absent) Error() string { return a.message }

// values finds an object that valuesFrom names. An error is, where somebody else
// could read it, [*absent].
func (r *run) values(ctx context.Context, id key) (*object, error) {
	const give = "give its manifest as one more FILE (decrypted)"
	const ignore = ", or leave it out of account with --ignore-missing-values"
	o, err := r.object(ctx, id)
	switch {
	case apierrors.IsForbidden(err):
		return nil, &absent{fmt.Sprintf("%s, which valuesFrom names, cannot be read: %v", id, err), give + ignore, false}
	case err != nil:
		return nil, fmt.Errorf("%s, which valuesFrom names, cannot be read: %w", id, err)
	case o != nil && o.encrypted() && r.options.Object == nil:
		return nil, &absent{fmt.Sprintf("%s, which valuesFrom names, is encrypted (%s)", id, o.file), give + ", or have it read with --cluster" + ignore, false}
	case o != nil && o.encrypted():
		return nil, &absent{fmt.Sprintf("%s, which valuesFrom names, is encrypted (%s), and not in the cluster", id, o.file), give + ignore, false}
	case o == nil && r.options.Object == nil:
		return nil, &absent{fmt.Sprintf("%s, which valuesFrom names, is in none of the files", id) + r.repository.passedOver(), give + ", have it read with --cluster" + ignore, true}
	case o == nil:
		return nil, &absent{fmt.Sprintf("%s, which valuesFrom names, is in none of the files and not in the cluster", id) + r.repository.passedOver(), "create it, or " + give + ignore, true}
	}
	return o, nil
}
