package engine

// tri is an answer that a render may not be able to give.
type tri int

const (
	no tri = iota
	yes
	unknown
)

// sameNamespace compares two namespaces of which either may be that of the
// release, not known and written "".
func sameNamespace(a, b string) tri {
	switch {
	case a == b:
		return yes
	case a == "" || b == "":
		return unknown
	}
	return no
}
