package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Compute plans the listeners, Certificates, grants and redirects that the
// snapshot asks for. An error (it is, or joins, [*Error]) means that nothing
// may be written; a refused claim costs only itself and is in the plan.
//
// In a complete snapshot an error of one Gateway or ListenerSet costs only
// itself: it is a finding of severity error, and everything that is there stays
// as it is.
func Compute(snapshot *Snapshot, policies PolicySources) (*Plan, error) {
	aged := snapshot.withAges()
	frozen := map[string]*Error{}
	for {
		plan, err := compute(aged, policies, frozen)
		if err == nil || !snapshot.Complete || !freeze(frozen, err) {
			return plan, err
		}
	}
}

func compute(snapshot *Snapshot, policies PolicySources, frozen map[string]*Error) (*Plan, error) {
	r := newRun(snapshot, policies)
	r.frozen = frozen
	r.readParents()
	r.claimRoutes()
	r.claimCertificates()
	for _, g := range r.parents {
		r.planParent(g)
	}
	r.verdictsOfServed()
	r.verdictsOfLate()
	r.planCertificates()
	r.planGrants()
	if err := r.err(); err != nil {
		return nil, err
	}
	r.lintYields()
	r.lint()
	r.findings = append(r.findings, snapshot.Gaps()...)
	return r.plan(), nil
}

// run is one computation.
type run struct {
	snapshot *Snapshot
	policies PolicySources
	by       certificatesBy
	taken    taken

	// frozen are the parents that errors of a former run belong to, see [Compute].
	frozen  map[string]*Error
	parents []*gateway // Gateways, then ListenerSets
	byName  map[parentName]namesakes
	known   map[ObjectName]*Gateway // Gateways of --snapshot
	labels  map[string]*Namespace
	// services and grants answer where a backend is, and whether it may be named.
	services  map[ObjectName]bool
	grantsIn  map[string][]*ReferenceGrant
	permitted map[permission]bool
	selectors map[*metav1.LabelSelector]labels.Requirements

	gatewayPlans     []GatewayPlan
	listenerSetPlans []GatewayPlan
	verdicts         []Verdict
	findings         []Finding
	certificates     []CertificatePlan
	redirects        []Redirect
	grants           []Grant
	errs             []error

	wantCertificates wantedCertificates
	// readySecrets are those of Certificates that are ready.
	readySecrets map[ObjectName]bool
	wantGrants   map[ObjectName]*Grant
	// ourCertificates are those of ours that are there, once asked for.
	ourCertificates map[ObjectName]bool
	// ourRoutes are the redirects that we rendered before.
	ourRoutes map[ObjectName]*Route
	// foreignRoutes are routes of others that have a name as we give redirects.
	foreignRoutes map[ObjectName]bool
	// byLabel finds managed parents by the value of the label gatewright.dev/for,
	// beside finds them by their namespace too.
	byLabel map[string][]*gateway
	beside  map[ObjectName][]*gateway
	// asks holds what claims each parent, once asked for.
	asks map[parentKey][]asking
	// present holds every parent, managed or not, as beside does.
	present map[ObjectName]bool
}

// parentName is what a parentRef names but for the namespace, which may not be
// known.
type parentName struct{ kind, name string }

// namesakes are the parents of one kind and name, by namespace.
type namesakes struct {
	in   map[string]*gateway
	last *gateway
}

func (n namesakes) with(g *gateway) namesakes {
	if n.in == nil {
		n.in = map[string]*gateway{}
	}
	n.in[g.Namespace], n.last = g, g
	return n
}

func newRun(snapshot *Snapshot, policies PolicySources) *run {
	by := sortOut(snapshot.Certificates)
	r := &run{
		snapshot:   snapshot,
		policies:   policies,
		by:         by,
		taken:      takenNames(snapshot, by.others),
		byName:     map[parentName]namesakes{},
		known:      map[ObjectName]*Gateway{},
		labels:     map[string]*Namespace{},
		services:   map[ObjectName]bool{},
		grantsIn:   map[string][]*ReferenceGrant{},
		byLabel:    map[string][]*gateway{},
		beside:     map[ObjectName][]*gateway{},
		present:    map[ObjectName]bool{},
		ourRoutes:  map[ObjectName]*Route{},
		wantGrants: map[ObjectName]*Grant{},

		foreignRoutes: map[ObjectName]bool{},
		readySecrets:  readySecrets(snapshot),

		wantCertificates: wantedCertificates{index: make(map[ObjectName]int, len(by.ours))},
		verdicts:         make([]Verdict, 0, countClaims(snapshot)),
		permitted:        permissions(snapshot.Grants),
		selectors:        map[*metav1.LabelSelector]labels.Requirements{},
	}
	for _, n := range snapshot.Namespaces {
		if old := r.labels[n.Name]; old == nil || n.tells(old) {
			r.labels[n.Name] = n
		}
	}
	for _, s := range snapshot.Services {
		r.services[ObjectName{s.Namespace, s.Name}] = true
	}
	for _, g := range snapshot.Grants {
		r.grantsIn[g.Namespace] = append(r.grantsIn[g.Namespace], g)
	}
	return r
}

// slot is what must be unique among terminate listeners: the port and the
// hostname.
type slot struct {
	port     int
	hostname string
}

// countClaims returns about how many verdicts there will be.
func countClaims(s *Snapshot) int {
	count := 0
	for _, route := range s.Routes {
		count += len(route.Hostnames) * len(route.Parents)
	}
	return count
}
