// Package facetest compares the faces of gatewright in tests: whichever of
// post-render, flux and sweep serves a chart, its Gateways get the same listeners
// and the same Certificates stand beside them.
//
// What each chart of testdata/charts gets is in testdata/faces, as the text that
// [Face.String] returns. A test of a face makes its [Face], from a stream of
// manifests or from objects read of a cluster, and compares it with [Want].
//
// What cannot be the same needs a test of its own: Flux cannot patch a Gateway
// without a list of listeners (and so gives it no plain one either), nor install a
// chart that kustomize refuses; and where a hostname belongs to one namespace, a
// render knows the claims of its own release only, while the sweep knows who
// holds the name; and a ReferenceGrant, which a render adds, the sweep waits for.
package facetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/postrender"
	"github.com/gatewright/gatewright/postrender/engine"
)

// Release and Namespace are those with which each chart is rendered.
const (
	Release   = "demo"
	Namespace = "infra"
)

// Face is what a chart has got, one line for each listener and each object
// beside the chart's own.
type Face struct{ Listeners, Companions []string }

func (f Face) String() string {
	return strings.Join(append(slices.Clone(f.Listeners), f.Companions...), "\n") + "\n"
}

// Charts returns the names of the charts, given the root of the repository.
func Charts(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "testdata/charts/*/Chart.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no chart in %s/testdata/charts", root)
	}
	var out []string
	for _, file := range files {
		out = append(out, filepath.Base(filepath.Dir(file)))
	}
	return out, err
}

// Path returns the file that says what a chart gets.
func Path(root, chart string) string {
	return filepath.Join(root, "testdata/faces", chart+".txt")
}

// Want returns what a chart gets, in whatever way.
func Want(root, chart string) (string, error) {
	text, err := os.ReadFile(Path(root, chart))
	return string(text), err
}

// OfStream is the face of a stream of manifests.
func OfStream(stream []byte) (Face, error) {
	var objects []map[string]any
	for _, document := range postrender.Documents(stream) {
		var value map[string]any
		if err := yaml.Unmarshal(document, &value); err != nil {
			return Face{}, fmt.Errorf("%w in\n%s", err, document)
		}
		objects = append(objects, flat(value)...)
	}
	return OfObjects(objects), nil
}

// flat returns an object, or the items of a List.
func flat(value map[string]any) []map[string]any {
	items, isList := value["items"].([]any)
	if !isList {
		return []map[string]any{value}
	}
	var out []map[string]any
	for _, item := range items {
		if value, isMap := item.(map[string]any); isMap {
			out = append(out, flat(value)...)
		}
	}
	return out
}

// OfObjects is the face of objects, which may be live: what the API server fills
// in counts as if it had been written.
func OfObjects(objects []map[string]any) Face {
	var f Face
	for _, o := range objects {
		metadata := mapOf(o, "metadata")
		name := fmt.Sprintf("%s %s/%s", o["kind"], cmp.Or(textOf(metadata, "namespace"), Namespace), textOf(metadata, "name"))
		spec := mapOf(o, "spec")
		switch {
		case mapOf(metadata, "annotations")["helm.sh/hook"] != nil:
		case o["kind"] == engine.KindGateway || o["kind"] == engine.KindListenerSet:
			for _, l := range listOf(spec, "listeners") {
				f.Listeners = append(f.Listeners, name+" "+line(listener(l)))
			}
		case textOf(mapOf(metadata, "labels"), engine.LabelFor) != "":
			f.Companions = append(f.Companions, name+" "+line(companion(o["kind"], spec)))
		}
	}
	slices.Sort(f.Listeners)
	slices.Sort(f.Companions)
	return f
}

// listener is a listener with the defaults of the API.
func listener(l map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"name", "hostname", "port", "protocol"} {
		out[key] = l[key]
	}
	namespaces := mapOf(mapOf(l, "allowedRoutes"), "namespaces")
	out["from"], out["selector"] = cmp.Or(textOf(namespaces, "from"), "Same"), namespaces["selector"]
	tls := mapOf(l, "tls")
	if len(tls) > 0 {
		out["mode"] = cmp.Or(textOf(tls, "mode"), "Terminate")
	}
	var secrets []string
	for _, ref := range listOf(tls, "certificateRefs") {
		secrets = append(secrets, textOf(ref, "namespace")+"/"+textOf(ref, "name"))
	}
	out["secrets"] = secrets
	return out
}

// companion is what matters of an object beside the chart's own.
func companion(kind any, spec map[string]any) map[string]any {
	out := map[string]any{}
	switch kind {
	case engine.KindCertificate:
		issuer := mapOf(spec, "issuerRef")
		out["dnsNames"], out["secretName"] = spec["dnsNames"], spec["secretName"]
		out["issuer"] = strings.Join([]string{
			cmp.Or(textOf(issuer, "group"), engine.CertManagerGroup), cmp.Or(textOf(issuer, "kind"), "Issuer"), textOf(issuer, "name"),
		}, "/")
	case engine.KindHTTPRoute:
		for _, parent := range listOf(spec, "parentRefs") {
			out[textOf(parent, "name")] = parent["sectionName"]
		}
	default:
		return spec
	}
	return out
}

func line(value map[string]any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it came from YAML
	}
	return string(text)
}

func mapOf(value map[string]any, key string) map[string]any {
	m, _ := value[key].(map[string]any)
	return m
}

func textOf(value map[string]any, key string) string {
	text, _ := value[key].(string)
	return text
}

func listOf(value map[string]any, key string) []map[string]any {
	items, _ := value[key].([]any)
	var out []map[string]any
	for _, item := range items {
		if m, isMap := item.(map[string]any); isMap {
			out = append(out, m)
		}
	}
	return out
}
