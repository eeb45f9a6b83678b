package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gatewright/gatewright/postrender/engine"
)

// The codes of findings about what an implementation made for a Gateway. Each is
// described in jobs/README.md.
const (
	// CodeInfrastructureOrphan: its Gateway is gone.
	CodeInfrastructureOrphan = "InfrastructureOrphan"
	// CodeInfrastructureUnread: a kind of it cannot be read.
	CodeInfrastructureUnread = "InfrastructureUnread"
)

// labelGatewayName names the Gateway that an object was made for, which stands in
// the object's namespace.
const labelGatewayName = engine.GatewayGroup + "/gateway-name"

// infrastructureAge is how old an object is before its Gateway is missed: it may
// be newer than what was read of Gateways.
const infrastructureAge = 10 * time.Minute

const (
	kindServiceAccount     = "ServiceAccount"
	kindClusterRoleBinding = "ClusterRoleBinding"
	rbacGroup              = "rbac.authorization.k8s.io"
)

// infrastructureKinds are what implementations make for a Gateway, and give
// rights to. ServiceAccounts are read all, to see which subjects are gone.
var infrastructureKinds = []kind{
	{group: "apps", kind: "Deployment", metadata: true, selector: labelGatewayName},
	{kind: engine.KindService, metadata: true, selector: labelGatewayName},
	{kind: kindServiceAccount, metadata: true},
	{group: rbacGroup, kind: kindClusterRoleBinding, isCluster: true},
}

// made is an object that may have been made for a Gateway.
type made struct {
	objectKey
	// gateway is the value of the label, "" without it.
	gateway string
	created time.Time
	going   bool
	// subjects are the ServiceAccounts of a binding.
	subjects []engine.ObjectName
}

// madeObjects is a sink.
type madeObjects []made

func (m *madeObjects) mark() (int64, error) { return int64(len(*m)), nil }

func (m *madeObjects) back(mark int64) error {
	*m = (*m)[:mark]
	return nil
}

func (m *madeObjects) add(object map[string]any) error {
	meta := unstructured.Unstructured{Object: object}
	found := made{
		objectKey: objectKey{meta.GetKind(), nameOf(object)},
		gateway:   meta.GetLabels()[labelGatewayName],
		created:   meta.GetCreationTimestamp().Time,
		going:     meta.GetDeletionTimestamp() != nil,
	}
	subjects, _, _ := unstructured.NestedSlice(object, "subjects")
	for _, item := range subjects {
		subject, _ := item.(map[string]any)
		if subject["kind"] == kindServiceAccount {
			namespace, _ := subject["namespace"].(string)
			name, _ := subject["name"].(string)
			found.subjects = append(found.subjects, engine.ObjectName{Namespace: namespace, Name: name})
		}
	}
	*m = append(*m, found)
	return nil
}

// reportInfrastructure reports what was made for Gateways that are gone. It never
// writes, and what it cannot read costs nothing else.
func (s *sweep) reportInfrastructure(ctx context.Context) {
	if !s.options.Infrastructure {
		return
	}
	s.progress("reading infrastructure")
	results, err := s.cluster.readKinds(ctx, infrastructureKinds, ReadOptions{Namespaces: s.options.Namespaces},
		func(kind) (sink, error) { return &madeObjects{}, nil })
	if err != nil {
		return // the context has ended, which the run says
	}
	read := map[string][]made{}
	for _, result := range results {
		if result.Complete {
			read[result.Kind] = append([]made{}, *result.sink.(*madeObjects)...)
		} else {
			s.report.finding(engine.Finding{Severity: engine.Warning, Code: CodeInfrastructureUnread, Object: result.Kind + "s", Message: result.Err.Error()})
		}
	}
	findings := s.orphaned(read)
	if accounts, bindings := read[kindServiceAccount], read[kindClusterRoleBinding]; accounts != nil {
		findings = append(findings, s.lostSubjects(accounts, bindings)...)
	}
	slices.SortFunc(findings, func(a, b engine.Finding) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	for _, f := range findings {
		s.report.finding(f)
	}
}

// orphaned are the objects whose Gateway is gone.
func (s *sweep) orphaned(read map[string][]made) []engine.Finding {
	var out []engine.Finding
	for kind, objects := range read {
		for _, o := range objects {
			if kind == kindClusterRoleBinding || !s.isOrphaned(o) {
				continue
			}
			out = append(out, orphanFinding(fmt.Sprintf("%s %s/%s", o.kind, o.name.Namespace, o.name.Name),
				fmt.Sprintf("it was made for Gateway %s/%s, which is gone, and nothing took it away; once nothing uses it: kubectl delete %s %s -n %s",
					o.name.Namespace, o.gateway, strings.ToLower(o.kind), o.name.Name, o.name.Namespace)))
		}
	}
	return out
}

func orphanFinding(object, message string) engine.Finding {
	return engine.Finding{Severity: engine.Warning, Code: CodeInfrastructureOrphan, Object: object, Message: message}
}

// isOrphaned says whether an object carries the name of a Gateway that is gone. A
// name that is too long for a label is carried in some other form.
func (s *sweep) isOrphaned(o made) bool {
	if o.gateway == "" || o.going || s.now.Sub(o.created) < infrastructureAge {
		return false
	}
	for name := range s.reading.Gateways {
		if name.Namespace == o.name.Namespace && (name.Name == o.gateway || len(name.Name) > validation.LabelValueMaxLength) {
			return false
		}
	}
	return true
}

// lostSubjects are the subjects that are gone of ClusterRoleBindings which
// several Gateways share: those that name a ServiceAccount of a Gateway beside
// them.
func (s *sweep) lostSubjects(accounts, bindings []made) []engine.Finding {
	live := map[engine.ObjectName]made{}
	for _, account := range accounts {
		live[account.name] = account
	}
	var out []engine.Finding
	for _, binding := range bindings {
		shared := len(binding.subjects) > 1 && slices.ContainsFunc(binding.subjects, func(name engine.ObjectName) bool { return live[name].gateway != "" })
		for _, name := range binding.subjects {
			_, exists := live[name]
			if shared && !exists && s.reads(name.Namespace) && s.now.Sub(binding.created) >= infrastructureAge {
				out = append(out, orphanFinding("ClusterRoleBinding "+binding.name.Name,
					fmt.Sprintf("its subject ServiceAccount %s/%s is gone, and whoever makes one of that name there gets its rights; take it out of the subjects", name.Namespace, name.Name)))
			}
		}
	}
	return out
}

// reads says whether a namespace is among those that are read.
func (s *sweep) reads(namespace string) bool {
	return len(s.options.Namespaces) == 0 || slices.Contains(s.options.Namespaces, namespace)
}
