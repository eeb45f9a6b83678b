package crdtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// webhook returns why cert-manager's validating webhook would refuse a
// Certificate. The webhook's own function is in an internal package of its
// module and cannot be called, so its rules are written out here, for the
// fields that we render: names, secretName, issuerRef, durations, key, history
// and secretTemplate. Key stores, output formats, subjects, name constraints
// and renewal windows are left out.
func webhook(u *unstructured.Unstructured) error {
	if u.GroupVersionKind() != certmanager.SchemeGroupVersion.WithKind("Certificate") {
		return nil
	}
	certificate := &certmanager.Certificate{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, certificate); err != nil {
		return fmt.Errorf("cert-manager webhook: %w", err)
	}
	spec, path := &certificate.Spec, field.NewPath("spec")
	errs := slices.Concat(checkNames(spec, path), checkIssuer(spec, path), checkDurations(spec, path),
		checkKey(spec, path), checkSecret(spec, path))
	if err := errs.ToAggregate(); err != nil {
		return fmt.Errorf("cert-manager webhook: %w", err)
	}
	return nil
}

func checkNames(spec *certmanager.CertificateSpec, path *field.Path) (errs field.ErrorList) {
	names := len(spec.DNSNames) + len(spec.URIs) + len(spec.EmailAddresses) + len(spec.IPAddresses) + len(spec.OtherNames)
	if names == 0 && spec.CommonName == "" && spec.LiteralSubject == "" {
		errs = append(errs, field.Required(path.Child("dnsNames"), "a Certificate needs a name"))
	}
	if len(spec.CommonName) > 64 {
		errs = append(errs, field.TooLong(path.Child("commonName"), spec.CommonName, 64))
	}
	return errs
}

func checkIssuer(spec *certmanager.CertificateSpec, path *field.Path) (errs field.ErrorList) {
	ref, path := spec.IssuerRef, path.Child("issuerRef")
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "an issuer has a name"))
	}
	builtIn := ref.Group == "" || ref.Group == certmanager.SchemeGroupVersion.Group
	if kinds := []string{"", "Issuer", "ClusterIssuer"}; builtIn && !slices.Contains(kinds, ref.Kind) {
		errs = append(errs, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
	}
	return errs
}

func checkDurations(spec *certmanager.CertificateSpec, path *field.Path) (errs field.ErrorList) {
	if spec.Duration == nil && spec.RenewBefore == nil {
		return nil // without either the webhook does not look at the percentage
	}
	duration := certmanager.DefaultCertificateDuration
	if spec.Duration != nil {
		duration = spec.Duration.Duration
	}
	if duration < certmanager.MinimumCertificateDuration {
		errs = append(errs, field.Invalid(path.Child("duration"), duration, "is under an hour"))
	}
	refuse := func(name string, before time.Duration) {
		if before < certmanager.MinimumRenewBefore || before >= duration {
			errs = append(errs, field.Invalid(path.Child(name), before, "is under five minutes or not under the duration"))
		}
	}
	if before := spec.RenewBefore; before != nil {
		refuse("renewBefore", before.Duration)
	}
	if percent := spec.RenewBeforePercentage; percent != nil {
		if spec.RenewBefore != nil {
			errs = append(errs, field.Forbidden(path.Child("renewBeforePercentage"), "excludes renewBefore"))
		}
		refuse("renewBeforePercentage", time.Duration(float64(duration)*float64(100-*percent)/100))
	}
	return errs
}

func checkKey(spec *certmanager.CertificateSpec, path *field.Path) field.ErrorList {
	key := spec.PrivateKey
	if key == nil || key.Size <= 0 {
		return nil
	}
	fits := true
	switch key.Algorithm {
	case "", certmanager.RSAKeyAlgorithm:
		fits = key.Size >= 2048 && key.Size <= 8192
	case certmanager.ECDSAKeyAlgorithm:
		fits = slices.Contains([]int{256, 384, 521}, key.Size)
	}
	if fits {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("privateKey", "size"), key.Size, "does not fit the algorithm")}
}

func checkSecret(spec *certmanager.CertificateSpec, path *field.Path) (errs field.ErrorList) {
	for _, message := range apivalidation.NameIsDNSSubdomain(spec.SecretName, false) {
		errs = append(errs, field.Invalid(path.Child("secretName"), spec.SecretName, message))
	}
	if limit := spec.RevisionHistoryLimit; limit != nil && *limit < 1 {
		errs = append(errs, field.Invalid(path.Child("revisionHistoryLimit"), *limit, "is under 1"))
	}
	template, path := spec.SecretTemplate, path.Child("secretTemplate")
	if template == nil {
		return errs
	}
	errs = append(errs, metavalidation.ValidateLabels(template.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, path.Child("annotations"))...)
	for key := range template.Annotations {
		if strings.HasPrefix(key, "cert-manager.io/") && key != certmanager.AllowsInjectionFromSecretAnnotation {
			errs = append(errs, field.Invalid(path.Child("annotations"), key, "is cert-manager's own"))
		}
	}
	return errs
}

// issuable returns why an ACME server could not issue a Certificate that the
// API server accepts: neither the definition nor the webhook looks at dnsNames.
func issuable(object map[string]any) error {
	u := unstructured.Unstructured{Object: object}
	if u.GetKind() != "Certificate" {
		return nil
	}
	names, _, err := unstructured.NestedStringSlice(u.Object, "spec", "dnsNames")
	if err != nil {
		return err
	}
	var errs []error
	for i, name := range names {
		base, wildcard := strings.CutPrefix(name, "*.")
		if problems := checkHostname(base); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("dnsName %q: %s", name, strings.Join(problems, ", ")))
		}
		if slices.Contains(names[:i], name) {
			errs = append(errs, fmt.Errorf("dnsName %q: is there twice", name))
		}
		if _, parent, _ := strings.Cut(name, "."); !wildcard && slices.Contains(names, "*."+parent) {
			errs = append(errs, fmt.Errorf("dnsName %q: is covered by %q in the same Certificate", name, "*."+parent))
		}
	}
	if name, _, _ := unstructured.NestedString(u.Object, "spec", "commonName"); name != "" && !slices.Contains(names, name) {
		errs = append(errs, fmt.Errorf("commonName %q: is not among the dnsNames", name))
	}
	return errors.Join(errs...)
}

// checkHostname returns what is wrong with a hostname that has no wildcard.
func checkHostname(name string) []string {
	problems := validation.IsDNS1123Subdomain(name)
	for label := range strings.SplitSeq(name, ".") {
		problems = append(problems, validation.IsDNS1123Label(label)...)
	}
	if len(validation.IsValidIP(nil, name)) == 0 {
		problems = append(problems, "is an IP address")
	}
	return problems
}
