package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/gatewright/gatewright/postrender/engine"
)

// leaseTimes are how long a holder that does not renew keeps others away, how
// often it renews, and how soon it tries again what did not go well.
type leaseTimes struct{ duration, renewal, retry time.Duration }

var usualLease = leaseTimes{duration: 60 * time.Second, renewal: 15 * time.Second, retry: 2 * time.Second}

// LockHeldError says who holds the Lease.
type LockHeldError struct {
	Lease  engine.ObjectName
	Holder string
	// Until is when the hold ends unless it is renewed.
	Until time.Time
}

func (e *LockHeldError) Error() string {
	return fmt.Sprintf("another sweep is at work: %s holds Lease %s/%s until %s, or longer; nothing was done",
		e.Holder, e.Lease.Namespace, e.Lease.Name, e.Until.UTC().Format(time.RFC3339))
}

// LeaseLostError says that a Lease was lost while it was needed. It is the cause
// of the end of the context that [Cluster.Lock] returns.
type LeaseLostError struct {
	Lease engine.ObjectName
	// Why says who has it, or what kept it from being renewed.
	Why string
}

func (e *LeaseLostError) Error() string {
	return fmt.Sprintf("Lease %s/%s was lost: %s; the sweep stops, and the next one goes on", e.Lease.Namespace, e.Lease.Name, e.Why)
}

// Lock takes a Lease and renews it until the returned function gives it back. A
// holder that does not renew it, because it was killed, loses it after a minute.
// Where another holds it longer than timeout, the error is a [*LockHeldError].
//
// What is done under the Lease is to be done with the returned context: it ends
// when the Lease is lost, with a [*LeaseLostError] for its cause.
func (c *Cluster) Lock(ctx context.Context, name engine.ObjectName, identity string, timeout time.Duration) (held context.Context, unlock func(), err error) {
	l := &lock{leaseTimes: c.lease, leases: c.objects.Resource(leases).Namespace(name.Namespace), name: name, identity: identity, now: c.clock.now}
	for deadline := time.Now().Add(timeout); ; {
		holder, err := l.take(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("lease %s/%s: %w%s", name.Namespace, name.Name, err, missingRight(err))
		}
		if holder == nil {
			break
		}
		if time.Now().After(deadline) {
			return nil, nil, holder
		}
		if err := c.sleep(ctx, l.retry); err != nil {
			return nil, nil, err
		}
	}
	held, lose := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.keep(renewing, lose)
	}()
	return held, func() {
		stop()
		<-done
		l.release()
		lose(nil)
	}, nil
}

var leases = coordinationv1.SchemeGroupVersion.WithResource("leases")

type lock struct {
	leaseTimes
	leases   dynamic.ResourceInterface
	name     engine.ObjectName
	identity string
	now      func() time.Time // by the server, so that all who sweep agree
	held     *coordinationv1.Lease
	// sent is when the last write of the Lease that went well began, by the clock
	// here.
	sent time.Time
}

// take takes the Lease if it is free, or says who holds it.
func (l *lock) take(ctx context.Context) (*LockHeldError, error) {
	lease, err := l.get(ctx)
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{
			TypeMeta:   metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{Namespace: l.name.Namespace, Name: l.name.Name},
		}
	} else if err != nil {
		return nil, err
	}
	if held := l.heldBy(lease); held != nil {
		return held, nil
	}
	now := metav1.NewMicroTime(l.now())
	seconds := int32(l.duration / time.Second)
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &l.identity, AcquireTime: &now, RenewTime: &now, LeaseDurationSeconds: &seconds}
	err = l.write(ctx, lease)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return &LockHeldError{Lease: l.name, Holder: "another one", Until: l.now().Add(l.duration)}, nil
	}
	return nil, err
}

// holderOf returns who wrote the Lease last, or "".
func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// heldBy returns who holds the Lease now.
func (l *lock) heldBy(lease *coordinationv1.Lease) *LockHeldError {
	spec := lease.Spec
	if holderOf(lease) == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return nil
	}
	until := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
	if !l.now().Before(until) {
		return nil
	}
	return &LockHeldError{Lease: l.name, Holder: holderOf(lease), Until: until}
}

// keep renews the Lease until the context ends. It is lost when another one has
// it, and when it was not renewed for nearly as long as it lasts: others may have
// it then, and this one must have stopped before, even if a request hangs. What
// fails otherwise is tried again.
func (l *lock) keep(ctx context.Context, lose func(error)) {
	var trouble atomic.Pointer[string]
	expiry := time.AfterFunc(time.Until(l.ends()), func() {
		why := "it could not be renewed in time"
		if words := trouble.Load(); words != nil {
			why += ": " + *words
		}
		lose(l.lost(why))
	})
	defer expiry.Stop()
	for wait := l.renewal; sleep(ctx, wait) == nil; {
		attempt, cancel := context.WithDeadline(ctx, l.ends())
		err := l.renew(attempt)
		cancel()
		var lost *LeaseLostError
		switch {
		case errors.As(err, &lost):
			lose(lost)
			return
		case err != nil:
			words := serverWords(err)
			trouble.Store(&words)
			wait = l.retry
		default:
			expiry.Reset(time.Until(l.ends()))
			wait = l.renewal
		}
	}
}

// ends is a good while before others may have the Lease: the server's clock, which
// they go by, shows whole seconds only, and one server may differ from another.
func (l *lock) ends() time.Time { return l.sent.Add(l.duration - l.duration/5) }

// renew writes the Lease once more. Where it was changed, it is looked at: what
// does not change the holder is no loss, and the next try writes upon it.
func (l *lock) renew(ctx context.Context) error {
	now := metav1.NewMicroTime(l.now())
	lease := l.held.DeepCopy()
	lease.Spec.RenewTime = &now
	changed := l.write(ctx, lease)
	if !apierrors.IsConflict(changed) && !apierrors.IsNotFound(changed) {
		return changed
	}
	live, err := l.get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return l.lost("it was deleted")
	case err != nil:
		return err
	case holderOf(live) != l.identity:
		return l.lost(cmp.Or(holderOf(live), "nobody") + " holds it now")
	}
	l.held = live
	return changed
}

func (l *lock) lost(why string) error { return &LeaseLostError{Lease: l.name, Why: why} }

// release gives the Lease back. Whoever broke it meanwhile keeps it: the version
// is that of our own last write.
func (l *lock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	lease := l.held.DeepCopy()
	lease.Spec.HolderIdentity = new(string)
	_ = l.write(ctx, lease) // it ends by itself otherwise
}

func (l *lock) get(ctx context.Context) (*coordinationv1.Lease, error) {
	object, err := l.leases.Get(ctx, l.name.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	lease := &coordinationv1.Lease{}
	return lease, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, lease)
}

// write creates or updates the Lease and keeps what the server made of it.
func (l *lock) write(ctx context.Context, lease *coordinationv1.Lease) error {
	sent := time.Now()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(lease)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: object}
	options := metav1.CreateOptions{FieldManager: engine.FieldManager}
	if lease.ResourceVersion == "" {
		unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
		u, err = l.leases.Create(ctx, u, options)
	} else {
		u, err = l.leases.Update(ctx, u, metav1.UpdateOptions{FieldManager: engine.FieldManager})
	}
	if err != nil {
		return err
	}
	l.held, l.sent = &coordinationv1.Lease{}, sent
	return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, l.held)
}
