package engine

// Severity of a [Finding].
type Severity string

// The severities.
const (
	Warning  Severity = "warning"
	Critical Severity = "error"
)

// Finding is a warning or an error about the input. Codes are stable.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	// Object is "Kind namespace/name".
	Object string `json:"object"`
	// Source is the file or template of the object.
	Source string `json:"source,omitempty"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// The codes of findings. Each is described in postrender/README.md.
const (
	// CodeNoPolicy: a Gateway has no policy and stays untouched.
	CodeNoPolicy = "NoPolicy"
	// CodeNoClaims: nothing in the input asks a managed Gateway for a hostname.
	CodeNoClaims = "NoClaims"
	// CodeGatewayElsewhere: an object's Gateway is not in the release.
	CodeGatewayElsewhere = "GatewayElsewhere"
	// CodeGatewayNotRead: the Gateway of a ListenerSet was not read.
	CodeGatewayNotRead = "GatewayNotRead"
	// CodePinned: a route is pinned to a listener of a Gateway elsewhere.
	CodePinned = "Pinned"
	// CodeRefused: hostnames that get no listener, with the reason.
	CodeRefused = "Refused"
	// CodeNoHostnames: a route asks for no hostname.
	CodeNoHostnames = "NoHostnames"
	// CodeHostnameSpelling: a route spells a hostname as the API refuses it.
	CodeHostnameSpelling = "HostnameSpelling"
	// CodeOptedOut: a route names a Gateway that is taken out by annotation.
	CodeOptedOut = "OptedOut"
	// CodePolicyDifference: two sources of policy differ on a key.
	CodePolicyDifference = "PolicyDifference"
	// CodePolicyUnknownKey: an annotation holds a key that is not known.
	CodePolicyUnknownKey = "PolicyUnknownKey"
	// CodePolicyKeyNotHere: an annotation holds a key that only a file or flag may set.
	CodePolicyKeyNotHere = "PolicyKeyNotHere"
	// CodeShimServes: cert-manager's shim writes the Certificates of a Gateway.
	CodeShimServes = "ShimServes"
	// CodeNameTaken: a computed name belongs to something else.
	CodeNameTaken = "NameTaken"
	// CodePlaintextRoute: a route is served in plaintext beside the redirect.
	CodePlaintextRoute = "PlaintextRoute"
	// CodeCoveredByWider: a hand-written listener answers a name that cover asks
	// to be served on its own.
	CodeCoveredByWider = "CoveredByWider"
	// CodeListenerSetBarred: a Gateway takes no ListenerSets from a namespace.
	CodeListenerSetBarred = "ListenerSetBarred"
	// CodeNoListener: a Gateway or ListenerSet is, or would be, without a listener.
	CodeNoListener = "NoListener"
	// CodeNotCovered: a wildcard certificate does not cover a hostname.
	CodeNotCovered = "NotCovered"
	// CodePassthroughIgnored: a mode without TLS has passthrough entries.
	CodePassthroughIgnored = "PassthroughIgnored"
	// CodePassthroughBelow: a passthrough listener lies below the wildcard of a
	// terminate listener of its port.
	CodePassthroughBelow = "PassthroughBelow"
	// CodeSharedSNI: two TLSRoutes of one namespace send one hostname elsewhere.
	CodeSharedSNI = "SharedSNI"
	// CodeLostRace: a hostname belongs to another namespace.
	CodeLostRace = "LostRace"
	// CodePortGuessed: nothing in the Gateway says which port takes HTTPS.
	CodePortGuessed = "PortGuessed"
	// CodeNamespaceLabels: a selector decides on labels that are not known.
	CodeNamespaceLabels = "NamespaceLabelsUnknown"
	// CodeNamespaceUnknown: whether a listener admits a route depends on the
	// namespace of the release.
	CodeNamespaceUnknown = "NamespaceUnknown"
	// CodeDuplicateKey: a manifest holds a key twice; the last one counts.
	CodeDuplicateKey = "DuplicateKey"
	// CodeDuplicateObject: an object stands twice in the input.
	CodeDuplicateObject = "DuplicateObject"
	// CodePortConflict: one port carries protocols that cannot be told apart.
	CodePortConflict = "PortConflict"
	// CodeMixedTLS: one port ends TLS and passes it through.
	CodeMixedTLS = "MixedTLS"
	// CodeSameHostname: two listeners of a port answer the same hostname.
	CodeSameHostname = "SameHostname"
	// CodeServerSpeaksFirst: a TLS listener on a port whose protocol lets the
	// server speak first.
	CodeServerSpeaksFirst = "ServerSpeaksFirst"
	// CodePortOpened: a Certificate asks for a port that nothing else uses.
	CodePortOpened = "PortOpened"
	// CodeOverlappingTLS: a listener presents the certificate of a wider one.
	CodeOverlappingTLS = "OverlappingTLSConfig"
	// CodeTwoWriters: two Certificates write one Secret.
	CodeTwoWriters = "TwoWriters"
	// CodeSharedSecret: listeners of different hostnames present one certificate.
	CodeSharedSecret = "SharedSecret"
	// CodeNoCertificate: a hand-written listener ends TLS without a certificate.
	CodeNoCertificate = "NoCertificate"
	// CodeSecretNotGranted: a listener names a Secret that it may not read.
	CodeSecretNotGranted = "SecretNotGranted"
	// CodeSelectorMissing: a selector decides, and there is none.
	CodeSelectorMissing = "SelectorMissing"
	// CodeNotAdmitted: no listener admits a route that asks for no hostname, or
	// that adds nothing.
	CodeNotAdmitted = "NotAdmitted"
	// CodeMixedRouteKinds: a GRPCRoute and an HTTPRoute share a hostname.
	CodeMixedRouteKinds = "MixedRouteKinds"
	// CodeChallengeUnreachable: no plain listener takes the challenges of HTTP-01.
	CodeChallengeUnreachable = "ChallengeUnreachable"
	// CodeIssuerMissing: a policy names an issuer that is not there.
	CodeIssuerMissing = "IssuerMissing"
	// CodeNobodyIssues: listeners wait for Certificates that nothing makes.
	CodeNobodyIssues = "NobodyIssues"
	// CodeWildcardNeedsDNS01: a wildcard whose issuer has HTTP-01 solvers only.
	CodeWildcardNeedsDNS01 = "WildcardNeedsDNS01"
	// CodeHostnameTwice: a hostname is on two Gateways of one namespace.
	CodeHostnameTwice = "HostnameTwice"
	// CodeNearLimit: an eighth of a parent's listeners is left, or less.
	CodeNearLimit = "NearListenerLimit"
	// CodePastLimit: a parent has more listeners than its limit.
	CodePastLimit = "PastListenerLimit"
	// CodeCertificateBudget: more new certificates for a domain than Let's Encrypt
	// issues in a week.
	CodeCertificateBudget = "CertificateBudget"
	// CodeNotServed: the API server does not serve kinds without which nothing is done.
	CodeNotServed = "NotServed"
	// CodeNoSuchNamespace: a namespace was to be read and does not exist.
	CodeNoSuchNamespace = "NoSuchNamespace"
	// CodeKeptAsIs: an error in a Gateway of a cluster keeps all of it as it is.
	CodeKeptAsIs = "KeptAsIs"
	// CodeCertificateEdited: somebody else wrote to a Certificate of the sweep, which
	// leaves it as it is.
	CodeCertificateEdited = "CertificateEdited"
	// CodeYielded: a hostname that is asked for gets no listener for a time.
	CodeYielded = "Yielded"
	// CodeNotYielded: a hostname is to be yielded, and no listener goes for it.
	CodeNotYielded = "NotYielded"
	// CodeTooManyNames: a Certificate has more names than Let's Encrypt takes.
	CodeTooManyNames = "TooManyNames"
	// CodeNoDNSNames: an annotated Certificate has no dnsNames.
	CodeNoDNSNames = "NoDNSNames"
	// CodeTwoAnnotations: the annotations of a Certificate disagree.
	CodeTwoAnnotations = "TwoAnnotations"
	// CodeIdenticalCertificates: more new certificates with the same names than
	// Let's Encrypt issues in a week.
	CodeIdenticalCertificates = "IdenticalCertificates"
)
