package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// readError names what could not be read, where, why, and what to do.
type readError struct {
	what, path string
	err        error
	fix        string
}

func (e *readError) Error() string {
	return fmt.Sprintf("%s: GET %s: %v; %s", e.what, e.path, e.err, e.fix)
}

func (e *readError) Unwrap() error { return e.err }

// fixOf says what to do where a verb on a resource failed; namespace "" is all
// of them.
func fixOf(err error, verb, resource, namespace string) string {
	status, _ := errors.AsType[*apierrors.StatusError](err)
	_, isAnswer := errors.AsType[*answerError](err)
	_, isFile := errors.AsType[*fs.PathError](err)
	switch {
	case isFile:
		return "see that temporary files can be written"
	case hasCode(err, http.StatusForbidden) && namespace == "":
		return fmt.Sprintf("grant the verb %s on %s by a ClusterRole", verb, resource)
	case hasCode(err, http.StatusForbidden):
		return fmt.Sprintf("grant the verb %s on %s by a Role in the namespace %s", verb, resource, namespace)
	case hasCode(err, http.StatusUnauthorized):
		return "give credentials that the server takes"
	case hasCode(err, http.StatusNotFound):
		return "run again; if it stays, the server serves no " + resource + " although it says so"
	case isExpired(err):
		return "run again when fewer objects change at a time"
	case isAnswer, status != nil && !mayPass(err):
		return "see what answers at this address"
	default:
		return "run again when the API server answers"
	}
}

// fixDiscovery says what to do where the server does not say what it serves.
func fixDiscovery(err error) string {
	if hasCode(err, http.StatusForbidden) {
		return "bind the ClusterRole system:discovery"
	}
	return fixOf(err, "get", "it", "")
}

// orNothing is how a message names a kind that an answer may not have.
func orNothing(kind string) string {
	if kind == "" {
		return "nothing"
	}
	return kind
}
