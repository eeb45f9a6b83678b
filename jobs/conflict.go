package jobs

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// conflict is a field of a listener that another field manager owns with
// another value.
type conflict struct {
	listener string
	// path is that of the field in the listener, as the server writes it:
	// .allowedRoutes.namespaces.from; "" is all of it.
	path string
	// message is the server's, which names the manager.
	message string
}

func (c conflict) String() string {
	return fmt.Sprintf("%s on %s%s", c.message, strings.TrimPrefix(c.path, "."), fieldKept)
}

// fieldKept ends the reason of a listener of which another manager owns a field.
const fieldKept = "; its value is left as it is"

const listenersField = `.spec.listeners[name="`

// conflictsOf reads the conflicts of an apply. An empty listener stands for a
// field elsewhere.
func conflictsOf(err error) []conflict {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		c := conflict{message: cause.Message, path: cause.Field}
		if rest, found := strings.CutPrefix(cause.Field, listenersField); found {
			c.listener, c.path, _ = strings.Cut(rest, `"]`)
		}
		out = append(out, c)
	}
	return out
}

// yield puts the live value of the field into the listener that is to be
// applied. It says whether there is such a listener.
func (c conflict) yield(listeners []any, p *parent) bool {
	live := p.listener(c.listener)
	if live == nil {
		return false
	}
	for i, value := range listeners {
		listener, _ := value.(map[string]any)
		if listener["name"] != c.listener {
			continue
		}
		if c.path == "" {
			listeners[i] = runtime.DeepCopyJSONValue(live.Object)
		} else {
			copyField(listener, live.Object, strings.TrimPrefix(c.path, "."))
		}
		return true
	}
	return false
}

// copyField copies one field from an object to another, or takes it away where
// the other has none. The path joins keys by dots, and keys (those of
// tls.options) may hold dots too, so the longest key that fits is meant. What
// lies within a list is copied with the whole list.
func copyField(to, from map[string]any, path string) {
	key := longestKey(path, to, from)
	rest := strings.TrimPrefix(path[len(key):], ".")
	child, ok := from[key].(map[string]any)
	target, okTo := to[key].(map[string]any)
	switch {
	case rest != "" && ok && okTo:
		copyField(target, child, rest)
	case from[key] == nil:
		delete(to, key)
	default:
		to[key] = runtime.DeepCopyJSONValue(from[key])
	}
}

func longestKey(path string, objects ...map[string]any) string {
	best := ""
	for _, object := range objects {
		for key := range object {
			fits := path == key || strings.HasPrefix(path, key+".") || strings.HasPrefix(path, key+"[")
			if fits && len(key) > len(best) {
				best = key
			}
		}
	}
	if best == "" {
		return path
	}
	return best
}
