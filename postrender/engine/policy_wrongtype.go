package engine

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// trimDecoder takes the names of Go packages and types out of a decoder's
// message, and says how a value of the right type looks.
func trimDecoder(err error) string {
	message := err.Error()
	for _, noise := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: ", "error converting YAML to JSON: "} {
		message = strings.ReplaceAll(message, noise, "")
	}
	parts := wrongType.FindStringSubmatch(message)
	if parts == nil {
		return message
	}
	key := cmp.Or(parts[2], "it")
	message = fmt.Sprintf("%s is %s, not %s", key, article(parts[1]), goKind(parts[2], parts[3]))
	if example := exampleOf[key]; example != "" {
		message += "; write " + example
	}
	return message
}

var wrongType = regexp.MustCompile(`cannot unmarshal (\w+)(?: \S+)? into Go (?:struct field \w*\.(\S+)|value) of type (.+)`)

// exampleEntry is a policy entry that one can begin with.
const exampleEntry = "issuerRef: " + exampleIssuer

const exampleIssuer = "{kind: ClusterIssuer, name: letsencrypt}"

// exampleOf shows how the keys are written that are more than a word.
var exampleOf = map[string]string{
	"issuerRef":         exampleIssuer,
	"issuers.issuerRef": exampleIssuer,
	"issuers.hostnames": "[shop.example.com]",
	"issuers":           "[{hostnames: [shop.example.com], issuerRef: " + exampleIssuer + "}]",
	"attach":            "{from: All}",
	"attach.namespaces": "[web, shop]",
	"hostnames":         `{allow: ["*.example.com"]}`,
	"hostnames.allow":   `["*.example.com"]`,
	"http":              "{listener: true, redirect: true}",
	"passthrough":       "[{name: mqtt, port: 8883, hostname: mqtt.example.com}]",
	"childApexes":       "[example.org]",
	"wildcards":         `["*.example.com"]`,
}

func article(kind string) string {
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	}
	return "a " + kind
}

// goKind says what a key takes, by its place and the Go type that did not fit:
// a list and its items have one place.
func goKind(path, name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case path == "" || typeAt(path) == nil:
		return "a mapping"
	}
	switch kind := typeAt(path).Kind(); kind {
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	default:
		return "a mapping"
	}
}
