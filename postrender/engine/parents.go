package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// gateway is a Gateway or ListenerSet of the snapshot while it is planned.
type gateway struct {
	*Gateway
	policy effective
	// filled and allowed are parts that its Certificates and listeners share,
	// once they were asked for.
	filled  *filledTemplate
	allowed map[string]any
	// hand holds the listeners that are not ours, ours those that are.
	hand, ours []SourceListener
	// byListener finds the live ones, once asked for.
	byListener map[string]*SourceListener
	// standing holds those of ours that the policy alone asks for: the plain
	// listener, those of an apex, passthrough listeners.
	standing    []standing
	passthrough []standing
	// keepsPlain says that our plain listener lives and is needed, so that Auto
	// leaves it whatever is written beside it.
	keepsPlain bool
	// heldUp holds the yielded hostnames that are asked for meanwhile.
	heldUp map[string]bool
	// givenUp holds those that would stand and are yielded.
	givenUp   []standing
	httpsPort int
	// autoPort is the one that httpsPort would be if nothing were live.
	autoPort int
	wanted   map[slot]*wanted
	// claims are those that race for a hostname, on all ports.
	claims map[string][]claim
	// served holds the claims that standing listeners serve; they may still lose
	// a race.
	served []servedClaim
	// byHand holds the claims that hand-written listeners serve, by hostname,
	// those of wildcards by "".
	byHand map[string][]handClaim
	// tlsRoutes holds the TLSRoutes that name the parent, for withdraw: Served.
	tlsRoutes []attachment
	// forwarding indexes those whose backend is there, by hostname.
	forwarding map[string][]attachment
	claimed    bool // whether anything of the snapshot names the parent
	attached   []attachment
	optedOut   bool
	// waiting are the listeners that wait for their certificates behind wider ones;
	// prepared the claims that a hand-written one serves until theirs is there.
	waiting  []waitingListener
	prepared []handClaim
	// frozen says why nothing of the parent may be changed, or is "".
	frozen string
	// host is the Gateway of a ListenerSet, if the snapshot holds it; barred says
	// why it takes no listeners of the set.
	host   *gateway
	barred string
	late   []lateClaim
	// listeners are those of the plan.
	listeners []Listener
	// ports holds the places of a Gateway and its ListenerSets, live those of
	// our listeners that stand in the cluster.
	ports, live ports
	// ofSets holds those of our listeners that stand in its ListenerSets.
	ofSets ports
	// entries are the verdicts of passthrough entries among those of the run, and
	// planFrom is the first of those that planning gives.
	entries  struct{ from, to int }
	planFrom int
	// stays holds the names of listeners of ours that nothing claims and that are
	// kept; overLimit the answers of those that a limit takes out.
	stays     map[string]bool
	overLimit map[string]answer
}

func (r *run) readParents() {
	seen := map[string]bool{}
	for _, source := range append(sortedGateways(r.snapshot.Gateways), sortedSets(r.snapshot.ListenerSets)...) {
		switch key := source.String(); {
		case source.Known && source.Kind == KindGateway:
			if name := (ObjectName{source.Namespace, source.Name}); r.known[name] == nil {
				r.known[name] = source
			}
		case source.Known:
		case seen[key]:
			r.find(Warning, CodeDuplicateObject, &source.Meta, fmt.Sprintf("the %s stands twice in the input, and only one of its manifests is planned; remove the other", source.Kind))
		default:
			seen[key] = true
			r.readParent(source)
		}
	}
}

func sortedGateways(gateways []*Gateway) []*Gateway {
	return slices.SortedStableFunc(slices.Values(gateways), func(a, b *Gateway) int {
		if order := compareMeta(&a.Meta, &b.Meta); order != 0 {
			return order
		}
		return cmp.Or(cmp.Compare(compact(a), compact(b)), cmp.Compare(a.Index, b.Index))
	})
}

// sortedSets orders ListenerSets as the Gateway API gives them precedence: the
// oldest first, then by namespace and name.
func sortedSets(sets []*Gateway) []*Gateway {
	return slices.SortedStableFunc(slices.Values(sortedGateways(sets)), func(a, b *Gateway) int { return compareAge(&a.Meta, &b.Meta) })
}

