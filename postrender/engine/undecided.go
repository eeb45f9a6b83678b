package engine

import "fmt"

// What is asked of a parent that is not planned here gets a verdict too, one
// that is no refusal: nobody has looked whether the hostname may be served.

// answerNames gives all hostnames of one object and parent the same answer.
func (r *run) answerNames(object *Meta, parent Parent, names []string, a answer) {
	for _, raw := range names {
		r.verdict(claim{object: object, parent: parent, hostname: normalOr(raw)}, a)
	}
}

// notHere answers for a parent of another release.
func notHere(parent Parent) answer {
	return refuse(ReasonPending, "%s %s is not in this release, so what it serves is not known here", parent.Kind, placedName(parent.Namespace, parent.Name))
}

// withoutPolicy answers for a parent to which nothing is added.
func withoutPolicy(g *gateway) answer {
	return refuse(ReasonPending, "%s has no policy, so nothing is added to it; give it one to get a listener", g)
}

func optedOutObject() answer {
	return refuse(ReasonOptedOut, "the annotation %s: \"false\" keeps it from adding a listener", AnnotationManage)
}

// gatewayOptedOut answers for a Gateway that is taken out, and says so once for
// each object.
func (r *run) gatewayOptedOut(g *gateway, object *Meta, parent Parent, names []string) {
	r.answerNames(object, parent, names, refuse(ReasonOptedOut, "%s is taken out by its annotation %s", g, AnnotationManage))
	r.find(Warning, CodeOptedOut, object, fmt.Sprintf("%s carries %s: \"false\", so nothing is added to it; remove the annotation to get listeners", g, AnnotationManage))
}
