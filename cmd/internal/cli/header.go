package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// readHeaders reads the header of each input, nil for one that has none, and
// says whether they are a whole cluster: --complete says so, or a header.
func (a *app) readHeaders(manifests []manifest, complete bool) (headers []*engine.SnapshotHeader, isComplete bool, err error) {
	isComplete = complete
	for _, m := range manifests {
		header, err := headerOf(m)
		if err != nil {
			return nil, false, err
		}
		headers = append(headers, header)
		if header == nil {
			continue
		}
		missing := header.Missing()
		if len(missing) == 0 {
			isComplete = true
			continue
		}
		message := fmt.Sprintf("%s is not the whole cluster: %s", m.source, strings.Join(missing, "; "))
		if complete {
			return nil, false, fmt.Errorf("%s; leave out --complete, or write the snapshot anew", message)
		}
		say(a.stderr, oneLine("gatewright: warning: "+message+"; what is not in it is unknown, not absent"))
	}
	return headers, isComplete, nil
}

// issuerKinds returns the kinds of issuers of which a snapshot holds all.
func issuerKinds(headers []*engine.SnapshotHeader) []string {
	return slices.DeleteFunc([]string{engine.KindIssuer, engine.KindClusterIssuer}, func(kind string) bool {
		return !slices.ContainsFunc(headers, func(h *engine.SnapshotHeader) bool {
			return h != nil && h.Has(engine.GroupKind{Group: engine.CertManagerGroup, Kind: kind})
		})
	})
}

// onlyNamespaces returns the namespaces that snapshots are limited to, none if
// one of them is not.
func onlyNamespaces(headers []*engine.SnapshotHeader) []string {
	var only []string
	for _, header := range headers {
		switch {
		case header == nil:
		case len(header.Namespaces) == 0:
			return nil
		default:
			only = append(only, header.Namespaces...)
		}
	}
	return only
}

// notServed are the kinds that the API servers of snapshots do not serve.
func notServed(headers []*engine.SnapshotHeader) []engine.GroupKind {
	var kinds []engine.GroupKind
	for _, header := range headers {
		if header != nil {
			kinds = append(kinds, header.NotServed()...)
		}
	}
	return kinds
}

// headerOf reads the header of a snapshot, which is its first document; nil if
// the input is none.
func headerOf(m manifest) (*engine.SnapshotHeader, error) {
	first, _, _ := bytes.Cut(m.data, []byte("\n---"))
	if !hasKey(first, "kind") || !bytes.Contains(first, []byte(engine.SnapshotKind)) {
		return nil, nil
	}
	var header engine.SnapshotHeader
	err := yaml.Unmarshal(first, &header)
	group, _, _ := strings.Cut(engine.PolicyAPIVersion, "/")
	switch {
	case header.Kind != engine.SnapshotKind || !strings.HasPrefix(header.APIVersion, group+"/"):
		return nil, nil // somebody else's, or no YAML, which reading it says
	case header.APIVersion != engine.PolicyAPIVersion:
		return nil, fmt.Errorf("%s is a snapshot of %s, and this gatewright reads %s; write it anew", m.source, header.APIVersion, engine.PolicyAPIVersion)
	case err != nil:
		return nil, fmt.Errorf("the first document of %s is no header of a snapshot: %w; write it anew", m.source, err)
	}
	return &header, nil
}

// countKinds counts the objects of the kinds of which a snapshot holds all.
func countKinds(s *engine.Snapshot) map[string]int {
	counts := map[string]int{
		engine.KindGateway: len(s.Gateways), engine.KindListenerSet: len(s.ListenerSets), engine.KindGrant: len(s.Grants),
		engine.KindCertificate: len(s.Certificates), engine.KindNamespace: len(s.Namespaces),
	}
	for _, r := range s.Routes {
		counts[r.Kind]++
	}
	return counts
}

// warnOfCut says of a snapshot that it holds more or fewer objects than its
// header says. Somebody may have tried something out; or a copy broke off, and
// what it lost would count as absent.
func (a *app) warnOfCut(m manifest, header *engine.SnapshotHeader, before, after map[string]int) {
	if header == nil {
		return
	}
	for _, part := range header.Kinds {
		if got := after[part.Kind] - before[part.Kind]; got != part.Objects && isNeeded(part) {
			say(a.stderr, oneLine(fmt.Sprintf("gatewright: warning: %s holds %d objects of kind %s and its header says %d: it was edited, or cut",
				m.source, got, part.Kind, part.Objects)))
		}
	}
}

func isNeeded(part engine.SnapshotPart) bool {
	return slices.Contains(engine.NeededKinds(), engine.GroupKind{Group: part.Group, Kind: part.Kind})
}
