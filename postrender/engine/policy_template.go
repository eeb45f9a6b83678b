package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// validateTemplate refuses what cert-manager's webhook would refuse, so that
// the mistake shows at render time and not in a failed install. Source:
// internal/apis/certmanager/validation of cert-manager.
func (p *Policy) validateTemplate() error {
	t := p.CertificateTemplate
	if err := validateDurations(t); err != nil {
		return err
	}
	if t.RevisionHistoryLimit != nil && *t.RevisionHistoryLimit < 1 {
		return fmt.Errorf("certificateTemplate.revisionHistoryLimit is %d; it is at least 1", *t.RevisionHistoryLimit)
	}
	for key := range t.Labels {
		if key == LabelFor {
			return fmt.Errorf("certificateTemplate.labels: %s is gatewright's own label", key)
		}
	}
	if t.SecretTemplate == nil {
		return nil
	}
	for key := range t.SecretTemplate.Annotations {
		if strings.HasPrefix(key, CertManagerGroup+"/") && key != "cert-manager.io/allow-direct-injection" {
			return fmt.Errorf("certificateTemplate.secretTemplate.annotations: cert-manager refuses %s", key)
		}
	}
	return nil
}

func validateDurations(t CertificateTemplate) error {
	lifetime := 90 * 24 * time.Hour // what cert-manager takes without a duration
	if t.Duration != nil {
		lifetime = t.Duration.Duration
		if lifetime < time.Hour {
			return fmt.Errorf("certificateTemplate.duration is %v; cert-manager takes at least 1h", lifetime)
		}
	}
	if t.RenewBefore == nil {
		return nil
	}
	switch before := t.RenewBefore.Duration; {
	case before < 5*time.Minute:
		return fmt.Errorf("certificateTemplate.renewBefore is %v; cert-manager takes at least 5m", before)
	case before >= lifetime:
		return errors.New("certificateTemplate.renewBefore is not shorter than the duration")
	}
	return nil
}

// filledTemplate is what the Certificates of a parent have in common: nobody
// changes it.
type filledTemplate struct{ labels, annotations, spec map[string]any }

// template makes what the Certificates of a parent have in common once for all
// of them.
func (g *gateway) template() *filledTemplate {
	if g.filled != nil {
		return g.filled
	}
	t := g.policy.CertificateTemplate
	label := ForLabel(g.label())
	spec := templateSpec(t)
	secretTemplate, _ := spec["secretTemplate"].(map[string]any)
	secretLabels, _ := secretTemplate["labels"].(map[string]any)
	spec["secretTemplate"] = with(secretTemplate, "labels", with(secretLabels, LabelFor, label))
	annotations := anyMap(t.Annotations)
	annotations["acme.cert-manager.io/http01-parentrefkind"] = KindGateway
	annotations["acme.cert-manager.io/http01-parentrefname"] = g.label()
	if g.Parent.Namespace != "" {
		// The solver's route must find the Gateway, whose plain listener serves the
		// challenge; a ListenerSet has none.
		annotations["acme.cert-manager.io/http01-parentrefnamespace"] = g.Parent.Namespace
	}
	g.filled = &filledTemplate{with(anyMap(t.Labels), LabelFor, label), annotations, spec}
	return g.filled
}

// templateSpec returns the fields of a Certificate's spec that the policy's
// template sets.
func templateSpec(t CertificateTemplate) map[string]any {
	t.Labels, t.Annotations = nil, nil
	spec := jsonMap(t)
	if t.RevisionHistoryLimit != nil {
		spec["revisionHistoryLimit"] = int64(*t.RevisionHistoryLimit)
	}
	if t.PrivateKey != nil && t.PrivateKey.Size != 0 {
		spec["privateKey"].(map[string]any)["size"] = int64(t.PrivateKey.Size)
	}
	return spec
}
