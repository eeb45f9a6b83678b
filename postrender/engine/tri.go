package engine

// tri is an answer that a render may not be able to give.
type tri int

const (
	no tri = iota
	yes
	unknown
)

// oneOfNamespaces says whether a namespace is in a list.
func oneOfNamespaces(list []string, namespace string) tri {
	answer := no
	for _, name := range list {
		switch sameNamespace(name, namespace) {
		case yes:
			return yes
		case unknown:
			answer = unknown
		}
	}
	return answer
}

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
