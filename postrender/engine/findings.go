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
	CodeNoPolicy           = "NoPolicy"
	CodeNoClaims           = "NoClaims"
	CodeGatewayElsewhere   = "GatewayElsewhere"
	CodeRefused            = "Refused"
	CodePinned             = "Pinned"
	CodeNoHostnames        = "NoHostnames"
	CodePolicyDifference   = "PolicyDifference"
	CodePolicyUnknownKey   = "PolicyUnknownKey"
	CodePolicyInvalid      = "PolicyInvalid"
	CodeShimServes         = "ShimServes"
	CodeNameTaken          = "NameTaken"
	CodePlaintextRoute     = "PlaintextRoute"
	CodeListenersAtRisk    = "ListenersAtRisk"
	CodeCoveredByWider     = "CoveredByWider"
	CodeNamespaceUnlabeled = "NamespaceLabelsUnknown"
	CodeDuplicateKey       = "DuplicateKey"
	CodeDuplicateObject    = "DuplicateObject"
	CodeDuplicateClaim     = "DuplicateClaim"
	CodePortUnused         = "PortUnused"
	CodeOptedOut           = "OptedOut"
)
