package engine

import (
	"fmt"
	"slices"
	"strings"
)

// taken holds the names of Certificates and Secrets that gatewright did not
// make, by name; a computed name never overwrites one.
type taken map[string][]*Meta

func takenNames(s *Snapshot, others []*Certificate) taken {
	t := taken{}
	for _, secret := range s.Secrets {
		t[secret.Name] = append(t[secret.Name], secret)
	}
	for _, issuer := range s.Issuers {
		if issuer.Kind == KindIssuer && issuer.CASecret != "" {
			t[issuer.CASecret] = append(t[issuer.CASecret], &issuer.Meta)
		}
	}
	for _, c := range others {
		t[c.Name] = append(t[c.Name], &c.Meta)
		if c.SecretName != c.Name {
			t[c.SecretName] = append(t[c.SecretName], &c.Meta)
		}
	}
	return t
}

// certificatesBy are the Certificates of a snapshot by what they are to us: ours,
// others', and those of either that name a Gateway by annotation. To look at all
// of their labels once takes a while.
type certificatesBy struct{ ours, others, annotated []*Certificate }

func sortOut(certificates []*Certificate) certificatesBy {
	var out certificatesBy
	for _, c := range certificates {
		if c.ours() {
			out.ours = append(out.ours, c)
		} else {
			out.others = append(out.others, c)
		}
		if _, annotated := gatewayOf(c); annotated {
			out.annotated = append(out.annotated, c)
		}
	}
	return out
}

// by says whether something else holds the name in the namespace of an object.
// What the shim made for our listener is no obstacle, nor is the Secret that
// cert-manager issued for a Certificate of the name.
func (t taken) by(beside *Meta, name string) tri {
	answer := no
	for _, m := range t[name] {
		if (m.Labels[LabelFor] != "" && m.Kind != KindCertificate) || isShimOwner(m.Controller) || m.Annotations["cert-manager.io/certificate-name"] == name {
			continue
		}
		switch sameNamespace(m.Namespace, beside.Namespace) {
		case yes:
			return yes
		case unknown:
			answer = unknown
		}
	}
	return answer
}

// isTaken says whether something else holds the name of a Certificate of ours.
// What comes to name the Secret of one that is there takes nothing: its listener
// serves, and cert-manager goes on issuing for the Certificate that was first.
func (r *run) isTaken(g *gateway, name string) bool {
	if r.snapshot.Complete && r.hasOurs(ObjectName{g.Namespace, name}) {
		return false
	}
	answer := r.taken.by(&g.Meta, name)
	if answer == unknown {
		r.errs = append(r.errs, r.needNamespace(&g.Meta, fmt.Sprintf("whether the name %s, which its Certificate would have, is in use depends on the namespace of the release", name)))
	}
	return answer != no
}

// byShim returns the Certificate of the name that cert-manager's shim made, or
// nil: it is the shim's to write and to delete.
func (t taken) byShim(g *gateway, name string) *Meta {
	i := slices.IndexFunc(t[name], func(m *Meta) bool {
		return m.Kind == KindCertificate && m.Name == name && isShimOwner(m.Controller) && sameNamespace(m.Namespace, g.Namespace) == yes
	})
	if i < 0 {
		return nil
	}
	return t[name][i]
}

// ours says whether a Certificate carries our mark and a name as we give them,
// and nothing else controls it. Labels are copied about: the shim copies those
// of the Gateway to its own.
func (c *Certificate) ours() bool {
	return c.Controller == "" && c.Name == c.SecretName && isHashed(c.Name, "-tls") && c.Labels[LabelFor] != ""
}

// IsCertificateName says whether a name has the form that [CertificateName]
// gives.
func IsCertificateName(name string) bool { return isHashed(name, "-tls") }

// isHashed says whether a name ends as those that we give: with a dash, a hash
// and a suffix.
func isHashed(name, suffix string) bool {
	rest, found := strings.CutSuffix(name, suffix)
	dash := len(rest) - hashDigits - 1
	return found && dash >= 0 && rest[dash] == '-' && strings.Trim(rest[dash+1:], "0123456789abcdef") == ""
}
