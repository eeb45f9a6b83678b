package jobs

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// While Helm carries out a release, its Gateway may be there and the
// Certificates and the redirect that it renders beside not yet. Helm 3 fails if
// somebody makes them first, so for a time they are left to the release.

// inFlight says why what a release renders beside a parent is not made by the
// sweep now, or "".
func (s *sweep) inFlight(p *parent) string {
	if by, at := lastRelease(p.live.Managed); s.now.Sub(at) < s.options.Settle {
		return fmt.Sprintf("%s wrote %s %s ago and brings it along; the sweep makes it after %s", by, p.source, s.now.Sub(at).Round(time.Second), s.options.Settle)
	}
	return ""
}

// leftSecrets are those that listeners name which a release renders that was
// written lately, with the reason why their Certificates are left to it.
func (s *sweep) leftSecrets() map[engine.ObjectName]string {
	left := map[engine.ObjectName]string{}
	for _, p := range s.parents {
		why := s.inFlight(p)
		for _, l := range p.source.Listeners {
			if why == "" || !p.rendered[l.Name] {
				continue
			}
			for _, secret := range l.CertificateRefs {
				secret.Namespace = cmp.Or(secret.Namespace, p.source.Namespace)
				left[secret] = why
			}
		}
	}
	return left
}

// leftRedirect is the same of a redirect.
func (s *sweep) leftRedirect(r engine.Redirect) string {
	for _, p := range s.parts[r.Gateway] {
		if p.source.Kind == engine.KindGateway && p.rendered[r.Listener] {
			return s.inFlight(p)
		}
	}
	return ""
}
