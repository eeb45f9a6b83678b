package engine

// Compute plans the listeners, Certificates, grants and redirects that the
// snapshot asks for. An error (it is, or joins, [*Error]) means that nothing
// may be written; a refused claim costs only itself and is in the plan.
func Compute(snapshot *Snapshot, policies PolicySources) (*Plan, error) {
	return &Plan{}, nil
}

// Error is a reason why nothing may be written.
type Error struct {
	Object  string // "Gateway infra/edge"
	Source  string // file or template, may be ""
	Message string // what is wrong
	Fix     string // what to do
}

func (e *Error) Error() string {
	s := e.Object
	if e.Source != "" {
		s += " (" + e.Source + ")"
	}
	if s != "" {
		s += ": "
	}
	s += e.Message
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Decode reads one object, as YAML or JSON gives it, into the snapshot.
// Objects of other kinds are passed over. meta gives what the object itself
// does not say: the namespace of the release, the source.
func (s *Snapshot) Decode(object map[string]any, origin Origin) error { return nil }

// Origin is what a manifest does not say of itself.
type Origin struct {
	// Namespace is that of the release, for objects that name none; "" if it
	// is not known.
	Namespace string
	// Source is the file or template.
	Source string
	// Known marks an object of --snapshot.
	Known bool
}
