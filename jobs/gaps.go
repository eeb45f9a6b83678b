package jobs

import (
	"fmt"

	"github.com/gatewright/gatewright/postrender/engine"
)

// CodeNoSuchGateway: a sweep is for a Gateway that is not there, or not read. It is
// described in jobs/README.md.
const CodeNoSuchGateway = "NoSuchGateway"

// Gaps finds what was not read because the server does not serve it, or nothing
// has its name.
func Gaps(kinds []KindReading) []engine.Finding {
	s := engine.Snapshot{Complete: true, NotServed: notServed(kinds)}
	for _, k := range kinds {
		s.ReadNamespaces = append(s.ReadNamespaces, k.Absent...)
	}
	return s.Gaps()
}

// notServed are the kinds that the server was seen not to serve.
func notServed(kinds []KindReading) []engine.GroupKind {
	var out []engine.GroupKind
	for _, k := range kinds {
		if !k.Served && k.Complete {
			out = append(out, engine.GroupKind{Group: k.Group, Kind: k.Kind})
		}
	}
	return out
}

// noSuchGateways finds the Gateways that this run is for and that were not read.
func (s *sweep) noSuchGateways() []engine.Finding {
	var findings []engine.Finding
	for _, name := range s.options.Gateways {
		if s.reading.Gateways[name] != nil {
			continue
		}
		message := "the sweep is for it and it does not exist, so nothing is done for it; correct --gateway (gateways in the chart's values)"
		if !s.reads(name.Namespace) {
			message = "the sweep is for it and its namespace is not read, so nothing is done for it; add that to --namespaces (namespaces in the chart's values)"
		}
		findings = append(findings, engine.Finding{Severity: engine.Warning, Code: CodeNoSuchGateway,
			Object: fmt.Sprintf("%s %s/%s", engine.KindGateway, name.Namespace, name.Name), Message: message})
	}
	return findings
}
