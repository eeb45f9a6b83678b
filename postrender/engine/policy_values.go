package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// validateValues refuses values that would be copied into objects which the API
// server or cert-manager's webhook then refuses.
func (p *Policy) validateValues() error {
	t := p.CertificateTemplate
	secret := t.SecretTemplate
	if secret == nil {
		secret = &cmv1.CertificateSecretTemplate{}
	}
	return firstError(
		validateNamespaces("attach.namespaces", p.Attach.Namespaces),
		validateNamespaces("acmeNamespaces", p.ACMENamespaces),
		validateNamespaces("hostnames.perNamespace", slices.DeleteFunc(slices.Sorted(maps.Keys(p.Hostnames.PerNamespace)), func(name string) bool { return name == "*" })),
		validateSelector(p.Attach.Selector),
		validateTLSOptions(p.TLSOptions),
		validateLabels("certificateTemplate.labels", t.Labels),
		validateKeys("certificateTemplate.annotations", t.Annotations),
		validateLabels("certificateTemplate.secretTemplate.labels", secret.Labels),
		validateKeys("certificateTemplate.secretTemplate.annotations", secret.Annotations),
		validateUsages(t.Usages),
		validatePrivateKey(t.PrivateKey),
	)
}

func validateNamespaces(key string, names []string) error {
	for _, name := range names {
		if len(validation.IsDNS1123Label(name)) > 0 {
			return fmt.Errorf("%s: %q cannot be the name of a namespace", key, name)
		}
	}
	return nil
}

func validateSelector(selector *metav1.LabelSelector) error {
	if selector == nil {
		return nil
	}
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return fmt.Errorf("attach.selector: %w", err)
	}
	return nil
}

// validateTLSOptions follows the schema of tls.options of a listener.
func validateTLSOptions(options map[string]string) error {
	if len(options) > 16 {
		return fmt.Errorf("tlsOptions has %d entries; a listener takes 16", len(options))
	}
	for key, value := range options {
		if len(value) > 4096 {
			return fmt.Errorf("tlsOptions.%s has %d characters; a listener takes 4096", key, len(value))
		}
	}
	return validateKeys("tlsOptions", options)
}

func validateKeys(where string, values map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			return fmt.Errorf("%s: the key %q is not valid: %s", where, key, problems[0])
		}
	}
	return nil
}

func validateLabels(where string, labels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			return fmt.Errorf("%s.%s: %q is not valid: %s", where, key, labels[key], problems[0])
		}
	}
	return validateKeys(where, labels)
}

// usages are those of cert-manager's schema.
var usages = []cmv1.KeyUsage{
	cmv1.UsageSigning, cmv1.UsageDigitalSignature, cmv1.UsageContentCommitment, cmv1.UsageKeyEncipherment, cmv1.UsageKeyAgreement,
	cmv1.UsageDataEncipherment, cmv1.UsageCertSign, cmv1.UsageCRLSign, cmv1.UsageEncipherOnly, cmv1.UsageDecipherOnly, cmv1.UsageAny,
	cmv1.UsageServerAuth, cmv1.UsageClientAuth, cmv1.UsageCodeSigning, cmv1.UsageEmailProtection, cmv1.UsageSMIME,
	cmv1.UsageIPsecEndSystem, cmv1.UsageIPsecTunnel, cmv1.UsageIPsecUser, cmv1.UsageTimestamping, cmv1.UsageOCSPSigning,
	cmv1.UsageMicrosoftSGC, cmv1.UsageNetscapeSGC,
}

func validateUsages(given []cmv1.KeyUsage) error {
	for _, usage := range given {
		if !slices.Contains(usages, usage) {
			return fmt.Errorf("certificateTemplate.usages: %q is not one that cert-manager knows, such as server auth", usage)
		}
	}
	return nil
}

func validatePrivateKey(key *cmv1.CertificatePrivateKey) error {
	if key == nil {
		return nil
	}
	const where = "certificateTemplate.privateKey."
	if err := firstError(
		oneOfOrNone(where+"algorithm", string(key.Algorithm), "RSA", "ECDSA", "Ed25519"),
		oneOfOrNone(where+"encoding", string(key.Encoding), "PKCS1", "PKCS8"),
		oneOfOrNone(where+"rotationPolicy", string(key.RotationPolicy), "Never", "Always"),
	); err != nil || key.Size == 0 {
		return err
	}
	switch {
	case key.Algorithm == cmv1.ECDSAKeyAlgorithm && !slices.Contains([]int{256, 384, 521}, key.Size):
		return fmt.Errorf("%ssize is %d; ECDSA takes 256, 384 or 521", where, key.Size)
	case key.Algorithm == cmv1.Ed25519KeyAlgorithm:
		return errors.New(where + "size: Ed25519 has one size; leave it out")
	case key.Algorithm != cmv1.ECDSAKeyAlgorithm && (key.Size < 2048 || key.Size > 8192):
		return fmt.Errorf("%ssize is %d; RSA takes 2048 to 8192", where, key.Size)
	}
	return nil
}

func oneOfOrNone(key, value string, allowed ...string) error {
	if value == "" {
		return nil
	}
	return oneOf(key, value, allowed...)
}
