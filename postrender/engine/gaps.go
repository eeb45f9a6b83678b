package engine

import (
	"fmt"
	"slices"
	"strings"
)

// mustBeServed are the kinds without which nothing is done, by group, and what
// brings them.
var mustBeServed = []struct {
	group string
	kinds []string
	fix   string
}{
	{CertManagerGroup, []string{KindCertificate}, "install cert-manager with its CRDs"},
	{GatewayGroup, []string{KindGateway, KindHTTPRoute}, "install the CRDs of Gateway API, at least those of its standard channel"},
}

// Gaps finds what a complete snapshot lacks because the API server does not serve
// it, or because it was asked for by a name that nothing has. A cluster may get
// it later, so these are warnings.
func (s *Snapshot) Gaps() []Finding {
	if !s.Complete {
		return nil
	}
	var gaps []Finding
	for _, must := range mustBeServed {
		var plurals []string
		for _, kind := range must.kinds {
			if slices.Contains(s.NotServed, GroupKind{must.group, kind}) {
				plurals = append(plurals, kind+"s")
			}
		}
		if len(plurals) > 0 {
			gaps = append(gaps, Finding{Severity: Warning, Code: CodeNotServed, Object: "API group " + must.group,
				Message: fmt.Sprintf("the server serves no %s, so none is seen or made, and nothing is removed; %s", strings.Join(plurals, " and no "), must.fix)})
		}
	}
	for _, name := range s.ReadNamespaces {
		if !slices.ContainsFunc(s.Namespaces, func(n *Namespace) bool { return n.Name == name }) {
			gaps = append(gaps, Finding{Severity: Warning, Code: CodeNoSuchNamespace, Object: KindNamespace + " " + name,
				Message: "it was to be read and does not exist; correct --namespaces (namespaces in the chart's values)"})
		}
	}
	return gaps
}
