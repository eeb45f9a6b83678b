package engine

import "slices"

// Action says what happens to a computed object.
type Action string

// The actions of a plan.
const (
	Add    Action = "add"
	Keep   Action = "keep"
	Update Action = "update"
	Remove Action = "remove"
)

// Plan is everything that the engine decided, sorted: the same snapshot and
// policies give the same bytes in whatever order the objects came. Its JSON
// form is a stable contract.
type Plan struct {
	Gateways     []GatewayPlan     `json:"gateways"`
	ListenerSets []GatewayPlan     `json:"listenerSets"`
	Certificates []CertificatePlan `json:"certificates"`
	Grants       []Grant           `json:"grants"`
	Redirects    []Redirect        `json:"redirects"`
	Verdicts     []Verdict         `json:"verdicts"`
	Findings     []Finding         `json:"findings"`
}

// Placed is where a computed object stands. It has no namespace while that of
// the release is not known; Implicit says that its manifest names none, as the
// manifest of the Gateway does.
type Placed struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Implicit  bool   `json:"-"`
	// Gateway is the one that the object is made for, and ListenerSet the part of
	// it, if it is made for one.
	Gateway     ObjectName `json:"-"`
	ListenerSet ObjectName `json:"-"`

	release *helmRelease
}

// GatewayPlan is one managed Gateway or ListenerSet with the listeners computed
// for it.
type GatewayPlan struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Action is Update where a listener or the annotation rendered changes.
	Action    Action     `json:"action"`
	Listeners []Listener `json:"listeners"`

	// Source is the file or template of the Gateway.
	Source string `json:"-"`
	// Index is the one that its manifest was decoded with: where several have its
	// name, this is the one that is planned.
	Index int `json:"-"`
	// Rendered is the value of the annotation gatewright.dev/rendered.
	Rendered string `json:"-"`
	// Quota says that a namespace may claim so many listeners and no more.
	Quota bool `json:"-"`
	// OneNamespace says that each of its hostnames belongs to one namespace.
	OneNamespace bool `json:"-"`
	// Frozen says why nothing of it may be changed, or is "".
	Frozen string `json:"-"`
	// IdleYields are the hostnames that the caller yields, in vain: they are not to
	// be remembered, or a route that comes later would wait for nothing.
	IdleYields []string `json:"-"`
}

// Listener is a computed listener. Where Action is Remove, only its name is
// certain.
type Listener struct {
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
	Port     int    `json:"port"`
	Protocol string `json:"protocol"`
	// Mode is Terminate, Passthrough, or "" for a plain listener.
	Mode          string         `json:"mode"`
	AllowedRoutes map[string]any `json:"allowedRoutes"`
	// Certificate is the Certificate behind the listener, "namespace/name".
	Certificate string `json:"certificate"`
	Action      Action `json:"action"`
	Reason      string `json:"reason"`

	// Holder is the namespace that the hostname belongs to under OneNamespace.
	Holder string `json:"-"`
	// Immediate says of a listener that goes that something stands in its place
	// already, or that it is yielded, so that it need not be stale for a time.
	Immediate bool `json:"-"`
	// Refusal says of a listener that goes for want of a claim who asks for it all
	// the same, and why that is refused; "" where nothing does.
	Refusal string `json:"-"`

	secretNamespace string // "" is the namespace of the Gateway
	secretName      string
	tlsOptions      map[string]string
	object          map[string]any // of a listener kept as it is
	takesPlace      bool           // whether one of ours goes for it
	known           bool           // whether --snapshot holds it
	claims          []claim
}

// Namespace returns the namespace on whose quota a listener is, "" for none.
func (l *Listener) Namespace() string {
	if len(l.claims) == 0 {
		return ""
	}
	return l.oldest().object.Namespace
}

