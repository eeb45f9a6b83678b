package engine

import (
	"cmp"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// validateIssuers checks how the policy names its issuers. cert-manager takes
// any kind and any name, and then waits for ever for an issuer that cannot be.
func (p *Policy) validateIssuers() error {
	if p.IssuerRef != (IssuerRef{}) {
		if err := p.IssuerRef.validate("issuerRef"); err != nil {
			return err
		}
	}
	for i, rule := range p.Issuers {
		if rule.IssuerRef.Name == "" || len(rule.Hostnames) == 0 {
			return errors.New("issuers: an entry needs hostnames and issuerRef.name")
		}
		if err := rule.IssuerRef.validate(fmt.Sprintf("issuers[%d].issuerRef", i)); err != nil {
			return err
		}
	}
	return nil
}

func (ref IssuerRef) validate(key string) error {
	kind := cmp.Or(ref.Kind, KindIssuer)
	ours := ref.Group == "" || ref.Group == CertManagerGroup
	switch {
	case ours && kind != KindIssuer && kind != KindClusterIssuer:
		return fmt.Errorf("%s.kind is %q; use %s or %s (an issuer of another kind needs its group too; as a flag, Kind.group/NAME)", key, ref.Kind, KindIssuer, KindClusterIssuer)
	case ref.Name == "":
		return fmt.Errorf("%s has no name; add the name of the issuer", key)
	case len(validation.IsDNS1123Subdomain(ref.Name)) > 0:
		return fmt.Errorf("%s.name is %q, which no issuer can be called; a name has small letters, digits, dashes and dots, at most %d characters", key, ref.Name, validation.DNS1123SubdomainMaxLength)
	}
	return nil
}
