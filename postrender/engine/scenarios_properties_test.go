package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// fixedProblems checks what holds for every scenario and is not repeated there.
func fixedProblems(r *scenarioResult) []string {
	var out []string
	edge := r.given.Config.CertMode == "edge"
	listeners := r.listeners()
	plain := slices.IndexFunc(listeners, func(l Listener) bool { return l.Name == PlainListenerName })
	redirects := slices.ContainsFunc(r.plan.Redirects, func(redirect Redirect) bool {
		return redirect.Action != Remove && redirect.Listener == PlainListenerName
	})
	if (plain < 0) != edge || redirects == edge {
		out = append(out, "the plain listener and the redirect are there in every mode but edge")
	}
	if plain >= 0 {
		l := &listeners[plain]
		if got := listenerID(l) + " " + strings.Join(admittedBy(l), "+"); got != "HTTP :80 sys-acme+team-a" || jsonMap(l.Object())["tls"] != nil {
			out = append(out, "the plain listener is "+mustJSON(l.Object()))
		}
	}
	for _, l := range listeners {
		if problem := r.tlsProblem(&l); problem != "" {
			out = append(out, problem+": "+mustJSON(l.Object()))
		}
	}
	for _, v := range r.plan.Verdicts {
		if v.Accepted && !slices.ContainsFunc(listeners, func(l Listener) bool { return l.Name == v.Listener }) {
			out = append(out, "accepted by a listener that is not there: "+mustJSON(v))
		}
	}
	return out
}

// tlsProblem says what is wrong with the Secret behind a listener, or "".
func (r *scenarioResult) tlsProblem(l *Listener) string {
	tls, _ := jsonMap(l.Object())["tls"].(map[string]any)
	switch l.Protocol {
	case "HTTP":
		if tls != nil {
			return "a plain listener with tls"
		}
		return ""
	case "TLS":
		if tls["mode"] != "Passthrough" || tls["certificateRefs"] != nil {
			return "a passthrough listener that ends TLS"
		}
		return ""
	}
	if tls["mode"] != "Terminate" {
		return "an HTTPS listener that does not end TLS"
	}
	if r.given.Config.Secret != "" {
		return "" // the line of the listener names the Secret
	}
	for _, c := range r.plan.Certificates {
		if c.Action != Remove && c.SecretName == secretOf(l) && c.Name == c.SecretName && (c.Action == Keep || c.IssuerRef.Name == "gw-issuer") && slices.Contains(c.DNSNames, l.Hostname) {
			return ""
		}
	}
	return "no Certificate of its hostname makes its Secret"
}

func orderProblems(r *scenarioResult) []string {
	want := mustJSON(r.plan)
	objects := slices.Clone(r.objects)
	for range 3 {
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		again, err := r.again(objects)
		if got := mustJSON(again); err != nil || got != want {
			return []string{fmt.Sprintf("the order of the objects matters (%v):\n%s", err, cmp.Diff(want, got))}
		}
	}
	return nil
}

// aliasingProblems scribbles over each listener in turn and looks at the others.
func aliasingProblems(r *scenarioResult) []string {
	plan, err := r.again(r.objects)
	if err != nil {
		return []string{err.Error()}
	}
	listeners := plan.Gateways[0].Listeners
	for i := range listeners {
		var before []string
		for j := range listeners {
			before = append(before, mustJSON(listeners[j].Object()))
		}
		scribble(listeners[i].Object())
		for j := range listeners {
			if j != i && mustJSON(listeners[j].Object()) != before[j] {
				return []string{fmt.Sprintf("listeners %s and %s share a part", listeners[i].Name, listeners[j].Name)}
			}
		}
	}
	return nil
}

func scribble(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			scribble(inner)
		}
		v["scribbled"] = true
	case []any:
		for i := range v {
			scribble(v[i])
			v[i] = "scribbled"
		}
	}
}

func kindsProblems(r *scenarioResult) []string {
	for _, l := range r.listeners() {
		if allowed := jsonMap(l.Object())["allowedRoutes"].(map[string]any); len(allowed) != 1 || allowed["namespaces"] == nil {
			return []string{"allowedRoutes holds more than namespaces: " + mustJSON(allowed)}
		}
	}
	return nil
}
