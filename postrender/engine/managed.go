package engine

import (
	"encoding/json"
	"strings"
)

// FieldManager is the name under which the sweep applies what it owns. Helm's
// and Flux's tools that move the fields of other managers match by prefix, and
// none of the names that they are given is one of this.
const FieldManager = "gatewright"

// ownership is what metadata.managedFields says of an object: who owns which of
// its listeners, and its spec.
type ownership struct {
	// listeners maps the name of a listener to its owners.
	listeners map[string]*listenerOwners
	// spec says that our manager alone owns fields of the spec, beside is another
	// that owns some of them too, and is no release's.
	spec   bool
	beside string
}

type listenerOwners struct {
	ours    bool // our manager applies it
	applied bool // another manager applies it too
	others  []fieldOwner
}

// owners reads managedFields, which an object of a file usually lacks.
func (r reader) owners() ownership {
	o := ownership{listeners: map[string]*listenerOwners{}}
	ours, others, release := false, false, false
	for _, entry := range r.child("metadata").children("managedFields") {
		spec := entry.child("fieldsV1").child("f:spec")
		if spec.object == nil {
			continue
		}
		apply := entry.text("operation") == "Apply"
		mine := apply && entry.text("manager") == FieldManager
		ours, others = ours || mine, others || !mine
		if name := orNone(entry.text("manager")); !mine && (o.beside == "" || name < o.beside) {
			o.beside = name
		}
		release = release || IsHelm(entry.text("manager")) || IsFlux(entry.text("manager"))
		for key, fields := range spec.child("f:listeners").object {
			if name := listenerKey(key); name != "" {
				o.note(name, mine, apply, fieldOwner{orNone(entry.text("manager")), asMap(fields)})
			}
		}
	}
	o.spec = ours && !others
	if !ours || release {
		o.beside = ""
	}
	return o
}

// IsHelm says whether a field manager is Helm's. A program that Helm is part of,
// such as Terraform's provider, has helm in its name and writes under that.
func IsHelm(manager string) bool { return strings.Contains(manager, "helm") }

// IsFlux says whether a field manager is another controller of Flux's, or its
// command.
func IsFlux(manager string) bool {
	return strings.HasPrefix(manager, "flux") || strings.HasPrefix(manager, "kustomize-controller")
}

func asMap(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func (o *ownership) note(listener string, mine, apply bool, of fieldOwner) {
	owners := o.listeners[listener]
	if owners == nil {
		owners = new(listenerOwners)
		o.listeners[listener] = owners
	}
	owners.ours = owners.ours || mine
	owners.applied = owners.applied || (apply && !mine)
	if !mine {
		owners.others = append(owners.others, of)
	}
}

// listenerKey returns the name that a key of a list map such as
// k:{"name":"http"} holds, or "" for any other key.
func listenerKey(key string) string {
	const prefix = "k:"
	if len(key) < len(prefix) || key[:len(prefix)] != prefix {
		return ""
	}
	var value struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(key[len(prefix):]), &value) != nil {
		return ""
	}
	return value.Name
}