// Claimants returns what claims a listener, as "Kind namespace/name", sorted.
func (l *Listener) Claimants() []string {
	var out []string
	for _, c := range l.claims {
		out = append(out, c.object.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CertificatePlan is a computed Certificate.
type CertificatePlan struct {
	Placed
	DNSNames   []string  `json:"dnsNames"`
	SecretName string    `json:"secretName"`
	IssuerRef  IssuerRef `json:"issuerRef"`
	Action     Action    `json:"action"`
	Reason     string    `json:"reason"`

	template *filledTemplate
	object   map[string]any // of a Certificate that nothing claims
}

// Grant is a computed ReferenceGrant: the namespace of a Certificate lets
// Gateways of other namespaces read its Secret.
type Grant struct {
	Placed
	// From holds the namespaces of the Gateways (or ListenerSets), sorted.
	From   []string `json:"from"`
	Secret string   `json:"secret"`
	Action Action   `json:"action"`
	Reason string   `json:"reason"`

	fromKind string
}

// Redirect is a computed HTTPRoute that sends plain HTTP to https.
type Redirect struct {
	Placed
	// Listener is the plain listener that the route is attached to.
	Listener string `json:"listener"`
	Action   Action `json:"action"`
	Reason   string `json:"reason"`
}

// Verdict answers one question: is this hostname, asked for by this object of
// this parent, served, and by which listener.
type Verdict struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Parent    Parent `json:"parent"`
	Hostname  string `json:"hostname"`
	Accepted  bool   `json:"accepted"`
	// Reason is a Gateway API reason, or HostnameConflict for a lost race.
	Reason string `json:"reason"`
	// Message is empty when there is nothing that the owner could change.
	Message string `json:"message"`
	// Listener is the name of the listener that serves the hostname.
	Listener string `json:"listener"`

	// Source is the file or template of the object.
	Source string `json:"-"`
}

func (v *Verdict) refused() bool {
	return !v.Accepted && v.Reason != ReasonOptedOut && v.Reason != ReasonPending
}

// Parent is the Gateway that an object names, and how it names it.
type Parent struct {
	Kind        string `json:"kind"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	SectionName string `json:"sectionName"`
	Port        int    `json:"port"`
}

// Reasons of verdicts. All but HostnameConflict and OptedOut are Gateway API
// route reasons.
const (
	ReasonAccepted         = "Accepted"
	ReasonNoMatchingParent = "NoMatchingParent"
	ReasonNotAllowed       = "NotAllowedByListeners"
	ReasonNoHostname       = "NoMatchingListenerHostname"
	ReasonUnsupported      = "UnsupportedValue"
	ReasonRefNotPermitted  = "RefNotPermitted"
	ReasonHostnameConflict = "HostnameConflict"
	ReasonTooMany          = "TooManyListeners"
	// ReasonPending is the verdict of a claim that is not decided here: its parent
	// is not in the input, or has no policy, or a namespace is not known. It is no
	// refusal.
	ReasonPending = "Pending"
	// ReasonOptedOut is the verdict of an object that does not want to claim, or
	// did not say that it wants to, or whose Gateway is taken out; it is no refusal.
	ReasonOptedOut = "OptedOut"
)

// Changes says whether carrying out the plan changes anything.
func (p *Plan) Changes() bool {
	for _, g := range append(slices.Clone(p.Gateways), p.ListenerSets...) {
		if g.Action != Keep {
			return true
		}
	}
	for _, c := range p.Certificates {
		if c.Action != Keep {
			return true
		}
	}
	for _, g := range p.Grants {
		if g.Action != Keep {
			return true
		}
	}
	for _, r := range p.Redirects {
		if r.Action != Keep {
			return true
		}
	}
	return false
}

// Refused returns the verdicts that are refused: not those of claims that are
// not decided here, or not wanted.
func (p *Plan) Refused() []Verdict {
	var out []Verdict
	for _, v := range p.Verdicts {
		if v.refused() {
			out = append(out, v)
		}
	}
	return out
}
