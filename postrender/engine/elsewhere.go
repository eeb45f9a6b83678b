package engine

import (
	"fmt"
	"slices"
	"strings"
)

// elsewhere is what can be done for a claim on the Gateway of another release.
const elsewhere = "the sweep serves it; without the sweep, render both in one release, or write the listener by hand"

// gatewayElsewhere says what becomes of a route whose Gateway is not in the
// snapshot: a render does not know it, a complete snapshot lacks it.
func (r *run) gatewayElsewhere(route *Route, parent Parent) {
	if r.snapshot.unread(parent.Namespace) {
		r.answerNames(&route.Meta, parent, route.Hostnames, notRead(parent))
		return
	}
	if r.snapshot.Complete {
		r.answerNames(&route.Meta, parent, route.Hostnames, refuse(ReasonNoMatchingParent, "there is no %s %s%s; correct the parentRef", parent.Kind, placedName(parent.Namespace, parent.Name), but(r.held(parent, distinctParents(route)))))
		return
	}
	if len(route.Hostnames) == 0 {
		return
	}
	asks := fmt.Sprintf("it asks for %s of %s %s, which is not in this release", strings.Join(route.Hostnames, ", "), parent.Kind, placedName(parent.Namespace, parent.Name))
	if missing, known := r.answerElsewhere(route, parent); known {
		if len(missing) > 0 {
			r.find(Warning, CodeGatewayElsewhere, &route.Meta, fmt.Sprintf("%s; the snapshot shows no listener for %s: %s", asks, strings.Join(missing, ", "), elsewhere))
		}
		return
	}
	ifMeant := r.ifMeant(parent, distinctParents(route), "namespace and name in the parentRef")
	if parent.SectionName != "" || parent.Port != 0 {
		r.find(Warning, CodePinned, &route.Meta, fmt.Sprintf("%s, and it is pinned to listener %s, so it gets no listener of its own; %swrite that listener by hand, or remove sectionName and port from the parentRef", asks, pin(parent), ifMeant))
		return
	}
	r.find(Warning, CodeGatewayElsewhere, &route.Meta, asks+"; "+ifMeant+elsewhere)
}

// answerElsewhere answers for the hostnames of a route on the Gateway of another
// release. It returns those that this one does not serve, if --snapshot knows it.
func (r *run) answerElsewhere(route *Route, parent Parent) (missing []string, known bool) {
	source := r.known[ObjectName{parent.Namespace, parent.Name}]
	if source == nil || parent.Kind != KindGateway {
		r.answerNames(&route.Meta, parent, route.Hostnames, notHere(parent))
		return nil, false
	}
	g := &gateway{Gateway: source, hand: source.Listeners}
	for _, raw := range route.Hostnames {
		c := claim{object: &route.Meta, parent: parent, hostname: normalOr(raw)}
		listeners := slices.DeleteFunc(g.selectedBy(c), func(l SourceListener) bool { return !c.pinned() && !isTLS(l.Protocol) })
		a := answer{}
		if len(listeners) > 0 {
			a = r.bestAnswer(route, g, c, listeners)
		}
		if !a.accepted {
			missing = append(missing, raw)
			a = refuse(ReasonPending, "%s is not in this release, and no listener that the snapshot shows of it serves the hostname", g)
		}
		r.verdict(c, a)
	}
	return missing, true
}

// knows says whether --snapshot holds a listener of a Gateway.
func (r *run) knows(g *gateway, listener string) bool {
	known := r.known[ObjectName{g.Namespace, g.Name}]
	return known != nil && g.Kind == KindGateway && slices.ContainsFunc(known.Listeners, func(l SourceListener) bool { return l.Name == listener })
}

func (r *run) certificateElsewhere(c *Certificate, target ObjectName) {
	name := placedName(target.Namespace, target.Name)
	parent := Parent{Kind: KindGateway, Namespace: target.Namespace, Name: target.Name}
	if r.snapshot.unread(parent.Namespace) {
		r.answerNames(&c.Meta, parent, c.DNSNames, notRead(parent))
		return
	}
	if r.snapshot.Complete {
		r.answerNames(&c.Meta, parent, c.DNSNames, refuse(ReasonNoMatchingParent, "there is no Gateway %s%s; correct the annotation", name, but(r.held(parent, nil))))
		return
	}
	r.answerNames(&c.Meta, parent, c.DNSNames, notHere(parent))
	r.find(Warning, CodeGatewayElsewhere, &c.Meta, fmt.Sprintf("it asks for %s of Gateway %s, which is not in this release; %s%s", strings.Join(c.DNSNames, ", "), name, r.ifMeant(parent, nil, "the annotation"), elsewhere))
}

// fewParents is how many parents an input may hold for it to be told which of
// them may be meant: looking through more for each route would not be linear.
const fewParents = 50

// held returns the parents of the snapshot that may be meant by one which it
// lacks: those of its name in other namespaces, else those that the object does
// not name as well. Of a whole cluster only those of a like name are meant.
func (r *run) held(parent Parent, named []ParentRef) []string {
	if parent.Kind == KindGateway && r.known[ObjectName{parent.Namespace, parent.Name}] != nil {
		return nil
	}
	var same, others []string
	for _, g := range r.byName[parentName{parent.Kind, parent.Name}].in {
		same = append(same, g.String())
	}
	if len(same) > 0 || len(r.byName) > fewParents {
		slices.Sort(same)
		return same
	}
	for key, parents := range r.byName {
		for _, g := range parents.in {
			switch {
			case key.kind != parent.Kind:
			case slices.ContainsFunc(named, func(ref ParentRef) bool { return ref.Kind == g.Kind && ref.Name == g.Name }):
			case !r.snapshot.Complete || oneEdit(key.name, parent.Name):
				others = append(others, g.String())
			}
		}
	}
	slices.Sort(others)
	return others
}

func but(held []string) string {
	if len(held) == 0 {
		return ""
	}
	return ", but " + listed(held)
}

// ifMeant is the advice to correct the name of a parent, where the release holds
// one that may be meant.
func (r *run) ifMeant(parent Parent, named []ParentRef, what string) string {
	held := r.held(parent, named)
	if len(held) == 0 {
		return ""
	}
	return fmt.Sprintf("this release holds %s: if that is meant, correct %s; if not, ", listed(held), what)
}
