package engine

import (
	"fmt"
)

// The objects of a world.

var worldVersions = map[string]string{
	KindCertificate: CertManagerGroup + "/v1", KindNamespace: "v1", KindSecret: "v1", KindService: "v1", KindGrant: GatewayGroup + "/v1beta1",
}

func metadata(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }

// keyOf tells objects apart.
func keyOf(object map[string]any) string {
	namespace, _ := metadata(object)["namespace"].(string)
	return fmt.Sprintf("%s %s/%s", object["kind"], namespace, metadata(object)["name"])
}

// add adds an object, of any age or of none.
func (w *world) add(kind, namespace, name string, annotations, spec map[string]any) map[string]any {
	version := worldVersions[kind]
	if version == "" {
		version = GatewayGroup + "/v1"
	}
	meta := map[string]any{"name": name, "annotations": annotations, "labels": map[string]any{}}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	if !w.oneIn(3) {
		meta["creationTimestamp"] = fmt.Sprintf("2026-01-%02dT00:00:00Z", 1+w.rand.IntN(4))
	}
	object := map[string]any{"apiVersion": version, "kind": kind, "metadata": meta}
	if spec != nil {
		object["spec"] = spec
	}
	w.objects = append(w.objects, object)
	return object
}

// surroundings adds what is no claim and no parent.
func (w *world) surroundings() {
	for _, name := range []string{"infra", "app", "kid"} {
		if !w.complete && w.oneIn(2) {
			continue
		}
		object := w.add(KindNamespace, "", name, nil, nil)
		if !w.oneIn(3) {
			metadata(object)["labels"] = map[string]any{"team": pick(w, "a", "b")}
		}
		w.known[keyOf(object)] = !w.complete && w.oneIn(2)
	}
	for _, namespace := range []string{"infra", "app"} {
		if w.oneIn(2) {
			w.add(KindService, namespace, "db", nil, nil)
		}
		if w.oneIn(4) {
			w.add(KindSecret, namespace, CertificateName(KindGateway, "edge", "b.example.com"), nil, nil)
		}
	}
	for i := range w.rand.IntN(4) {
		w.grant(i)
	}
	if w.complete && w.oneIn(2) {
		w.holders = map[string]string{"a.example.com": pick(w, "app", "kid"), "x.test": "infra"}
		w.quotas = map[string]string{ListenerName("a.example.com", 443): pick(w, "app", "infra"), ListenerName("b.example.com", 443): "app"}
	}
}

func (w *world) grant(i int) {
	to := map[string]any{"group": "", "kind": pick(w, KindSecret, KindSecret, KindService)}
	if w.oneIn(2) {
		to["name"] = pick(w, "c0-tls", "c1-tls", "db")
	}
	w.add(KindGrant, pick(w, "app", "infra"), fmt.Sprintf("g%d", i), nil, map[string]any{
		"from": []any{map[string]any{"group": GatewayGroup, "kind": pick(w, KindGateway, KindGateway, KindListenerSet, KindTLSRoute), "namespace": pick(w, "infra", "infra", "app")}},
		"to":   []any{to},
	})
}

func (w *world) gateway(name string) {
	annotations := map[string]any{}
	switch w.rand.IntN(12) {
	case 0:
		annotations["cert-manager.io/cluster-issuer"] = "le"
		annotations["cert-manager.io/ignore-tls-listeners"] = ListenerName("a.example.com", 443) + ", l0"
	case 1:
		annotations[AnnotationPolicy] = compact(map[string]any{"cover": CoverAny, "certificates": ListenersOnly})
	case 2:
		if w.oneIn(2) {
			annotations[AnnotationManage] = "false"
		}
	}
	spec := map[string]any{"listeners": w.listeners(5)}
	if from := pick(w, "", "Same", "All", "All", "Selector"); from != "" {
		namespaces := map[string]any{"from": from}
		if from == "Selector" {
			namespaces["selector"] = w.selector()
		}
		spec["allowedListeners"] = map[string]any{"namespaces": namespaces}
	}
	w.add(KindGateway, "infra", name, annotations, spec)
}

