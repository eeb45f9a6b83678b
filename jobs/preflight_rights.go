package jobs

import (
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/postrender/engine"
)

// cannot is how an API server says that the caller has no right, and which. An
// admission policy forbids in words of its own.
var cannot = regexp.MustCompile(`is forbidden: User ".*" cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?`)

// isUnauthorized says whether the caller may not do what was asked.
func isUnauthorized(err error) bool {
	return apierrors.IsForbidden(err) && cannot.MatchString(serverWords(err))
}

// forbidden is the finding of a question that the caller may not ask.
func forbidden(u *unstructured.Unstructured, err error) engine.Finding {
	right := cannot.FindStringSubmatch(serverWords(err))
	why := "the dry run by which the API server is asked needs it, and changes nothing"
	if right[1] == "get" {
		why = "without it nobody sees which release it is of"
	}
	return finding(u, engine.Warning, CodePreflightForbidden,
		fmt.Sprintf("it is not known whether the upgrade would be accepted: grant the verb %s on %s in the namespace %s to whoever runs this; %s",
			right[1], resource{group: right[3], name: right[2]}.fullName(), u.GetNamespace(), why))
}

// helped are the server's words of a write that failed, and the right that is
// missing, where that is why.
func helped(err error) string { return serverWords(err) + missingRight(err) }

// missingRight says which right to grant, or is "" where that would not help.
func missingRight(err error) string {
	if !isUnauthorized(err) {
		return ""
	}
	right := cannot.FindStringSubmatch(serverWords(err))
	where := "by a ClusterRole"
	if right[4] != "" {
		where = fmt.Sprintf("in the namespace %s, by a Role or a ClusterRole", right[4])
	}
	return fmt.Sprintf("; grant the verb %s on %s %s", right[1], resource{group: right[3], name: right[2]}.fullName(), where)
}
