package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStateRoundTrip(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	state := State{
		Stale:     map[string]time.Time{"https-a": at},
		Claimants: map[string][]string{"https-a": {KindHTTPRoute}},
		Holders:   map[string]Holder{"a.example.com": {Namespace: "team-a", Gone: &at}},
		Yields:    map[string]time.Time{"b.example.com": at},
	}
	got, err := ParseState(state.String())
	state.Version = "v1alpha1"
	if diff := cmp.Diff(state, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if text := (State{}).String(); text != "" {
		t.Errorf("the empty state is %q", text)
	}
	for _, text := range []string{"{", "[]", `{"version":"v2"}`, `{"version":"v1alpha1","stale":{"a":"yesterday"}}`} {
		if _, err := ParseState(text); err == nil {
			t.Errorf("%s is read without an error", text)
		}
	}
}

func TestHold(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	state := State{
		Holders: map[string]Holder{
			"holds.example.com":   {Namespace: "a"},
			"just-gone.test":      {Namespace: "b", Gone: ago(23 * time.Hour)},
			"long-gone.test":      {Namespace: "c", Gone: ago(24 * time.Hour)},
			"gone-and-there.test": {Namespace: "d", Gone: ago(25 * time.Hour)},
		},
		Yields: map[string]time.Time{"over.test": now, "yielded.test": now.Add(time.Second)},
	}
	listener := func(name, hostname, namespace string) SourceListener {
		r := reader{object: map[string]any{"name": name, "hostname": hostname, "allowedRoutes": fromNamespaces(FromSelector, map[string]any{
			"matchExpressions": []any{map[string]any{"key": metadataName, "operator": "In", "values": []any{namespace}}},
		})}, problem: new(string)}
		l := r.listener()
		l.Owned = true
		return l
	}
	s := &Snapshot{Gateways: []*Gateway{
		{
			Meta:      Meta{Kind: KindGateway, Namespace: "infra", Name: "edge", Annotations: map[string]string{AnnotationState: state.String()}},
			Listeners: []SourceListener{listener("1", "gone-and-there.test", "d"), listener("2", "not-recorded.test", "e")},
		},
		{Meta: Meta{Kind: KindGateway, Namespace: "infra", Name: "bad", Annotations: map[string]string{AnnotationState: "nonsense"}}},
	}}
	unread := s.Hold(now, 24*time.Hour)
	if len(unread) != 1 || unread["Gateway infra/bad"] == nil {
		t.Errorf("unread %v", unread)
	}
	want := map[string]string{"holds.example.com": "a", "just-gone.test": "b", "not-recorded.test": "e"}
	if diff := cmp.Diff(want, s.Gateways[0].Holders); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"yielded.test": "2026-01-02T00:00:01Z"}, s.Gateways[0].Yielded); diff != "" {
		t.Errorf("yielded (-want +got):\n%s", diff)
	}
}

func TestOwnersOfManagedFields(t *testing.T) {
	entry := func(manager, operation string, fields map[string]any) any {
		return map[string]any{"manager": manager, "operation": operation, "fieldsV1": map[string]any{"f:spec": fields}}
	}
	listeners := func(names ...string) map[string]any {
		keys := map[string]any{".": map[string]any{}}
		for _, name := range names {
			keys[`k:{"name":"`+name+`"}`] = map[string]any{}
		}
		return map[string]any{"f:listeners": keys}
	}
	status := map[string]any{"manager": "controller", "operation": "Update", "subresource": "status", "fieldsV1": map[string]any{"f:status": map[string]any{}}}
	r := reader{problem: new(string), object: map[string]any{"metadata": map[string]any{"managedFields": []any{
		entry(FieldManager, "Apply", listeners("ours", "shared", "both")), entry("helm", "Apply", listeners("shared", "theirs")),
		entry("helm", "Update", listeners("both")), entry(FieldManager, "Update", listeners("theirs")), status,
	}}}}
	got := map[string]listenerOwners{}
	for name, by := range r.owners().listeners {
		got[name] = listenerOwners{ours: by.ours, applied: by.applied}
	}
	want := map[string]listenerOwners{"ours": {ours: true}, "shared": {ours: true, applied: true}, "both": {ours: true}, "theirs": {applied: true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(listenerOwners{}, fieldOwner{})); diff != "" {
		t.Errorf("owners of listeners (-want +got):\n%s", diff)
	}
	spec := map[string]any{"f:secretName": map[string]any{}}
	for name, test := range map[string]struct {
		fields []any
		owned  bool
		beside string
	}{
		"ours alone":       {[]any{entry(FieldManager, "Apply", spec), status}, true, ""},
		"by update":        {[]any{entry(FieldManager, "Update", spec)}, false, ""},
		"shared with helm": {[]any{entry(FieldManager, "Apply", spec), entry("kubectl", "Update", spec), entry("helm", "Update", spec)}, false, ""},
		"a part of Helm":   {[]any{entry(FieldManager, "Apply", spec), entry("terraform-provider-helm_v2", "Update", spec)}, false, ""},
		"with Flux":        {[]any{entry(FieldManager, "Apply", spec), entry("kustomize-controller", "Apply", spec)}, false, ""},
		"edited":           {[]any{entry("kubectl", "Update", spec), entry(FieldManager, "Apply", spec), entry("argo", "Apply", spec)}, false, "argo"},
		"somebody else's":  {[]any{entry("kubectl", "Update", spec)}, false, ""},
		"nobody":           {nil, false, ""},
	} {
		r := reader{problem: new(string), object: map[string]any{"metadata": map[string]any{"managedFields": test.fields}}}
		if got := r.owners(); got.spec != test.owned || got.beside != test.beside {
			t.Errorf("%s: owned %v, beside %q", name, got.spec, got.beside)
		}
	}
}
