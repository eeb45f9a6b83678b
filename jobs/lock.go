package jobs

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/gatewright/gatewright/postrender/engine"
)

// leaseDuration is how long a holder that does not renew keeps others away, and
// leaseRenewal how often it renews.
const (
	leaseDuration = 60 * time.Second
	leaseRenewal  = 15 * time.Second
	leaseRetry    = 2 * time.Second
)

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

// Lock takes a Lease and renews it until the returned function gives it back. A
// holder that does not renew it, because it was killed, loses it after a minute;
// so the clocks of those who sweep must not differ by as much. Where another
// holds it longer than timeout, the error is a [*LockHeldError].
func (c *Cluster) Lock(ctx context.Context, name engine.ObjectName, identity string, timeout time.Duration) (unlock func(), err error) {
	l := &lock{leases: c.objects.Resource(leases).Namespace(name.Namespace), name: name, identity: identity, now: time.Now}
	for deadline := l.now().Add(timeout); ; {
		held, err := l.take(ctx)
		if err != nil {
			return nil, fmt.Errorf("lease %s/%s: %w", name.Namespace, name.Name, err)
		}
		if held == nil {
			break
		}
		if l.now().After(deadline) {
			return nil, held
		}
		if err := c.sleep(ctx, leaseRetry); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.renew(ctx)
	}()
	return func() {
		cancel()
		<-done
		l.release()
	}, nil
}

var leases = coordinationv1.SchemeGroupVersion.WithResource("leases")

type lock struct {
	leases   dynamic.ResourceInterface
	name     engine.ObjectName
	identity string
	now      func() time.Time
	held     *coordinationv1.Lease
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
	seconds := int32(leaseDuration / time.Second)
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &l.identity, AcquireTime: &now, RenewTime: &now, LeaseDurationSeconds: &seconds}
	err = l.write(ctx, lease)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return &LockHeldError{Lease: l.name, Holder: "another one", Until: l.now().Add(leaseDuration)}, nil
	}
	return nil, err
}

// heldBy returns who holds the Lease now.
func (l *lock) heldBy(lease *coordinationv1.Lease) *LockHeldError {
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return nil
	}
	until := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
	if !l.now().Before(until) {
		return nil
	}
	return &LockHeldError{Lease: l.name, Holder: *spec.HolderIdentity, Until: until}
}

// renew keeps the Lease until the context ends. A renewal that fails is tried
// again: the Lease is long enough for three.
func (l *lock) renew(ctx context.Context) {
	ticker := time.NewTicker(leaseRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			now := metav1.NewMicroTime(l.now())
			l.held.Spec.RenewTime = &now
			_ = l.write(ctx, l.held)
		}
	}
}

// release gives the Lease back. Whoever broke it meanwhile keeps it: the version
// is that of our own last write.
func (l *lock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	l.held.Spec.HolderIdentity = new(string)
	_ = l.write(ctx, l.held) // it ends by itself otherwise
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
	l.held = &coordinationv1.Lease{}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, l.held)
}
