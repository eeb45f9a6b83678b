package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatewright/gatewright/postrender/engine"
)

func (a *app) explainCommand() *cobra.Command {
	var release releaseFlags
	var flags inputFlags
	cmd := &cobra.Command{
		Use:   "explain HOSTNAME",
		Short: "Say who asks for a hostname, and what serves it or why nothing does",
		Long: `explain answers for one hostname: which objects ask for it, which listener and
which Certificate serve it, or why not and what the owner can change. If nobody
asks for it, it says what a route that did would get.`,
		Example: `  helm template shop ./shop \
    | gatewright explain shop.example.com --issuer letsencrypt
  gatewright explain shop.example.com -f manifests/
  gatewright explain shop.example.com --cluster`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want one hostname, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			hostname, err := engine.NormalizeHostname(args[0])
			if err != nil {
				return &usageError{cmd.CommandPath(), fmt.Errorf("hostname %q %w", args[0], err)}
			}
			return a.explain(cmd, hostname, &release, &flags)
		},
	}
	release.register(cmd)
	flags.register(cmd)
	cmd.Flags().Lookup("cluster").Usage = "look at the cluster; beside manifests, say also who asks for the hostname there"
	return cmd
}

func (a *app) explain(cmd *cobra.Command, hostname string, release *releaseFlags, flags *inputFlags) error {
	in, err := a.read(cmd, release, flags)
	if err != nil {
		return err
	}
	plan, err := in.compute()
	if err != nil {
		return err
	}
	e := explanation{plan: plan, look: lookOf(a.stdout)}
	e.line(titleTone, "", hostname)
	found := e.all(in, hostname)
	if in.cluster != nil {
		there, err := e.there(in, hostname)
		if err != nil {
			return err
		}
		found = found || there
	}
	if !found {
		if err := e.nobody(in, hostname); err != nil {
			return err
		}
	}
	_, err = a.stdout.Write([]byte(e.text.String()))
	return err
}

// all says who asks for the hostname and what is there of it, if anything.
func (e *explanation) all(in *input, hostname string) bool {
	answered, served := map[string]bool{}, map[string]bool{}
	for _, v := range verdictsFor(e.plan, hostname) {
		e.verdict(v)
		answered[claimant(v)] = true
		if v.Accepted {
			served[v.Parent.Kind+" "+qualified(v.Parent.Namespace, v.Parent.Name)+" "+v.Listener] = true
		}
	}
	stale := e.unclaimed(in, hostname, served)
	for _, m := range in.askers(hostname) {
		if !answered[m.String()] && !e.computed(m) {
			e.unanswered(m)
			answered[m.String()] = true
		}
	}
	return stale || len(answered) > 0
}

func verdictsFor(plan *engine.Plan, hostname string) []engine.Verdict {
	var out []engine.Verdict
	for _, v := range plan.Verdicts {
		if isHostname(v.Hostname, hostname) {
			out = append(out, v)
		}
	}
	return out
}

func isHostname(raw, hostname string) bool {
	name, err := engine.NormalizeHostname(raw)
	return err == nil && name == hostname
}

// askers are the objects that name the hostname, whether or not the plan can
// answer them.
func (in *input) askers(hostname string) []*engine.Meta {
	names := func(all []string) bool {
		return slices.ContainsFunc(all, func(raw string) bool { return isHostname(raw, hostname) })
	}
	var out []*engine.Meta
	for _, r := range in.snapshot.Routes {
		if !r.Known && names(r.Hostnames) {
			out = append(out, &r.Meta)
		}
	}
	for _, c := range in.snapshot.Certificates {
		if !c.Known && names(c.DNSNames) {
			out = append(out, &c.Meta)
		}
	}
	return out
}

// explanation is the text that explain writes.
type explanation struct {
	plan *engine.Plan
	look look
	text strings.Builder
	told []engine.Finding // beside verdicts, each once
}

func (e *explanation) line(t tone, indent, s string) {
	e.text.WriteString(e.look.lines(t, indent, s))
}

