package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

var unknownField = regexp.MustCompile(`unknown field "(.*)"`)

// decodeInto reads the keys over the policy's present values and returns the
// paths of keys that a Policy does not have.
func (k Keys) decodeInto(policy *Policy) (unknown []string, err error) {
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	strict, err := kjson.UnmarshalStrict(data, policy, kjson.DisallowUnknownFields)
	if err != nil {
		return nil, errors.New(trimDecoder(err))
	}
	for _, problem := range strict {
		if match := unknownField.FindStringSubmatch(problem.Error()); match != nil {
			unknown = append(unknown, match[1])
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// validateMode checks that the keys of a mode are all there. They may come from
// several sources, so it is for a merged policy.
func (p *Policy) validateMode() error {
	const inPolicy = "in the policy file or the annotation"
	switch {
	case isApexMode(p.Certificates) && p.Apex == "":
		return fmt.Errorf("certificates: %s needs apex; set it %s to the domain that the listeners are for", p.Certificates, inPolicy)
	case len(p.ChildApexes) > 0 && p.Apex == "":
		return fmt.Errorf("childApexes needs apex; set it %s to the domain that the listeners are for", inPolicy)
	case p.Certificates == ExistingSecret && p.SecretName == "":
		return fmt.Errorf("certificates: ExistingSecret needs secretName; name the Secret, which stands in the Gateway's namespace, %s", inPolicy)
	case p.Certificates != ExistingSecret && p.SecretName != "":
		return errors.New("secretName needs certificates: ExistingSecret")
	}
	return nil
}

func (p *Policy) validateClaimants() error {
	if p.MaxListenersPerNamespace < 0 {
		return fmt.Errorf("maxListenersPerNamespace is %d; it is 0 (none) or more", p.MaxListenersPerNamespace)
	}
	for _, pattern := range p.PriorityNamespaces {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("priorityNamespaces: %q is no pattern; use a name, or * in one", pattern)
		}
	}
	return nil
}

// validate checks the values of each key and brings hostnames into their normal
// form.
func (p *Policy) validate() error {
	return firstError(
		oneOf("certificates", p.Certificates, PerHostname, Wildcard, ExistingSecret, Edge, ListenersOnly),
		oneOf("attach.from", p.Attach.From, FromSame, FromAll, FromList, FromSelector),
		oneOf("claims", p.Claims, ClaimsAll, ClaimsOptedIn),
		oneOf("hostnameOwnership", p.HostnameOwnership, "Shared", "OneNamespace"),
		oneOf("cover", p.Cover, CoverAny, CoverWildcard, CoverExact),
		oneOf("withdraw", p.Withdraw, "SamePort", "Served"),
		p.SecretRetention.validate(),
		p.validateIssuers(),
		p.validateClaimants(),
		p.validateAttach(),
		p.validateFence(),
		p.validatePorts(),
		p.validateTemplate(),
		p.validateValues(),
	)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s is %q; use %s", key, value, strings.Join(allowed, ", "))
}

func (p *Policy) validateAttach() error {
	switch a := p.Attach; {
	case a.From == FromList && len(a.Namespaces) == 0:
		return errors.New("attach.from is List without namespaces; name them in attach.namespaces")
	case a.From != FromList && len(a.Namespaces) > 0:
		return errors.New("attach.namespaces needs attach.from: List")
	case a.From == FromSelector && a.Selector == nil:
		return errors.New("attach.from is Selector without a selector; write it in attach.selector")
	case a.From != FromSelector && a.Selector != nil:
		return errors.New("attach.selector needs attach.from: Selector")
	}
	return nil
}

func (p *Policy) validateFence() error {
	lists := map[string][]string{"hostnames.allow": p.Hostnames.Allow, "wildcards": p.Wildcards}
	for namespace, patterns := range p.Hostnames.PerNamespace {
		lists["hostnames.perNamespace."+namespace] = patterns
	}
	lists["childApexes"] = p.ChildApexes
	for i, rule := range p.Issuers {
		lists[fmt.Sprintf("issuers[%d].hostnames", i)] = rule.Hostnames
	}
	if p.Apex != "" {
		apex := []string{p.Apex}
		lists["apex"] = apex
		defer func() { p.Apex = apex[0] }()
		if isWildcard(p.Apex) {
			return fmt.Errorf("apex is %q; it is a name without a wildcard", p.Apex)
		}
	}
	for key, patterns := range lists {
		for i, pattern := range patterns {
			normal, err := NormalizeHostname(pattern)
			if err != nil {
				return fmt.Errorf("%s: %q %w", key, pattern, err)
			}
			patterns[i] = normal
		}
	}
	for _, name := range p.Wildcards {
		if !isWildcard(name) {
			return fmt.Errorf("wildcards: %q is not a wildcard; write *.NAME", name)
		}
	}
	for _, child := range p.ChildApexes {
		if isWildcard(child) {
			return fmt.Errorf("childApexes: %q is a name without a wildcard", child)
		}
	}
	return nil
}

func (p *Policy) validatePorts() error {
	if port := int(p.HTTPSPort); port != 0 && !validPort(port) {
		return fmt.Errorf("httpsPort is %d; a port is 1 to 65535", port)
	}
	if !validPort(p.HTTP.Port) {
		return fmt.Errorf("http.port is %d; a port is 1 to 65535", p.HTTP.Port)
	}
	if int(p.HTTPSPort) == p.HTTP.Port && p.HTTP.Listener != Off {
		return fmt.Errorf("httpsPort and http.port are both %d; one port carries one of them", p.HTTP.Port)
	}
	if p.MaxListeners < 1 || p.MaxListeners > 64 {
		return fmt.Errorf("maxListeners is %d; a Gateway takes 1 to 64", p.MaxListeners)
	}
	return nil
}

func validPort(port int) bool { return port >= 1 && port <= 65535 }