func (w *world) listenerSet(i int) {
	annotations := map[string]any{}
	if w.oneIn(6) {
		annotations["cert-manager.io/issuer"] = "le"
	}
	w.add(KindListenerSet, pick(w, "infra", "app"), fmt.Sprintf("s%d", i), annotations, map[string]any{
		"parentRef": map[string]any{"name": pick(w, "edge", "edge", "inner", "missing"), "namespace": "infra"},
		"listeners": w.listeners(3),
	})
}

// parentRef names a Gateway or a ListenerSet, and sometimes a part of it.
func (w *world) parentRef() map[string]any {
	ref := map[string]any{"name": pick(w, "edge", "edge", "inner", "missing"), "namespace": "infra"}
	if w.oneIn(4) {
		ref = map[string]any{"kind": KindListenerSet, "name": pick(w, "s0", "s1"), "namespace": pick(w, "infra", "app")}
	}
	if w.oneIn(5) {
		hostname := pick(w, "a.example.com", "*.a.example.com", "*.example.com", "x.test")
		ref["sectionName"] = pick(w, "l0", "l1", "http", "tls-e0", "tls-e1", "nothing", ListenerName(hostname, 443), ListenerName(hostname, 443), ListenerName(hostname, 8443))
	}
	if w.oneIn(7) {
		ref["port"] = int64(pick(w, 80, 443, 8443, 5432))
	}
	return ref
}

func (w *world) route(i int) {
	parents := []any{w.parentRef()}
	if w.oneIn(4) {
		parents = append(parents, w.parentRef())
	}
	hostnames := []any{}
	for range w.rand.IntN(4) {
		hostnames = append(hostnames, w.hostname())
	}
	annotations := map[string]any{}
	if w.oneIn(5) {
		annotations[AnnotationManage] = pick(w, "false", "true")
	}
	rule := map[string]any{"backendRefs": []any{map[string]any{"name": pick(w, "db", "none"), "namespace": pick(w, "app", "infra"), "port": int64(80)}}}
	if w.oneIn(10) {
		rule = map[string]any{"filters": []any{map[string]any{"type": "RequestRedirect", "requestRedirect": map[string]any{"scheme": "https"}}}}
	}
	kind := pick(w, KindHTTPRoute, KindHTTPRoute, KindHTTPRoute, KindGRPCRoute, KindTLSRoute, KindTLSRoute)
	object := w.add(kind, pick(w, "infra", "app", "app", "kid"), fmt.Sprintf("r%d", i), annotations,
		map[string]any{"parentRefs": parents, "hostnames": hostnames, "rules": []any{rule}})
	if w.oneIn(15) {
		metadata(object)["labels"] = map[string]any{"acme.cert-manager.io/http01-solver": "true"}
	}
}

func (w *world) certificate(i int) {
	annotations := map[string]any{AnnotationGateway: "infra/" + pick(w, "edge", "inner")}
	if w.oneIn(3) {
		annotations[AnnotationPort] = pick(w, "443", "8443", "none")
	}
	if w.oneIn(5) {
		annotations = map[string]any{}
	}
	secret := fmt.Sprintf("c%d-tls", w.rand.IntN(3))
	if w.oneIn(6) {
		secret = CertificateName(KindGateway, "edge", "a.example.com")
	}
	object := w.add(KindCertificate, pick(w, "infra", "app"), fmt.Sprintf("c%d", i), annotations,
		map[string]any{"dnsNames": []any{w.hostname(), w.hostname()}, "secretName": secret})
	if w.oneIn(8) { // one that cert-manager's shim made is called like its Secret
		metadata(object)["name"] = secret
		metadata(object)["ownerReferences"] = []any{map[string]any{"kind": KindGateway, "controller": true}}
	}
}
