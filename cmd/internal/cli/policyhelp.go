package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// policyKey is the help of one key of a policy.
type policyKey struct{ name, byDefault, help string }

const policyIntro = `A policy holds the settings for one Gateway. It is merged key by key from, highest
first: command flags, the file of --policy, the Gateway's annotation
gatewright.dev/policy (one entry as YAML or JSON, without match), the defaults.
A Gateway that carries cert-manager's issuer annotation has a policy by that
alone; a Gateway without any policy stays as it is, and a finding says so.

`

const policyExample = `apiVersion: gatewright.dev/v1alpha1
kind: Policy
gateways:                          # the first match wins
- match: {namespace: infra, name: edge}
  issuerRef: {kind: ClusterIssuer, name: letsencrypt}
  attach: {from: List, namespaces: [shop, blog]}
  hostnames:
    allow: ["*.example.com"]
    perNamespace: {shop: ["*.shop.example.com"], "*": ["*.example.com"]}
- match: {namespace: "*", name: "*"}
  issuerRef: {kind: Issuer, name: internal}
`

func policyTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "policy",
		Short: "The settings for a Gateway: every key, its default, an example",
		Long:  policyIntro + "EXAMPLE\n\n" + policyExample + "\nKEYS\n\n" + policyTable(policyKeys()),
	}
}

func policyTable(keys []policyKey) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.name + "  (default " + k.byDefault + ")\n")
		b.WriteString(wrap(k.help, "    ", 88))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// policyKeys are all the keys, in the order in which one meets them.
func policyKeys() []policyKey {
	const later = " This version refuses it."
	return []policyKey{
		{"match", "every Gateway", "Namespace and name of the Gateway; either may be left out or *. In a file only."},
		{"issuerRef", "none", "The cert-manager issuer of the Certificates: kind, name, and group unless it is cert-manager.io."},
		{"issuers", "none", "Exceptions, each a list of hostnames with an issuerRef." + later},
		{"certificates", "PerHostname", "PerHostname: a listener and a Certificate for each claimed hostname. ListenersOnly: listeners alone, cert-manager's gateway-shim makes the Certificates; chosen by itself on a Gateway with an issuer annotation. Wildcard, ExistingSecret and Edge are refused by this version."},
		{"apex", "none", "The domain that wildcard modes are about; when set, a fence for every claim."},
		{"childApexes", "none", "Domains that the fence of apex lets through too." + later},
		{"secretName", "none", "The Secret of mode ExistingSecret." + later},
		{"attach", "from: Same", "Which namespaces may claim: from is Same, All, List (with namespaces) or Selector (with selector)."},
		{"claims", "All", "All, or OptedIn: only objects annotated gatewright.dev/manage: \"true\"."},
		{"hostnames", "none", "The fence: allow lists the hostnames that may be claimed, perNamespace those of each namespace (a namespace not in it gets nothing, unless \"*\" is). *.x is any depth below x, and not x."},
		{"wildcards", "none", "Wildcard hostnames of routes that may become a Certificate."},
		{"hostnameOwnership", "Shared", "Shared, or OneNamespace: a hostname belongs to one namespace, which this version refuses."},
		{"cover", "Any", "Which hand-written listener counts as serving a hostname: Any, Wildcard (exact, or one label below its wildcard), Exact."},
		{"http", "Auto, Auto, 80", "The plain listener and the redirect to https: listener and redirect are Auto, true or false; port. Auto adds them only to a Gateway without a hand-written listener."},
		{"acmeNamespaces", "none", "Namespaces that the computed plain listener admits beside the Gateway's own, for ACME HTTP-01."},
		{"httpsPort", "Auto", "Port of the computed HTTPS listeners. Auto is the port of the hand-written HTTPS listeners if there is exactly one, or 443."},
		{"passthrough", "none", "TLS listeners that hand the connection through: name, port, hostname, from." + later},
		{"withdraw", "SamePort", "When a passthrough hostname takes a hostname from a terminate listener: SamePort, or Served, which this version refuses."},
		{"tlsOptions", "none", "Copied to tls.options of the computed listeners."},
		{"certificateTemplate", "none", "Copied to the Certificates: duration, renewBefore, privateKey, usages, revisionHistoryLimit, labels, annotations, secretTemplate. What is left out is left to cert-manager."},
		{"maxListenersPerNamespace", "0", "Quota of listeners for a claiming namespace, 0 for none." + later},
		{"priorityNamespaces", "none", "Namespaces that win the race for a hostname, with wildcards. In a file only." + later},
		{"maxListeners", "64", "A render that would give a Gateway more listeners fails. In a file or flag only."},
		{"secretRetention", "Keep", "What becomes of the Secret of a removed Certificate: Keep, or Delete or {after: 336h}, which this version refuses. In a file only."},
	}
}
