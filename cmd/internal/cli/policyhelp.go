package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/gatewright/gatewright/postrender/engine"
)

// policyKey is the help of one key of a policy.
type policyKey struct{ name, byDefault, help string }

const policyIntro = `A policy holds the settings for one Gateway. It is merged key by key from,
highest first: command flags, the file of --policy, the Gateway's annotation
gatewright.dev/policy (one entry as YAML or JSON, without match), the defaults.
A Gateway that carries cert-manager's issuer annotation has a policy by that
alone; a Gateway without any policy stays as it is, and a finding says so. A
ListenerSet has the policy of its Gateway, under its own annotation.

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
	topic := &cobra.Command{
		Use:   "policy",
		Short: "The settings for a Gateway: every key, its default, an example",
	}
	// Only who asks for the help pays for reading the schema.
	topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		keys, err := policyKeys()
		if err != nil {
			cmd.PrintErrln(err)
			return
		}
		fmt.Fprint(cmd.OutOrStdout(), policyIntro+"EXAMPLE\n\n"+policyExample+"\nKEYS\n\n"+policyTable(keys)+"\n")
	})
	return topic
}

func policyTable(keys []policyKey) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k.name + "  (default " + k.byDefault + ")\n")
		b.WriteString(wrap(k.help, "    ", "    ", 79))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// property is what the schema says of a key.
type property struct {
	Description string
	Default     any
	Properties  yaml.Node
}

// policyKeys are all the keys, with the words and in the order of the schema.
func policyKeys() ([]policyKey, error) {
	var schema struct {
		Defs struct {
			Entry property
		} `yaml:"$defs"`
	}
	if err := yaml.Unmarshal(engine.PolicySchema, &schema); err != nil {
		return nil, fmt.Errorf("schema of a policy: %w", err)
	}
	var keys []policyKey
	err := schema.Defs.Entry.each(func(name string, p property) error {
		byDefault, err := p.byDefault()
		keys = append(keys, policyKey{name, byDefault, p.Description})
		return err
	})
	return keys, err
}

// each calls f with the properties of one that is a mapping, in their order.
func (p property) each(f func(name string, p property) error) error {
	for i := 0; i+1 < len(p.Properties.Content); i += 2 {
		var inner property
		if err := p.Properties.Content[i+1].Decode(&inner); err != nil {
			return fmt.Errorf("schema of a policy: %w", err)
		}
		if err := f(p.Properties.Content[i].Value, inner); err != nil {
			return err
		}
	}
	return nil
}

// byDefault is the default of a key, or those of the keys in it.
func (p property) byDefault() (string, error) {
	if p.Default != nil {
		return fmt.Sprint(p.Default), nil
	}
	var parts []string
	err := p.each(func(name string, inner property) error {
		if inner.Default != nil {
			parts = append(parts, fmt.Sprintf("%s: %v", name, inner.Default))
		}
		return nil
	})
	if len(parts) == 0 {
		return "none", err
	}
	return strings.Join(parts, ", "), err
}