// verdict says who asks, of whom, and what comes of it.
func (e *explanation) verdict(v engine.Verdict) {
	e.text.WriteString("\n")
	asks := fmt.Sprintf("asks %s for it", parent(v.Parent))
	if v.Kind == engine.KindGateway {
		asks = "asks for it, to be passed through"
	}
	e.line(plainTone, "", fmt.Sprintf("%s%s %s", claimant(v), inSource(v.Source), asks))
	e.outcome(v)
	object := engine.Meta{Kind: v.Kind, Namespace: v.Namespace, Name: v.Name}
	asked := engine.Meta{Kind: v.Parent.Kind, Namespace: v.Parent.Namespace, Name: v.Parent.Name}
	for _, f := range tellable(e.plan.Findings) {
		about := f.Object == object.String() && e.concerns(f, v)
		about = about || (f.Object == asked.String() && isAboutAll(f))
		if about && !slices.Contains(e.told, f) {
			e.line(warnTone, "  ", f.Code+": "+f.Message)
			e.told = append(e.told, f)
		}
	}
}

// isAboutAll says whether what was found about a Gateway is why it serves nobody.
func isAboutAll(f engine.Finding) bool {
	return f.Code == engine.CodeNoPolicy || f.Code == engine.CodeKeptAsIs
}

// concerns says whether what was found about the object of a verdict is about
// its hostname, or about all of them.
func (e *explanation) concerns(f engine.Finding, v engine.Verdict) bool {
	return mentions(f.Message, v.Hostname) || !slices.ContainsFunc(e.plan.Verdicts, func(other engine.Verdict) bool {
		return claimant(other) == claimant(v) && mentions(f.Message, other.Hostname)
	})
}

// mentions says whether a sentence holds a hostname, and not only as a part of
// a longer one.
func mentions(sentence, hostname string) bool {
	return slices.ContainsFunc(strings.Fields(sentence), func(word string) bool { return strings.Trim(word, "(),;:") == hostname })
}

// unanswered is about an object that names the hostname and asks no Gateway or
// ListenerSet for it.
func (e *explanation) unanswered(m *engine.Meta) {
	e.text.WriteString("\n")
	e.line(plainTone, "", fmt.Sprintf("%s%s names it, but claims nothing", m, inSource(m.Source)))
	for _, f := range tellable(e.plan.Findings) {
		if f.Object == m.String() {
			e.line(warnTone, "  ", f.Code+": "+f.Message)
		}
	}
}

func (e *explanation) outcome(v engine.Verdict) {
	switch {
	case v.Accepted:
		e.served(v)
	case v.Reason == engine.ReasonPending:
		e.line(warnTone, "  ", "not decided here: "+v.Reason)
	case v.Reason == engine.ReasonOptedOut:
		e.line(warnTone, "  ", "not asked for: "+v.Reason)
	default:
		e.line(badTone, "  ", "refused: "+v.Reason)
	}
	e.line(plainTone, "  ", v.Message)
}

func (e *explanation) served(v engine.Verdict) {
	listener, computed := e.listener(v)
	if !computed {
		e.line(goodTone, "  ", fmt.Sprintf("served by the hand-written listener %s", v.Listener))
		return
	}
	e.line(goodTone, "  ", fmt.Sprintf("served by listener %s (%s), %s on port %d",
		listener.Name, listener.Action, protocol(listener), listener.Port))
	e.update(listener.Action, listener.Reason)
	for _, c := range e.plan.Certificates {
		if qualified(c.Namespace, c.Name) == listener.Certificate {
			e.line(goodTone, "  ", fmt.Sprintf("Certificate %s (%s) from %s, in Secret %s",
				listener.Certificate, c.Action, issuer(c.IssuerRef), c.SecretName))
			e.update(c.Action, c.Reason)
			return
		}
	}
	secret := listener.Secret()
	switch {
	case listener.Certificate != "":
		e.line(goodTone, "  ", fmt.Sprintf("Certificate %s, in Secret %s", listener.Certificate, secret.Name))
	case secret.Name != "":
		e.line(goodTone, "  ", fmt.Sprintf("Secret %s, which gatewright does not make", secret.Name))
	}
}

// update says in what something that stands is to change.
func (e *explanation) update(action engine.Action, reason string) {
	if action == engine.Update {
		e.line(warnTone, "    ", reason)
	}
}

// listener finds the computed listener that a verdict names.
func (e *explanation) listener(v engine.Verdict) (engine.Listener, bool) {
	parents := e.plan.Gateways
	if v.Parent.Kind == engine.KindListenerSet {
		parents = e.plan.ListenerSets
	}
	for _, g := range parents {
		if g.Name != v.Parent.Name || g.Namespace != v.Parent.Namespace {
			continue
		}
		i := slices.IndexFunc(g.Listeners, func(l engine.Listener) bool { return l.Name == v.Listener })
		if i >= 0 {
			return g.Listeners[i], true
		}
	}
	return engine.Listener{}, false
}
