package engine

import (
	"slices"
	"time"
)

// Origin is what a manifest does not say of itself.
type Origin struct {
	// Namespace is that of the release, for objects that name none; "" if it
	// is not known.
	Namespace string
	// Source is the file or template.
	Source string
	// Known marks an object of --snapshot.
	Known bool
	// Live marks an object that an API server holds. It has checked the types, but
	// takes selectors that no client can evaluate: they select nothing.
	Live bool
	// Index tells the caller's objects apart, see [GatewayPlan].
	Index int
}

// decoders maps a kind, with its group, to the function that reads it. Every
// version of a kind is read alike.
var decoders = map[GroupKind]func(*Snapshot, reader, Meta){
	{GatewayGroup, KindGateway}:           (*Snapshot).addGateway,
	{GatewayGroup, KindHTTPRoute}:         (*Snapshot).addRoute,
	{GatewayGroup, KindGRPCRoute}:         (*Snapshot).addRoute,
	{GatewayGroup, KindTLSRoute}:          (*Snapshot).addRoute,
	{GatewayGroup, KindGrant}:             (*Snapshot).addGrant,
	{CertManagerGroup, KindCertificate}:   (*Snapshot).addCertificate,
	{"", KindNamespace}:                   (*Snapshot).addNamespace,
	{"", KindSecret}:                      (*Snapshot).addSecret,
	{"", KindService}:                     (*Snapshot).addService,
	{GatewayGroup, KindListenerSet}:       (*Snapshot).addListenerSet,
	{CertManagerGroup, KindIssuer}:        (*Snapshot).addIssuer,
	{CertManagerGroup, KindClusterIssuer}: (*Snapshot).addIssuer,
}

// Decode reads one object, as YAML or JSON gives it, into the snapshot. Objects
// of other kinds are passed over. A field that has not the type that the API
// gives it is an [*Error], but for kinds that only add knowledge.
func (s *Snapshot) Decode(object map[string]any, origin Origin) error {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	add := decoders[GroupKind{groupOf(apiVersion), kind}]
	if add == nil {
		return nil
	}
	r := reader{object: object, problem: new(string), live: origin.Live}
	meta := r.meta(kind, origin)
	if *r.problem == "" && meta.Name == "" {
		*r.problem = "metadata.name is missing"
	}
	if *r.problem == "" {
		add(s, r, meta)
	}
	if *r.problem != "" && !onlyKnowledge[kind] {
		return &Error{Object: meta.String(), Source: meta.Source, Message: *r.problem, Fix: "correct the manifest"}
	}
	return nil
}

var onlyKnowledge = map[string]bool{KindNamespace: true, KindSecret: true, KindService: true, KindIssuer: true, KindClusterIssuer: true}

