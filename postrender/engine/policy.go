package engine

import (
	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	SecretRetention          any                 `json:"secretRetention,omitempty"`
}

// IssuerRef names a cert-manager issuer.
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
	From       string                `json:"from,omitempty"` // Same, All, List, Selector
	Namespaces []string              `json:"namespaces,omitempty"`
	Selector   *metav1.LabelSelector `json:"selector,omitempty"`
}

// Fence is the set of hostnames that may be claimed.
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

// AutoBool is Auto, true or false. The zero value is Auto.
type AutoBool string

// AutoInt is Auto (0) or a number.
type AutoInt int

// Passthrough is a TLS listener that hands the connection through.
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

// Keys is one source of policy: its keys as they were written, so that sources
// can be merged key by key.
type Keys map[string]any

// PolicySources are the sources of policy that do not stand on the Gateway
// itself. The zero value knows none.
type PolicySources struct {
	// Flags are the keys set by command flags, for every Gateway.
	Flags Keys
	// File is the Policy file, or nil.
	File *PolicyFile
}

// PolicyFile is a parsed Policy file.
type PolicyFile struct {
	// Name is the path of the file, for messages.
	Name     string
	Gateways []PolicyEntry
}

// PolicyEntry gives keys to the Gateways that it matches.
type PolicyEntry struct {
	Namespace, Name string // "" and "*" match all
	Keys            Keys
}

// ParsePolicyFile reads a Policy file. An unknown key is an error that names it.
func ParsePolicyFile(name string, data []byte) (*PolicyFile, error) { return nil, nil }
