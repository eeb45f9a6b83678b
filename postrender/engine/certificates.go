package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// wantCertificate adds the Certificate of a hostname, for somebody.
func (r *run) wantCertificate(g *gateway, hostname, why string) {
	r.wantCertificateFor(g, hostname, []string{hostname}, why)
}

// wantCertificateFor adds a Certificate for several names, called by one.
func (r *run) wantCertificateFor(g *gateway, hostname string, dnsNames []string, why string) {
	if message, fix := r.issuerProblem(g, hostname); message != "" {
		r.fail(&g.Meta, message, fix)
		return
	}
	issuer := g.policy.issuerFor(hostname)
	name := CertificateName(g.Kind, g.Name, hostname)
	if r.isTaken(g, name) {
		r.nameTaken(g, "Certificate or Secret "+name)
		return
	}
	if shim := r.taken.byShim(g, name); shim != nil {
		r.find(Warning, CodeShimServes, &g.Meta, fmt.Sprintf("%s is cert-manager's own, made from a listener, so it is left alone; take its ownerReferences away to have gatewright write it", shim))
		return
	}
	key := ObjectName{g.Namespace, name}
	if other := r.wantCertificates.get(key); other != nil {
		why = min(why, other.Reason)
	}
	r.wantCertificates.put(key, CertificatePlan{
		Placed:     r.place(g, name),
		Reason:     why,
		DNSNames:   dnsNames,
		SecretName: name,
		IssuerRef: IssuerRef{
			Group: cmp.Or(issuer.Group, CertManagerGroup),
			Kind:  cmp.Or(issuer.Kind, "Issuer"),
			Name:  issuer.Name,
		},
		template: g.template(),
	})
}

// wantedCertificates are Certificates in the order in which they were wanted,
// which is near to that of the plan. One that is not in the index any more is
// not wanted any more.
type wantedCertificates struct {
	list  []*CertificatePlan
	index map[ObjectName]int
}

func (w *wantedCertificates) get(key ObjectName) *CertificatePlan {
	if i, wanted := w.index[key]; wanted {
		return w.list[i]
	}
	return nil
}

func (w *wantedCertificates) put(key ObjectName, c CertificatePlan) {
	if old := w.get(key); old != nil {
		*old = c
		return
	}
	w.index[key] = len(w.list)
	w.list = append(w.list, &c)
}

// place puts an object beside the Gateway or ListenerSet.
func (r *run) place(g *gateway, name string) Placed {
	placed := g.placeLike(&Meta{Namespace: g.Namespace, Name: name, Implicit: g.Implicit})
	if r.snapshot.Complete {
		placed.release = g.helmRelease()
	}
	return placed
}

