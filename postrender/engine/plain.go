package engine

import (
	"fmt"
	"slices"
)

// wantsPlain decides whether our plain listener is part of the plan. Auto adds
// it only to a Gateway without hand-written listeners: opening a port that
// nobody asked for is not ours to do. One that lives it keeps while it is needed,
// since HTTP-01 challenges come by it. Edge serves nothing but its own names.
func (r *run) wantsPlain(g *gateway) bool {
	http := g.policy.HTTP
	if g.policy.Certificates == Edge || !g.plainOn() || g.handPlain() != nil {
		return false
	}
	for _, l := range g.hand {
		switch {
		case l.Name == PlainListenerName:
			r.find(Critical, CodeNameTaken, &g.Meta, fmt.Sprintf("listener %s is hand-written and does not serve plain HTTP for every hostname on port %d; rename it, or set http.listener: false", l.Name, http.Port))
			return false
		case l.Port == http.Port && l.Protocol != "HTTP" && l.Protocol != "UDP":
			r.find(Critical, CodeNameTaken, &g.Meta, fmt.Sprintf("port %d carries listener %s (%s), so the plain listener has no place; set http.port, or http.listener: false", l.Port, l.Name, l.Protocol))
			return false
		}
	}
	return true
}

// needsLivePlain says whether our plain listener lives and something is claimed,
// of the Gateway or of a ListenerSet of it, whose challenges or redirects it
// takes.
func (r *run) needsLivePlain(g *gateway) bool {
	lives := func(l SourceListener) bool {
		return l.Name == PlainListenerName && l.Protocol == "HTTP" && l.Port == g.policy.HTTP.Port
	}
	if !r.snapshot.Complete || !slices.ContainsFunc(g.ours, lives) {
		return false
	}
	if asked := r.askedHostnames(g); len(asked.auto)+len(asked.exact) > 0 {
		return true
	}
	return slices.ContainsFunc(r.snapshot.ListenerSets, func(source *Gateway) bool {
		return source.hostName() == (ObjectName{g.Namespace, g.Name}) &&
			slices.ContainsFunc(r.asksOf(source), func(a asking) bool { return len(a.hostnames) > 0 })
	})
}

// handPlain returns the hand-written listener that serves plain HTTP on the
// policy's port.
func (g *gateway) handPlain() *SourceListener {
	for i := range g.hand {
		if l := &g.hand[i]; l.Protocol == "HTTP" && l.Port == g.policy.HTTP.Port && l.Hostname == "" {
			return l
		}
	}
	return nil
}

// plainListener admits the Gateway's own namespace, where HTTP-01 challenge
// routes of our Certificates stand, and the policy's acmeNamespaces.
// Applications elsewhere are not served in plaintext.
func (g *gateway) plainListener() standing {
	l := Listener{Name: PlainListenerName, Port: g.policy.HTTP.Port, Protocol: "HTTP"}
	return standing{Listener: l, admits: g.policy.ACMENamespaces}
}

// plain returns our plain listener, or nil if it is not part of the plan.
func (g *gateway) plain() *standing {
	for i := range g.standing {
		if g.standing[i].Name == PlainListenerName {
			return &g.standing[i]
		}
	}
	return nil
}

// planRedirect adds the route that sends plain HTTP to https. Auto adds it to
// our own plain listener only.
func (r *run) planRedirect(g *gateway) {
	if g.Kind == KindListenerSet {
		return
	}
	r.plaintextRoutes(g)
	l := r.redirectListener(g)
	if l != "" && r.foreignRoutes[ObjectName{g.Namespace, redirectName(g.Name)}] {
		r.nameTaken(g, "HTTPRoute "+redirectName(g.Name))
		return
	}
	if l != "" {
		r.redirects = append(r.redirects, r.redirect(g, l))
		return
	}
	name := ObjectName{g.Namespace, redirectName(g.Name)}
	if old := r.ourRoutes[name]; old != nil && !g.policy.noRemovals && (old.Owned || !r.snapshot.Complete) {
		r.redirects = append(r.redirects, Redirect{Placed: g.placeLike(&old.Meta), Action: Remove, Reason: "the policy asks for no redirect"})
	}
}

// redirectListener returns the plain listener that our redirect belongs to, or
// "" for none.
func (r *run) redirectListener(g *gateway) string {
	if l := g.redirecting(); l != nil && !r.redirectsAlready(g, l) {
		return l.Name
	}
	return ""
}

// redirecting returns the plain listener whose requests the policy sends to
// https, whoever does so; nil for none.
func (g *gateway) redirecting() *SourceListener {
	redirect := g.policy.HTTP.Redirect
	if plain := g.plain(); plain != nil && redirect != Off {
		l := plain.asSource(g)
		return &l
	}
	if redirect != On || g.policy.Certificates == Edge {
		return nil
	}
	return g.handPlain()
}

// redirectsAlready looks for a hand-written redirect of every hostname, on a
// route that the listener admits: another one redirects nobody.
func (r *run) redirectsAlready(g *gateway, l *SourceListener) bool {
	return slices.ContainsFunc(g.attached, func(a attachment) bool {
		return a.route.RedirectsToHTTPS && len(a.route.Hostnames) == 0 &&
			(a.ref.SectionName == "" || a.ref.SectionName == l.Name) && (a.ref.Port == 0 || a.ref.Port == g.policy.HTTP.Port) &&
			r.admitsNamespace(g, l, a.route.Namespace) != no
	})
}

func (r *run) redirect(g *gateway, listener string) Redirect {
	redirect := Redirect{Placed: r.place(g, redirectName(g.Name)), Listener: listener, Action: Add, Reason: "plain HTTP goes to https"}
	if old := r.ourRoutes[ObjectName{g.Namespace, redirect.Name}]; old != nil {
		redirect.Action, redirect.Reason = compareWith(old.Object, redirect.Object(), redirect.Reason)
		if r.snapshot.Complete && !old.Owned {
			redirect.Action, redirect.Reason = Keep, releases
		}
	}
	return redirect
}

// plaintextRoutes warns of routes that a plain listener serves although the
// policy sends its requests to https: unpinned ones that it admits, whose
// hostname is more specific than the redirect. Our own plain listener, which is
// for challenges, serves them without a redirect too.
func (r *run) plaintextRoutes(g *gateway) {
	l, redirects := g.redirecting(), ", before the redirect to https"
	if plain := g.plain(); l == nil && plain != nil {
		own := plain.asSource(g)
		l, redirects = &own, ""
	}
	if l == nil {
		return
	}
	for _, a := range g.attached {
		if !a.route.RedirectsToHTTPS && a.ref.SectionName == "" && a.ref.Port == 0 && admitsKind(l, a.route.Kind) && r.admitsNamespace(g, l, a.route.Namespace) == yes {
			r.find(Warning, CodePlaintextRoute, &a.route.Meta, fmt.Sprintf("listener %s of %s serves this route in plaintext too%s; set port: %d in its parentRef", l.Name, g, redirects, g.httpsPort))
		}
	}
}
