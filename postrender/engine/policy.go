package engine

import (
	"fmt"
	"strconv"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values of policy keys.
const (
	PerHostname    = "PerHostname"
	Wildcard       = "Wildcard"
	ExistingSecret = "ExistingSecret"
	Edge           = "Edge"
	ListenersOnly  = "ListenersOnly"

	FromSame     = "Same"
	FromAll      = "All"
	FromList     = "List"
	FromSelector = "Selector"

	ClaimsAll     = "All"
	ClaimsOptedIn = "OptedIn"

	CoverAny      = "Any"
	CoverWildcard = "Wildcard"
	CoverExact    = "Exact"
)

// Policy is the settings for one Gateway, with every default filled in.
type Policy struct {
	IssuerRef                IssuerRef           `json:"issuerRef,omitzero"`
	Issuers                  []IssuerRule        `json:"issuers,omitempty"`
	Certificates             string              `json:"certificates,omitempty"`
	Apex                     string              `json:"apex,omitempty"`
	ChildApexes              []string            `json:"childApexes,omitempty"`
	SecretName               string              `json:"secretName,omitempty"`
	Attach                   Attach              `json:"attach,omitzero"`
	Claims                   string              `json:"claims,omitempty"`
	Hostnames                Fence               `json:"hostnames,omitzero"`
	Wildcards                []string            `json:"wildcards,omitempty"`
	HostnameOwnership        string              `json:"hostnameOwnership,omitempty"`
	Cover                    string              `json:"cover,omitempty"`
	HTTP                     PlainHTTP           `json:"http,omitzero"`
	ACMENamespaces           []string            `json:"acmeNamespaces,omitempty"`
	HTTPSPort                AutoInt             `json:"httpsPort,omitzero"`
	Passthrough              []Passthrough       `json:"passthrough,omitempty"`
	Withdraw                 string              `json:"withdraw,omitempty"`
	TLSOptions               map[string]string   `json:"tlsOptions,omitempty"`
	CertificateTemplate      CertificateTemplate `json:"certificateTemplate,omitzero"`
	MaxListenersPerNamespace int                 `json:"maxListenersPerNamespace,omitempty"`
	PriorityNamespaces       []string            `json:"priorityNamespaces,omitempty"`
	MaxListeners             int                 `json:"maxListeners,omitempty"`
	SecretRetention          Retention           `json:"secretRetention,omitzero"`

	shim bool // cert-manager's gateway-shim writes the Certificates
}

// DefaultPolicy returns the policy of a Gateway whose sources set no key.
func DefaultPolicy() Policy {
	return Policy{
		Certificates:      PerHostname,
		Attach:            Attach{From: FromSame},
		Claims:            ClaimsAll,
		HostnameOwnership: "Shared",
		Cover:             CoverAny,
		HTTP:              PlainHTTP{Port: 80},
		Withdraw:          "SamePort",
		MaxListeners:      64,
		SecretRetention:   Retention{Mode: RetainKeep},
	}
}

// IssuerRef names a cert-manager issuer. Group defaults to cert-manager.io and
// kind to Issuer.
type IssuerRef struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
}

// IssuerRule gives some hostnames another issuer.
type IssuerRule struct {
	Hostnames []string  `json:"hostnames"`
	IssuerRef IssuerRef `json:"issuerRef"`
}

// Attach says which namespaces may claim.
type Attach struct {
	From       string                `json:"from,omitempty"`       // Same, All, List or Selector
	Namespaces []string              `json:"namespaces,omitempty"` // of List
	Selector   *metav1.LabelSelector `json:"selector,omitempty"`   // of Selector
}

// Fence is the set of hostnames that may be claimed, and by which namespace.
type Fence struct {
	Allow        []string            `json:"allow,omitempty"`
	PerNamespace map[string][]string `json:"perNamespace,omitempty"`
}

// PlainHTTP is about the plain listener and the redirect to https.
type PlainHTTP struct {
	Listener AutoBool `json:"listener,omitzero"`
	Redirect AutoBool `json:"redirect,omitzero"`
	Port     int      `json:"port,omitempty"`
}

// Passthrough is a TLS listener that hands connections through.
type Passthrough struct {
	Name     string `json:"name"`
	Port     int    `json:"port"`
	Hostname string `json:"hostname"`
	From     string `json:"from,omitempty"`
}

// CertificateTemplate is copied into computed Certificates. What is empty is
// left to cert-manager.
type CertificateTemplate struct {
	Duration             *metav1.Duration                `json:"duration,omitempty"`
	RenewBefore          *metav1.Duration                `json:"renewBefore,omitempty"`
	PrivateKey           *cmv1.CertificatePrivateKey     `json:"privateKey,omitempty"`
	Usages               []cmv1.KeyUsage                 `json:"usages,omitempty"`
	RevisionHistoryLimit *int32                          `json:"revisionHistoryLimit,omitempty"`
	Labels               map[string]string               `json:"labels,omitempty"`
	Annotations          map[string]string               `json:"annotations,omitempty"`
	SecretTemplate       *cmv1.CertificateSecretTemplate `json:"secretTemplate,omitempty"`
}

// AutoBool is a switch that decides by itself unless it is set.
type AutoBool string

// The values of [AutoBool]. Auto is the zero value.
const (
	Auto AutoBool = ""
	On   AutoBool = "true"
	Off  AutoBool = "false"
)

// UnmarshalJSON reads "Auto", true or false.
func (b *AutoBool) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"Auto"`:
		*b = Auto
	case "true", "false":
		*b = AutoBool(data)
	default:
		return fmt.Errorf("%s is neither Auto nor true nor false", data)
	}
	return nil
}

// AutoInt is a number that decides by itself while it is 0, written "Auto".
type AutoInt int

// UnmarshalJSON reads "Auto" or a number.
func (n *AutoInt) UnmarshalJSON(data []byte) error {
	if string(data) == `"Auto"` {
		*n = 0
		return nil
	}
	value, err := strconv.Atoi(string(data))
	if err != nil {
		return fmt.Errorf("%s is neither Auto nor a number", data)
	}
	*n = AutoInt(value)
	return nil
}

// writesCertificates says whether the Certificates of the mode are ours to
// write: not where cert-manager's shim writes them.
func (p *Policy) writesCertificates() bool {
	return (p.Certificates == PerHostname || p.Certificates == Wildcard) && !p.shim
}

// issuerFor returns the issuer of a hostname's Certificate.
func (p *Policy) issuerFor(hostname string) IssuerRef {
	for _, rule := range p.Issuers {
		if coveredByAny(rule.Hostnames, hostname) {
			return rule.IssuerRef
		}
	}
	return p.IssuerRef
}

func coveredByAny(patterns []string, hostname string) bool {
	for _, pattern := range patterns {
		if Covers(pattern, hostname) {
			return true
		}
	}
	return false
}