// planCertificates gives each Certificate its action, and removes those that
// we rendered for a Gateway of the input and that nothing claims any more. One
// whose name is not of our making is left alone, whatever its labels say.
func (r *run) planCertificates() {
	before := make(map[ObjectName]*Certificate, len(r.by.ours))
	for _, c := range r.by.ours {
		if !c.Known {
			keepFirst(before, &c.Meta, c, func(c *Certificate) map[string]any { return c.Object })
		}
	}
	r.undecided(before)
	r.certificates = make([]CertificatePlan, 0, max(len(r.wantCertificates.index), len(before)))
	for i, c := range r.wantCertificates.list {
		key := ObjectName{c.Namespace, c.Name}
		if at, wanted := r.wantCertificates.index[key]; !wanted || at != i {
			continue
		}
		c.Action = Add
		if old := before[key]; old != nil {
			c.Action, c.Reason = compareWith(old.Object, c.manifest(), c.Reason)
			if r.snapshot.Complete && !old.Owned {
				r.leftToOthers(c, old)
			}
		}
		delete(before, key)
		r.certificates = append(r.certificates, *c)
	}
	if len(before) == 0 {
		return
	}
	inUse := r.secretsInUse()
	for _, old := range r.by.ours { // in their order, which may be that of the plan
		if before[ObjectName{old.Namespace, old.Name}] != old {
			continue
		}
		if r.snapshot.Complete && !old.Owned {
			if old.EditedBy != "" && inUse[ObjectName{old.Namespace, old.SecretName}] == "" {
				r.find(Warning, CodeCertificateEdited, &old.Meta, fmt.Sprintf("nothing claims it, and it stays, since field manager %s owns a part of its spec; remove it if nothing needs it", old.EditedBy))
			}
			continue
		}
		for _, g := range r.beside[ObjectName{old.Namespace, old.Labels[LabelFor]}] {
			if !g.policy.noRemovals && g.named(old) {
				r.certificates = append(r.certificates, r.unclaimedCertificate(g.placeLike(&old.Meta), old, inUse))
			}
		}
		if r.isOrphan(&old.Meta) {
			plan := r.unclaimedCertificate(Placed{Namespace: old.Namespace, Name: old.Name}, old, inUse)
			if plan.Action == Remove {
				plan.Reason = fmt.Sprintf("there is no Gateway %s", old.Labels[LabelFor])
			}
			r.certificates = append(r.certificates, plan)
		}
	}
}

// releases is the reason to leave an object of a release to it.
const releases = "it belongs to the release"

// leftToOthers leaves a Certificate to whoever else writes its spec, and says so
// where it was the sweep's and is not as the policy asks.
func (r *run) leftToOthers(c *CertificatePlan, old *Certificate) {
	if c.Action == Update && old.EditedBy != "" {
		r.find(Warning, CodeCertificateEdited, &old.Meta, fmt.Sprintf("field manager %s owns a part of its spec, so it is left as it is, and is not as the policy asks; put that into certificateTemplate or issuerRef of the policy, or remove the Certificate to have it made anew", old.EditedBy))
	}
	c.Action, c.Reason = Keep, releases
	if old.EditedBy != "" {
		c.Reason = "field manager " + old.EditedBy + " owns a part of it"
	}
}

// isOrphan says whether the Gateway (or ListenerSet) that an object of ours was
// made for is gone. Only a complete snapshot shows that.
func (r *run) isOrphan(m *Meta) bool {
	return r.snapshot.Complete && !r.present[ObjectName{m.Namespace, m.Labels[LabelFor]}]
}

// undecided fails where a Certificate that is wanted may be one that stands in
// the input already: whether it is depends on the namespace of the release.
func (r *run) undecided(before map[ObjectName]*Certificate) {
	var anywhere map[string]bool // the names of those before, once asked for
	for key := range r.wantCertificates.index {
		switch {
		case before[key] != nil:
			continue
		case key.Namespace != "":
			if before[ObjectName{"", key.Name}] == nil {
				continue
			}
		default:
			if anywhere == nil {
				anywhere = map[string]bool{}
				for other := range before {
					anywhere[other.Name] = true
				}
			}
			if !anywhere[key.Name] {
				continue
			}
		}
		r.errs = append(r.errs, r.needNamespace(&Meta{Kind: KindCertificate, Namespace: key.Namespace, Name: key.Name}, "whether it stands in the input already depends on the namespace of the release"))
	}
}

// unclaimedCertificate removes a Certificate that nothing claims, unless a
// listener still names its Secret, and nobody else writes that.
func (r *run) unclaimedCertificate(placed Placed, old *Certificate, inUse map[ObjectName]string) CertificatePlan {
	if old.Namespace == "" && usedSomewhere(old.SecretName, inUse) {
		r.errs = append(r.errs, r.needNamespace(&old.Meta, "whether a listener still names its Secret depends on the namespace of the release"))
	}
	plan := CertificatePlan{Placed: placed, DNSNames: old.DNSNames, SecretName: old.SecretName, IssuerRef: old.issuerRef(), Action: Remove, Reason: r.unclaimed(), object: old.Object}
	if user := inUse[ObjectName{old.Namespace, old.SecretName}]; user != "" && r.taken.by(&old.Meta, old.SecretName) == no {
		plan.Action, plan.Reason = Keep, user+" names its Secret"
	}
	return plan
}

