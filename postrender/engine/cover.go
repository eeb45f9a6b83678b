package engine

import (
	"fmt"
	"slices"
)

// servedBy returns the hand-written listener that would serve the claim, and
// whether it answers a wider set of names than cover lets count.
func (r *run) servedBy(route *Route, g *gateway, c claim) (served *SourceListener, wider bool) {
	if c.parent.SectionName != "" {
		return nil, false // the route takes no listener but the one of ours that it names
	}
	var undecided []*SourceListener
	for i := range g.hand {
		l := &g.hand[i]
		if l.lost != "" || l.Protocol != "HTTPS" || l.Port != g.httpsPort || !Covers(l.Hostname, c.hostname) || !admitsKind(l, route.Kind) {
			continue
		}
		switch r.admitsNamespace(g, l, route.Namespace) {
		case no:
			continue
		case unknown:
			undecided = append(undecided, l)
			continue
		}
		if served == nil || specificity(l.Hostname) > specificity(served.Hostname) {
			served = l
		}
	}
	for _, l := range undecided {
		if served == nil || specificity(l.Hostname) > specificity(served.Hostname) {
			r.errs = append(r.errs, r.needNamespace(c.object, fmt.Sprintf("whether listener %s of %s serves %s depends on the namespace of the release", l.Name, g, c.hostname)))
		}
	}
	return served, served != nil && !reaches(g.policy.Cover, served.Hostname, c.hostname)
}

// reaches says whether the policy's cover lets a listener of this hostname
// count as serving the claimed one.
func reaches(cover, listener, hostname string) bool {
	switch cover {
	case CoverExact:
		return listener == hostname
	case CoverWildcard:
		return listener == hostname || oneLabelBelow(listener, hostname)
	}
	return true
}

// getsItsOwn says whether a name that a wider listener answers has, or can now
// have, a listener of its own beside it: its certificate is there.
func (r *run) getsItsOwn(g *gateway, c claim) bool {
	if !r.snapshot.Complete || isApexMode(g.policy.Certificates) {
		return false
	}
	l := Listener{Name: ListenerName(c.hostname, g.httpsPort), Certificate: "of ours", secretName: CertificateName(g.Kind, g.Name, c.hostname)}
	return g.lives(l.Name) || (g.policy.writesCertificates() && r.ready(g, &l))
}

// coveredByWider deals with a name that a live listener answers although cover
// does not let it count: a listener of its own would take the name over before
// its Certificate exists. So the Certificate comes first, and the sweep adds
// the listener once it is ready.
func (r *run) coveredByWider(g *gateway, c claim, l *SourceListener) {
	if _, refused := r.refusedByPolicy(g, c); refused {
		return
	}
	if r.snapshot.Complete {
		g.prepared = append(g.prepared, handClaim{c, *l}) // until it is known who else claims what
		return
	}
	r.prepare(g, c, l, "")
}

// prepare makes the Certificate of a name that a wider listener answers, unless
// something keeps it from a listener of its own for ever.
func (r *run) prepare(g *gateway, c claim, l *SourceListener, never string) {
	message := fmt.Sprintf("%s is answered by the hand-written listener %s (%s); ", c.hostname, l.Name, orAny(l.Hostname))
	switch {
	case isApexMode(g.policy.Certificates):
		return
	case never != "":
		message += "it gets none of its own: " + never
	case g.policy.writesCertificates() && r.issues(g, c.hostname) && (!isWildcard(c.hostname) || slices.Contains(g.policy.Wildcards, c.hostname)):
		r.wantCertificate(g, c.hostname, c.object.String())
		message += "its Certificate is made now, and the sweep gives it a listener of its own once that is ready"
	default:
		message += "its own listener would take the name over before its certificate exists, so none is made; set cover: Any to accept that, or write the listener by hand"
	}
	r.find(Warning, CodeCoveredByWider, c.object, message)
}

func orAny(hostname string) string {
	if hostname == "" {
		return "any hostname"
	}
	return hostname
}
