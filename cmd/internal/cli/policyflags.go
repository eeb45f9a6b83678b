package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gatewright/gatewright/postrender/engine"
)

// policyFlags are the policy as the command line gives it. Only the keys that
// one often wants to try, or to set for a whole release, have a flag.
type policyFlags struct {
	file string
	keys engine.Keys
}

func (p *policyFlags) register(cmd *cobra.Command) {
	p.keys = engine.Keys{}
	modes := []string{"PerHostname", "Wildcard", "ExistingSecret", "Edge", "ListenersOnly"}
	fs := cmd.Flags()
	fs.StringVar(&p.file, "policy", "", "`FILE` with a Policy, see gatewright help policy")
	p.key(fs, "issuer", "issuerRef", parseIssuer,
		"`[KIND/]NAME` of the issuer of the Certificates; KIND is ClusterIssuer (default), Issuer, or Kind.group")
	p.key(fs, "certificates", "certificates", oneOf(modes),
		"what serves the hostnames: `MODE` is PerHostname (default), ListenersOnly, or one that needs apex in the policy file or annotation: Wildcard, ExistingSecret or Edge")
	p.key(fs, "attach", "attach", parseAttach,
		"`WHO` may claim: Same (the Gateway's namespace, default), All, or namespaces with commas")
	p.key(fs, "https-port", "httpsPort", parsePort,
		"`PORT` of computed HTTPS listeners, or Auto")
	p.key(fs, "max-listeners", "maxListeners", parseLimit,
		"fail rather than give a Gateway more than `N` listeners (default 64)")
	complete(cmd, "certificates", modes)
	complete(cmd, "attach", []string{"Same", "All"})
	complete(cmd, "https-port", []string{"Auto"})
}

// key adds a flag that sets one key of the policy.
func (p *policyFlags) key(fs *pflag.FlagSet, flag, key string, parse func(string) (any, error), usage string) {
	fs.Func(flag, usage, func(s string) error {
		value, err := parse(s)
		if err == nil {
			// A flag is wrong also where no Gateway shows it.
			err = engine.Keys{key: value}.Check()
		}
		p.keys[key] = value
		return err
	})
}

func complete(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a mistake in this package
	}
}

// sources reads the policy file and puts the flags above it.
func (p *policyFlags) sources() (engine.PolicySources, error) {
	sources := engine.PolicySources{Flags: p.keys}
	if p.file == "" {
		return sources, nil
	}
	data, err := os.ReadFile(p.file)
	if err != nil {
		return sources, fmt.Errorf("policy: %w; give --policy a file that can be read", err)
	}
	sources.File, err = engine.ParsePolicyFile(p.file, data)
	return sources, err
}

// parseIssuer takes the kind for ClusterIssuer, because an issuer for the
// Gateways of several namespaces can be nothing else.
func parseIssuer(s string) (any, error) {
	kind, name, ok := strings.Cut(s, "/")
	if !ok {
		kind, name = "ClusterIssuer", s
	}
	kind, group, _ := strings.Cut(kind, ".")
	if kind == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("want NAME, Issuer/NAME, ClusterIssuer/NAME or Kind.group/NAME")
	}
	ref := map[string]any{"kind": kind, "name": name}
	if group != "" {
		ref["group"] = group
	}
	return ref, nil
}

func parseAttach(s string) (any, error) {
	words := []string{"Same", "All"}
	if slices.Contains(words, s) {
		return map[string]any{"from": s}, nil
	}
	if meant := meantWord(s, words); meant != "" {
		return nil, fmt.Errorf("want Same, All, or names of namespaces with commas%s (if a namespace is called so, the policy file can name it)", meant)
	}
	var namespaces []any
	for name := range strings.SplitSeq(s, ",") {
		if len(validation.IsDNS1123Label(name)) > 0 {
			return nil, fmt.Errorf("want Same, All, or names of namespaces with commas; no namespace can be called %q", name)
		}
		namespaces = append(namespaces, name)
	}
	return map[string]any{"from": "List", "namespaces": namespaces}, nil
}

func parsePort(s string) (any, error) {
	if s == "Auto" {
		return s, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > 65535 {
		return nil, fmt.Errorf("want Auto or a number from 1 to 65535%s", meantWord(s, []string{"Auto"}))
	}
	return n, nil
}

func parseLimit(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > 64 {
		return nil, fmt.Errorf("want a number from 1 to 64, which is all that a Gateway can hold")
	}
	return n, nil
}

func oneOf(words []string) func(string) (any, error) {
	return func(s string) (any, error) {
		if !slices.Contains(words, s) {
			return nil, fmt.Errorf("want one of %s%s", strings.Join(words, ", "), meantWord(s, words))
		}
		return s, nil
	}
}

// meantWord asks whether one of the words is meant, written in another case, or
// is "".
func meantWord(s string, words []string) string {
	for _, word := range words {
		if strings.EqualFold(s, word) {
			return ", did you mean " + word + "?"
		}
	}
	return ""
}