// tells says whether a namespace is to be believed rather than another of its
// name: what a release writes before what --snapshot knows.
func (n *Namespace) tells(other *Namespace) bool {
	if n.Known != other.Known {
		return other.Known
	}
	return compact(n.Labels) < compact(other.Labels)
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

func (r *run) readParent(source *Gateway) {
	g := &gateway{Gateway: source, wanted: map[slot]*wanted{}, ports: ports{}, live: ports{}, ofSets: ports{}, stays: map[string]bool{}}
	key := parentName{g.Kind, g.Name}
	r.byName[key] = r.byName[key].with(g)
	r.present[ObjectName{g.Namespace, ForLabel(g.label())}] = true
	err := r.findHost(g)
	g.frozen = r.whyFrozen(g)
	if g.frozen != "" || g.Annotations[AnnotationManage] == "false" {
		g.optedOut, g.hand = g.frozen == "", slices.Clone(source.Listeners)
		r.occupy(g)
		if g.frozen != "" {
			r.keepAsIs(g)
		}
		return
	}
	if err == nil {
		g.policy, err = r.effectivePolicy(g)
	}
	if err == nil {
		err = r.seesBackends(g)
	}
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	g.hand, g.ours = r.splitListeners(source)
	r.resolveHTTPSPort(g)
	g.entries.from = len(r.verdicts)
	g.standing = r.standingListeners(g)
	g.entries.to = len(r.verdicts)
	r.occupy(g)
	r.parents = append(r.parents, g)
	if g.policy.managed {
		label := ForLabel(g.label())
		place := ObjectName{g.Namespace, label}
		r.byLabel[label] = append(r.byLabel[label], g)
		r.beside[place] = append(r.beside[place], g)
	}
}

// keepAsIs plans a parent of which nothing may be changed.
func (r *run) keepAsIs(g *gateway) {
	plan := GatewayPlan{Namespace: g.Namespace, Name: g.Name, Source: g.Source, Index: g.Index, Listeners: []Listener{}, Action: Keep, Frozen: g.frozen, IdleYields: r.idleYields(g)}
	_, ours := r.splitListeners(g.Gateway)
	for _, l := range ours {
		plan.Listeners = append(plan.Listeners, l.asItIs(g.frozen))
	}
	r.addPlan(g, plan)
}

func (r *run) addPlan(g *gateway, plan GatewayPlan) {
	if g.Kind == KindListenerSet {
		r.listenerSetPlans = append(r.listenerSetPlans, plan)
	} else {
		r.gatewayPlans = append(r.gatewayPlans, plan)
	}
}

// seesBackends says whether a policy that decides by the backends of TLSRoutes
// can do so: what was not read is not absent.
func (r *run) seesBackends(g *gateway) error {
	if !r.snapshot.Complete || !r.snapshot.ServicesUnread || g.policy.Withdraw != "Served" || len(g.policy.Passthrough) == 0 {
		return nil
	}
	return gatewayError(g.Gateway, "its policy says withdraw: Served, and Services were not read", "add --services (services.read in the chart's values), or use withdraw: SamePort")
}

// whyFrozen says why nothing of a parent may be changed, or "".
func (r *run) whyFrozen(g *gateway) string {
	if problem := r.frozen[g.String()]; problem != nil {
		r.findings = append(r.findings, problem.finding())
		return "an error in " + g.String() + " keeps it as it is; see its findings"
	}
	if g.Deleting {
		return g.String() + " is being deleted"
	}
	if g.host != nil {
		return g.host.frozen
	}
	return r.hostUnread(g)
}

// splitListeners tells ours from the others. In a release what was rendered
// before is ours to render again; in a cluster it belongs to the release, and
// ours are those that our field manager owns.
func (r *run) splitListeners(source *Gateway) (hand, ours []SourceListener) {
	rendered := source.Rendered()
	hand = make([]SourceListener, 0, len(source.Listeners))
	for i := range source.Listeners {
		l := &source.Listeners[i]
		if (rendered[l.Name] && !r.snapshot.Complete) || (l.Owned && !rendered[l.Name]) {
			if ours == nil {
				ours = make([]SourceListener, 0, len(source.Listeners)-len(hand))
			}
			ours = append(ours, *l)
		} else {
			hand = append(hand, *l)
		}
	}
	return slices.Clip(hand), ours
}

func isTLS(protocol string) bool { return protocol == "HTTPS" || protocol == "TLS" }
