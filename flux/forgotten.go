package flux

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatewright/gatewright/postrender/engine"
)

// policyForgotten fails a run without a policy for a Gateway that has a patch and
// claims: somebody left out a flag, and all of its listeners would go.
func policyForgotten(hr *release, plan *engine.Plan, all parents) error {
	for _, step := range hr.Spec.PostRenderers {
		if !isOurs(step) {
			continue
		}
		for _, patch := range step.Kustomize.Patches {
			for _, parent := range all {
				if patch.Target != nil && selects(patch.Target, parent) && hasNoPolicy(plan, nameOf(hr, parent)) {
					return hr.fault(fmt.Sprintf("the file has a patch for %s, which no policy is given for any more, so all of its listeners would go", nameOf(hr, parent)),
						"give --policy or the flags that it was rendered with; to take all of it out, remove the annotation "+engine.AnnotationPolicy)
				}
			}
		}
	}
	return nil
}

func hasNoPolicy(plan *engine.Plan, object string) bool {
	return slices.ContainsFunc(plan.Findings, func(f engine.Finding) bool { return f.Code == engine.CodeNoPolicy && f.Object == object })
}

// nameOf is what findings call an object of the chart.
func nameOf(hr *release, object map[string]any) string {
	namespace := cmp.Or(text(object, "metadata", "namespace"), hr.GetReleaseNamespace())
	return key{text(object, "kind"), namespace, text(object, "metadata", "name")}.String()
}
