package engine

import (
	"cmp"
	"errors"
	"slices"
)

// Compute plans the listeners, Certificates, grants and redirects that the
// snapshot asks for. An error (it is, or joins, [*Error]) means that nothing
// may be written; a refused claim costs only itself and is in the plan.
func Compute(snapshot *Snapshot, policies PolicySources) (*Plan, error) {
	r := newRun(snapshot, policies)
	r.readGateways()
	r.claimRoutes()
	r.claimCertificates()
	for _, g := range r.gateways {
		r.planGateway(g)
	}
	r.planCertificates()
	r.planGrants()
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.plan(), nil
}

// run is one computation.
type run struct {
	snapshot *Snapshot
	policies PolicySources
	taken    taken

	gateways []*gateway
	byName   map[string][]*gateway // Gateways of the snapshot, also unmanaged ones
	known    map[string][]*Gateway // Gateways of --snapshot
	labels   map[string]*Namespace

	gatewayPlans []GatewayPlan
	verdicts     []Verdict
	findings     []Finding
	certificates []CertificatePlan
	redirects    []Redirect
	grants       []Grant
	errs         []error

	wantCertificates map[ObjectName]CertificatePlan
	wantGrants       map[ObjectName]*Grant
	// ourRoutes are the redirects that we rendered before.
	ourRoutes map[ObjectName]*Route
	// byLabel finds managed Gateways by the value of the label gatewright.dev/for.
	byLabel map[string][]*gateway
}

func newRun(snapshot *Snapshot, policies PolicySources) *run {
	r := &run{
		snapshot:   snapshot,
		policies:   policies,
		taken:      takenNames(snapshot),
		byName:     map[string][]*gateway{},
		known:      map[string][]*Gateway{},
		labels:     map[string]*Namespace{},
		byLabel:    map[string][]*gateway{},
		ourRoutes:  map[ObjectName]*Route{},
		wantGrants: map[ObjectName]*Grant{},

		wantCertificates: map[ObjectName]CertificatePlan{},
	}
	for _, n := range snapshot.Namespaces {
		r.labels[n.Name] = n
	}
	return r
}

// gateway is a Gateway of the snapshot while it is planned.
type gateway struct {
	*Gateway
	policy effective
	// hand holds the hand-written listeners, ours those that we rendered before.
	hand, ours []SourceListener
	httpsPort  int
	plain      bool // whether our plain listener is part of the plan
	wanted     map[slot]*wanted
	claimed    bool // whether anything of the snapshot names the Gateway
	attached   []attachment
	optedOut   bool
}

// slot is what must be unique among terminate listeners: the port and the
// hostname.
type slot struct {
	port     int
	hostname string
}

func (r *run) readGateways() {
	seen := map[ObjectName]bool{}
	for _, g := range sortedGateways(r.snapshot.Gateways) {
		if g.Known {
			r.known[g.Name] = append(r.known[g.Name], g)
			continue
		}
		key := ObjectName{g.Namespace, g.Name}
		if seen[key] {
			r.find(Warning, CodeDuplicateObject, &g.Meta, "the Gateway stands twice in the input, and only its first manifest is planned; remove one")
			continue
		}
		seen[key] = true
		r.readGateway(g)
	}
}

func sortedGateways(gateways []*Gateway) []*Gateway {
	return slices.SortedStableFunc(slices.Values(gateways), func(a, b *Gateway) int {
		if order := compareMeta(&a.Meta, &b.Meta); order != 0 {
			return order
		}
		return cmp.Compare(compact(a.Listeners), compact(b.Listeners))
	})
}

// keepFirst notes an object of the input by its name. Where two have one name,
// the choice must not depend on their order.
func keepFirst[T any](m map[ObjectName]T, meta *Meta, value T, manifest func(T) map[string]any) {
	key := ObjectName{meta.Namespace, meta.Name}
	if old, twice := m[key]; !twice || compact(manifest(value)) < compact(manifest(old)) {
		m[key] = value
	}
}

func compareMeta(a, b *Meta) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source))
}

func (r *run) readGateway(source *Gateway) {
	g := &gateway{Gateway: source, wanted: map[slot]*wanted{}}
	r.byName[g.Name] = append(r.byName[g.Name], g)
	if g.Annotations[AnnotationManage] == "false" {
		g.optedOut = true
		return
	}
	policy, err := r.effectivePolicy(source)
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	g.policy = policy
	rendered := renderedListeners(source)
	for _, l := range source.Listeners {
		if rendered[l.Name] {
			g.ours = append(g.ours, l)
		} else {
			g.hand = append(g.hand, l)
		}
	}
	g.httpsPort = g.resolveHTTPSPort()
	g.plain = r.wantsPlain(g)
	r.gateways = append(r.gateways, g)
	if policy.managed {
		label := ForLabel(g.Name)
		r.byLabel[label] = append(r.byLabel[label], g)
	}
}

// resolveHTTPSPort returns the policy's port, or, for Auto, the one port of the
// hand-written HTTPS and TLS listeners, or 443. A controller that listens on
// 8443 behind a Service (Traefik) accepts no listener on 443.
func (g *gateway) resolveHTTPSPort() int {
	if g.policy.HTTPSPort != 0 {
		return int(g.policy.HTTPSPort)
	}
	port := 0
	for _, l := range g.hand {
		if !isTLS(l.Protocol) || l.Port == port {
			continue
		}
		if port != 0 {
			return 443
		}
		port = l.Port
	}
	return cmp.Or(port, 443)
}

func isTLS(protocol string) bool { return protocol == "HTTPS" || protocol == "TLS" }

func (r *run) find(severity Severity, code string, m *Meta, message string) {
	r.findings = append(r.findings, Finding{severity, code, m.String(), m.Source, message})
}

func (r *run) fail(m *Meta, message, fix string) {
	r.errs = append(r.errs, &Error{Object: m.String(), Source: m.Source, Message: message, Fix: fix})
}

func gatewayError(g *Gateway, message, fix string) error {
	return &Error{Object: g.String(), Source: g.Source, Message: message, Fix: fix}
}

// needNamespace is the error of a result that depends on a namespace which
// Helm does not tell a post-renderer.
func (r *run) needNamespace(m *Meta, message string) error {
	return &Error{Object: m.String(), Source: m.Source, Message: message, Fix: "add --namespace NAMESPACE (or set HELM_NAMESPACE)"}
}

// err joins the reasons why nothing may be written: sorted, each once.
func (r *run) err() error {
	slices.SortFunc(r.errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(slices.CompactFunc(r.errs, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// Error is a reason why nothing may be written.
type Error struct {
	Object  string // "Gateway infra/edge"
	Source  string // file or template, may be ""
	Message string // what is wrong
	Fix     string // what to do, may be ""
}

// Error returns "object (source): message; fix".
func (e *Error) Error() string {
	s := e.Object
	if e.Source != "" {
		s += " (" + e.Source + ")"
	}
	s += ": " + e.Message
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}