func groupOf(apiVersion string) string {
	for i := range len(apiVersion) {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}

func (r reader) meta(kind string, origin Origin) Meta {
	m := r.child("metadata")
	meta := Meta{
		Kind:        kind,
		Name:        m.text("name"),
		Namespace:   m.text("namespace"),
		Labels:      m.texts("labels"),
		Annotations: m.texts("annotations"),
		Source:      origin.Source,
		Known:       origin.Known,
		Index:       origin.Index,
	}
	if meta.Namespace == "" && kind != KindNamespace && kind != KindClusterIssuer {
		meta.Namespace, meta.Implicit = origin.Namespace, true
	}
	if created := m.text("creationTimestamp"); created != "" {
		if at, err := time.Parse(time.RFC3339, created); err == nil {
			meta.Created = at
		}
	}
	meta.Deleting = m.text("deletionTimestamp") != ""
	for _, owner := range m.children("ownerReferences") {
		if owner.flag("controller") {
			meta.Controller = owner.text("kind")
		}
	}
	return meta
}

func (s *Snapshot) addGateway(r reader, meta Meta) {
	gateway := r.gateway(meta)
	namespaces := r.child("spec").child("allowedListeners").child("namespaces")
	gateway.AllowedListeners = namespaces.textOr("from", "None")
	if selector, ok := namespaces.object["selector"].(map[string]any); ok {
		gateway.AllowedListenersSelector = namespaces.selector(selector)
	}
	s.Gateways = append(s.Gateways, gateway)
}

func (s *Snapshot) addListenerSet(r reader, meta Meta) {
	set := r.gateway(meta)
	set.Parent = r.child("spec").child("parentRef").parentRef()
	s.ListenerSets = append(s.ListenerSets, set)
}

func (r reader) gateway(meta Meta) *Gateway {
	gateway := &Gateway{Meta: meta}
	owners, statuses := r.owners().listeners, r.listenerStatuses()
	for _, l := range r.child("spec").children("listeners") {
		listener := l.listener()
		if by := owners[listener.Name]; by != nil {
			listener.Owned, listener.Shared, listener.owners = by.ours, by.applied, by.others
		}
		listener.Status, gateway.Reports = statuses[listener.Name], len(statuses) > 0
		gateway.Listeners = append(gateway.Listeners, listener)
	}
	return gateway
}

func (r reader) parentRef() ParentRef {
	return ParentRef{
		Group:       r.textOr("group", GatewayGroup),
		Kind:        r.textOr("kind", KindGateway),
		Namespace:   r.text("namespace"),
		Name:        r.text("name"),
		SectionName: r.text("sectionName"),
		Port:        r.number("port"),
	}
}

func (r reader) listener() SourceListener {
	tls, namespaces := r.child("tls"), r.child("allowedRoutes").child("namespaces")
	l := SourceListener{
		Name:        r.text("name"),
		Hostname:    r.text("hostname"),
		Port:        r.number("port"),
		Protocol:    r.text("protocol"),
		AllowedFrom: namespaces.textOr("from", FromSame),
		Object:      r.object,
	}
	if r.object["tls"] != nil {
		l.TLSMode = tls.textOr("mode", "Terminate")
	}
	if selector, ok := namespaces.object["selector"].(map[string]any); ok {
		l.AllowedSelector = namespaces.selector(selector)
	}
	for _, k := range r.child("allowedRoutes").children("kinds") {
		l.AllowedKinds = append(l.AllowedKinds, GroupKind{k.textOr("group", GatewayGroup), k.text("kind")})
	}
	for _, ref := range tls.children("certificateRefs") {
		l.HasRefs = true
		if ref.textOr("kind", KindSecret) == KindSecret {
			l.CertificateRefs = append(l.CertificateRefs, ObjectName{ref.text("namespace"), ref.text("name")})
		}
	}
	return l
}

func (s *Snapshot) addRoute(r reader, meta Meta) {
	spec := r.child("spec")
	route := &Route{Meta: meta, Hostnames: spec.list("hostnames"), RedirectsToHTTPS: redirectsToHTTPS(spec)}
	for _, p := range spec.children("parentRefs") {
		route.Parents = append(route.Parents, p.parentRef())
	}
	for _, rule := range spec.children("rules") {
		var backends []BackendRef
		for _, b := range rule.children("backendRefs") {
			backends = append(backends, BackendRef{b.text("group"), b.textOr("kind", KindService), b.text("namespace"), b.text("name")})
		}
		route.Backends = append(route.Backends, backends)
	}
	if meta.Labels[LabelFor] != "" {
		route.Object, route.Owned = r.object, r.owners().spec
	}
	s.Routes = append(s.Routes, route)
}

func redirectsToHTTPS(spec reader) bool {
	rules := spec.children("rules")
	for _, rule := range rules {
		redirects := slices.ContainsFunc(rule.children("filters"), func(filter reader) bool {
			return filter.child("requestRedirect").text("scheme") == "https"
		})
		if !redirects {
			return false
		}
	}
	return len(rules) > 0
}

func (s *Snapshot) addCertificate(r reader, meta Meta) {
	spec, owners := r.child("spec"), r.owners()
	s.Certificates = append(s.Certificates, &Certificate{
		Meta:        meta,
		DNSNames:    spec.list("dnsNames"),
		IPAddresses: spec.list("ipAddresses"),
		SecretName:  spec.text("secretName"),
		IsCA:        spec.flag("isCA"),
		Ready:       r.isReady(),
		Owned:       owners.spec,
		EditedBy:    owners.beside,
		Object:      r.object,
	})
}

// isReady reads the condition Ready, of this generation of the spec.
func (r reader) isReady() bool {
	generation := r.child("metadata").number("generation")
	for _, condition := range r.child("status").children("conditions") {
		if condition.text("type") == "Ready" {
			seen := condition.number("observedGeneration")
			return condition.text("status") == "True" && (seen == 0 || seen == generation)
		}
	}
	return false
}

func (s *Snapshot) addGrant(r reader, meta Meta) {
	grant := &ReferenceGrant{Meta: meta, Object: r.object}
	for _, from := range r.child("spec").children("from") {
		grant.From = append(grant.From, BackendRef{Group: from.text("group"), Kind: from.text("kind"), Namespace: from.text("namespace")})
	}
	for _, to := range r.child("spec").children("to") {
		grant.To = append(grant.To, BackendRef{Group: to.text("group"), Kind: to.text("kind"), Name: to.text("name")})
	}
	s.Grants = append(s.Grants, grant)
}

func (s *Snapshot) addService(_ reader, meta Meta) { s.Services = append(s.Services, &meta) }

func (s *Snapshot) addIssuer(r reader, meta Meta) {
	issuer := &Issuer{Meta: meta, CASecret: r.child("spec").child("ca").text("secretName")}
	acme := r.child("spec").child("acme")
	issuer.ACME, issuer.Server = acme.object != nil, acme.text("server")
	for _, solver := range acme.children("solvers") {
		issuer.HTTP01 = issuer.HTTP01 || solver.object["http01"] != nil
		issuer.DNS01 = issuer.DNS01 || solver.object["dns01"] != nil
	}
	s.Issuers = append(s.Issuers, issuer)
}

func (s *Snapshot) addNamespace(_ reader, meta Meta) {
	s.Namespaces = append(s.Namespaces, &Namespace{Meta: meta})
}

func (s *Snapshot) addSecret(_ reader, meta Meta) { s.Secrets = append(s.Secrets, &meta) }
