package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is what the sweep remembers of a Gateway or ListenerSet from one run to
// the next: the value of the annotation gatewright.dev/state. Times are UTC, in
// seconds.
type State struct {
	Version string `json:"version"`
	// Stale says since when nothing claims a listener of ours, by its name.
	Stale map[string]time.Time `json:"stale,omitempty"`
	// Claimants are the kinds that claimed a listener last, by its name: while one
	// of them is not served, the listener is not removed.
	Claimants map[string][]string `json:"claimants,omitempty"`
	// Quotas are the namespaces that claimed a listener last, by its name, where
	// the policy has a quota: it is on theirs as long as it is there.
	Quotas map[string]string `json:"quotas,omitempty"`
	// Holders are the namespaces that hold a hostname under OneNamespace.
	Holders map[string]Holder `json:"holders,omitempty"`
	// Yields are the times until which hostnames are given up.
	Yields map[string]time.Time `json:"yields,omitempty"`
}

// Holder is the namespace that a hostname belongs to, and since when it claims
// it no more, if it does not.
type Holder struct {
	Namespace string     `json:"namespace"`
	Gone      *time.Time `json:"gone,omitempty"`
}

const stateVersion = "v1alpha1"

// ParseState reads the annotation. "" is the empty state. An error means that
// somebody else wrote it, or a newer version.
func ParseState(text string) (State, error) {
	var state State
	if text == "" {
		return state, nil
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return State{}, fmt.Errorf("annotation %s cannot be read: %w", AnnotationState, err)
	}
	if state.Version != stateVersion {
		return State{}, fmt.Errorf("annotation %s is of version %q, and %s is known here; run the version that wrote it", AnnotationState, state.Version, stateVersion)
	}
	return state, nil
}

// String is the value of the annotation, "" for the empty state.
func (s State) String() string {
	if len(s.Stale)+len(s.Claimants)+len(s.Quotas)+len(s.Holders)+len(s.Yields) == 0 {
		return ""
	}
	s.Version = stateVersion
	return compact(s)
}

// Hold puts what the states of all parents say about holders and yields into
// the snapshot, as of a time: a holder whose claim has been gone for the grace
// period holds no more, and a yield ends. It returns the parents, by
// [Meta.String], whose state cannot be read; they are planned without it.
func (s *Snapshot) Hold(now time.Time, grace time.Duration) map[string]error {
	unread := map[string]error{}
	for _, g := range slices.Concat(s.Gateways, s.ListenerSets) {
		state, err := ParseState(g.Annotations[AnnotationState])
		if err != nil {
			unread[g.String()] = err
		}
		g.Holders, g.Yielded, g.Quotas = map[string]string{}, map[string]string{}, state.Quotas
		for hostname, holder := range state.Holders {
			if holder.Gone == nil || now.Sub(*holder.Gone) < grace {
				g.Holders[hostname] = holder.Namespace
			}
		}
		for hostname, until := range state.Yields {
			if now.Before(until) {
				g.Yielded[hostname] = until.UTC().Format(time.RFC3339)
			}
		}
		g.holdByListeners(state)
	}
	return unread
}

// holdByListeners takes a namespace for the holder of a hostname where a
// listener of ours or of the release admits it alone and the state, which may
// be lost, knows nothing of the hostname.
func (g *Gateway) holdByListeners(state State) {
	rendered := g.Rendered()
	for i := range g.Listeners {
		l := &g.Listeners[i]
		_, known := state.Holders[l.Hostname]
		if (l.Owned || rendered[l.Name]) && l.Hostname != "" && !known {
			if admitted := l.Admits(g.Namespace); len(admitted) == 1 {
				g.Holders[l.Hostname] = admitted[0]
			}
		}
	}
}

// Admits returns the namespaces that a listener admits where it names them (own
// is that of its parent), or nil where it does not.
func (l *SourceListener) Admits(own string) []string {
	switch {
	case l.AllowedFrom == FromSame:
		return []string{own}
	case l.AllowedFrom != FromSelector || l.AllowedSelector == nil || len(l.AllowedSelector.MatchLabels) > 0 || len(l.AllowedSelector.MatchExpressions) != 1:
		return nil
	}
	only := l.AllowedSelector.MatchExpressions[0]
	if only.Key == metadataName && only.Operator == metav1.LabelSelectorOpIn {
		return only.Values
	}
	return nil
}
