package cli

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// readHeaders says which of the inputs hold objects of a cluster, and whether
// they are all of it: --complete says so, or the header of a snapshot.
func (a *app) readHeaders(manifests []manifest, complete bool) (isLive []bool, isComplete bool, err error) {
	isComplete = complete
	for _, m := range manifests {
		header, err := headerOf(m)
		if err != nil {
			return nil, false, err
		}
		isLive = append(isLive, complete || header != nil)
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
	return isLive, isComplete, nil
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