// issuerRef is the issuer that a Certificate names.
func (c *Certificate) issuerRef() IssuerRef {
	ref := reader{object: c.Object, problem: new(string)}.child("spec").child("issuerRef")
	return IssuerRef{Group: ref.text("group"), Kind: ref.text("kind"), Name: ref.text("name")}
}

// usedSomewhere says whether a listener names a Secret of the name in some
// namespace.
func usedSomewhere(secret string, inUse map[ObjectName]string) bool {
	for name := range inUse {
		if name.Name == secret && name.Namespace != "" {
			return true
		}
	}
	return false
}

// secretsInUse returns the Secrets that listeners name after the plan, and one
// that does: hand-written ones, ours that stay although nothing claims them,
// and those of the mode ExistingSecret. For the others a Certificate is wanted,
// or cert-manager's shim makes it.
func (r *run) secretsInUse() map[ObjectName]string {
	inUse := map[ObjectName]string{}
	name := func(g *Gateway, listener, namespace, secret string) {
		key := ObjectName{cmp.Or(namespace, g.Namespace), secret}
		if user := "listener " + listener + " of " + g.String(); inUse[key] == "" || user < inUse[key] {
			inUse[key] = user
		}
	}
	planned := map[*Gateway]*gateway{}
	for _, g := range r.parents {
		planned[g.Gateway] = g
	}
	for _, source := range slices.Concat(r.snapshot.Gateways, r.snapshot.ListenerSets) {
		g := planned[source]
		for _, l := range source.Listeners {
			if g != nil && g.policy.managed && g.drops(l.Name) {
				continue
			}
			for _, ref := range l.CertificateRefs {
				name(source, l.Name, ref.Namespace, ref.Name)
			}
		}
		if g != nil && g.policy.Certificates == ExistingSecret && len(g.standing) > 0 {
			name(source, g.standing[0].Name, "", g.policy.SecretName)
		}
	}
	return inUse
}

// drops says whether a listener of ours goes, or is computed anew.
func (g *gateway) drops(name string) bool {
	return g.isOurs(name) && !g.stays[name]
}

// named says whether a Certificate has a name that we give: by its one name, or
// by the apex whose names it holds.
func (g *gateway) named(c *Certificate) bool {
	return slices.ContainsFunc(c.DNSNames, func(name string) bool { return c.Name == CertificateName(g.Kind, g.Name, name) })
}

// unclaimed is why what nobody asks for goes.
func (r *run) unclaimed() string {
	if r.snapshot.Complete {
		return "no route or Certificate claims it"
	}
	return "nothing in the release claims it"
}

// placeLike is the place of an object that stands in the input.
func (g *gateway) placeLike(m *Meta) Placed {
	placed := Placed{Namespace: m.Namespace, Name: m.Name, Implicit: m.Implicit, Gateway: g.GatewayName()}
	if g.Kind == KindListenerSet {
		placed.ListenerSet = ObjectName{g.Namespace, g.Name}
	}
	return placed
}

// compareWith compares a manifest that we rendered with what we would render
// now, for some reason. What others added beside it (Helm's labels, its
// annotations) is theirs.
func compareWith(old, now map[string]any, why string) (Action, string) {
	same := equalObjects(old["spec"], now["spec"])
	for field, value := range now {
		same = same && (field == "spec" || contains(old[field], value))
	}
	if same {
		return Keep, why
	}
	beside := maps.Clone(now)
	delete(beside, "spec")
	return Update, whyDiffers(append(differences(asMap(old["spec"]), asMap(now["spec"]), true), differences(old, beside, false)...), nobody)
}
