package engine

import (
	"cmp"
	"fmt"
	"slices"
)

// In a cluster a listener never takes a hostname over from one that presents a
// certificate before its own is there: it waits behind the wider one, and a
// change of mode takes the former listeners away only when the new ones can
// serve.

// waitsBehind returns the live listener that answers the hostname of a new one
// while the certificate of that is not ready, or nil. Where cert-manager's shim
// makes the certificate there is none before the listener.
func (r *run) waitsBehind(g *gateway, l *Listener) *SourceListener {
	if !r.snapshot.Complete || l.Certificate == "" || g.lives(l.Name) || r.ready(g, l) {
		return nil
	}
	return g.wider(l.Port, l.Hostname)
}

// lives says whether the parent has a listener of the name.
func (g *gateway) lives(name string) bool {
	return slices.ContainsFunc(g.Listeners, func(l SourceListener) bool { return l.Name == name })
}

// wider returns the most specific live listener that ends TLS for a hostname and
// is not its own, or nil.
func (g *gateway) wider(port int, hostname string) *SourceListener {
	var best *SourceListener
	listeners := g.Listeners
	if g.host != nil {
		listeners = slices.Concat(listeners, g.host.Listeners)
	}
	for i := range listeners {
		l := &listeners[i]
		if l.Protocol == "HTTPS" && l.Port == port && l.Hostname != hostname && Covers(l.Hostname, hostname) &&
			(best == nil || specificity(l.Hostname) > specificity(best.Hostname)) {
			best = l
		}
	}
	return best
}

// ready says whether the certificate of a listener is there. The Secret of a
// policy is taken for ready, since Secrets are not read.
func (r *run) ready(g *gateway, l *Listener) bool {
	if l.Certificate == "" {
		return true
	}
	return r.readySecrets[ObjectName{cmp.Or(l.secretNamespace, g.Namespace), l.secretName}]
}

// keepsCertificate says why a listener of ours that is to change goes on with the
// Secret that it has, or "": it would present another one, which is not ready.
func (r *run) keepsCertificate(g *gateway, old SourceListener, l *Listener, planned []Listener) string {
	switch {
	case !r.snapshot.Complete || l.Mode != "Terminate" || len(old.CertificateRefs) == 0 || g.presents(&old, l):
		return ""
	case !r.ready(g, l):
		return "the certificate that it is to present is not ready"
	}
	return r.secretUnproven(g, l, planned)
}

// goOnPresenting changes all of a listener but for the Secret that it presents.
func (g *gateway) goOnPresenting(l *Listener, old SourceListener, why string) {
	l.Action, l.object, l.Reason = Keep, l.presenting(old), why
	if !equalObjects(old.Object, l.object) {
		l.Action, l.Reason = Update, old.whyDiffers(l.object)+"; "+why
	}
	g.stays[l.Name] = true
}

// presenting is the listener as it shall be, but for the certificate, which is
// that of the live one: whom it admits is not to wait for that.
func (l *Listener) presenting(old SourceListener) map[string]any {
	object := l.Object()
	tls, _ := object["tls"].(map[string]any)
	if before, ok := old.Object["tls"].(map[string]any); ok && tls != nil {
		tls["certificateRefs"] = copyOf(before["certificateRefs"])
	}
	return object
}

// isOurs says whether a live listener of the name is ours.
func (g *gateway) isOurs(name string) bool {
	return slices.ContainsFunc(g.ours, func(l SourceListener) bool { return l.Name == name })
}

// servesUntilReady says why a listener of ours that no claim asks for goes on
// serving: another is to serve its hostname, and cannot yet.
func (r *run) servesUntilReady(g *gateway, old SourceListener, remaining []Listener) string {
	if old.Protocol != "HTTPS" {
		return ""
	}
	for _, s := range g.waiting {
		if s.port == old.Port && Covers(old.Hostname, s.hostname) {
			return fmt.Sprintf("it answers %s until the certificate of that is ready", s.hostname)
		}
		if len(s.listener.claims) == 0 && s.port == old.Port && Covers(s.hostname, old.Hostname) {
			return fmt.Sprintf("the certificate of listener %s is not ready", s.listener.Name)
		}
	}
	for i := range g.givenUp {
		if s := &g.givenUp[i]; s.Mode == "Terminate" && s.Port == old.Port && Covers(s.Hostname, old.Hostname) {
			return fmt.Sprintf("listener %s, which is to answer %s, is yielded until %s", s.Name, old.Hostname, g.Yielded[s.Hostname])
		}
	}
	for i := range remaining {
		l := &remaining[i]
		if l.Mode == "Terminate" && Covers(l.Hostname, old.Hostname) {
			if why := r.unproven(g, l); why != "" && !(r.ready(g, l) && g.noWorse(l.Name, &old)) {
				return why
			}
		}
	}
	return g.handUnserved(old)
}

// handUnserved says why a hand-written listener that serves the claims of a
// hostname from now on is not seen to serve, or "".
func (g *gateway) handUnserved(old SourceListener) string {
	key := old.Hostname
	if isWildcard(key) {
		key = ""
	}
	first := "" // of several, whatever the order of the routes
	for _, h := range g.byHand[key] {
		if why := g.unserved(&h.listener); h.hostname == old.Hostname && why != "" && !g.noWorse(h.listener.Name, &old) && (first == "" || why < first) {
			first = why
		}
	}
	return first
}

// goesAtOnce says whether a listener that nothing claims need not be stale for
// a time: it is yielded, or a passthrough entry of the policy displaces it. After
// a change of mode the former listeners wait as all do: that another listener
// answers their hostnames is no proof that it serves them.
func (g *gateway) goesAtOnce(old SourceListener) bool {
	return g.Yielded[old.Hostname] != "" || (old.Protocol == "HTTPS" && g.displacedBy(old.Port, old.Hostname) != nil)
}

// readySecrets returns the Secrets that hold certificates.
func readySecrets(s *Snapshot) map[ObjectName]bool {
	out := map[ObjectName]bool{}
	if !s.Complete {
		return out
	}
	for _, c := range s.Certificates {
		if c.Ready {
			out[ObjectName{c.Namespace, c.SecretName}] = true
		}
	}
	return out
}

// turn changes the verdicts of a parent that name a listener which is not made
// after all.
func (r *run) turn(g *gateway, listener string, a answer) {
	for _, verdicts := range [][]Verdict{r.verdicts[g.entries.from:g.entries.to], r.verdicts[g.planFrom:]} {
		for i := range verdicts {
			if v := &verdicts[i]; v.Listener == listener {
				v.Accepted, v.Reason, v.Message, v.Listener = false, a.reason, a.message, ""
			}
		}
	}
}
