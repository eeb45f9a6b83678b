package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/gatewright/gatewright/postrender/engine"
)

const (
	// pageSize is what kubectl asks for too.
	pageSize = 500
	// restarts is how often a list may begin anew because the server forgot it.
	restarts = 3
	// emptyPages is how many pages without an object may follow one another: the
	// server may give some, and what gives nothing else is no list.
	emptyPages = 20
)

// sink takes the objects of one kind. What was added since begin counts from
// commit on, and is forgotten by another begin.
type sink interface {
	begin() error
	add(object map[string]any) error
	commit() error
}

// lister reads one kind into a sink.
type lister struct {
	cluster  *Cluster
	kind     kind
	resource resource
	sink     sink
	progress func(objects int)

	// committed and pending count objects.
	committed, pending, pages int
}

// errMoved is a list whose pages are not of one moment.
var errMoved = errors.New("the pages of the list are not of one resourceVersion")

// isExpired says whether a list has to begin anew.
func isExpired(err error) bool { return hasCode(err, http.StatusGone) || errors.Is(err, errMoved) }

// read reads the kind in the namespaces, or in all if there are none.
func (l *lister) read(ctx context.Context, namespaces []string) error {
	if l.kind.kind == engine.KindNamespace && len(namespaces) > 0 {
		return l.named(ctx, namespaces)
	}
	if l.kind.isCluster || len(namespaces) == 0 {
		return l.list(ctx, "")
	}
	var errs []error
	for _, namespace := range namespaces {
		errs = append(errs, l.list(ctx, namespace))
	}
	return errors.Join(errs...)
}

// list reads one list, from the first page to the last one, all of the same
// moment.
func (l *lister) list(ctx context.Context, namespace string) error {
	path := l.resource.path(namespace)
	for restart := 0; ; restart++ {
		err := l.attempt(ctx, path, namespace)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isExpired(err) && restart < restarts:
			continue
		}
		return &readError{l.kind.kind, path, err, fixOf(err, "list", l.resource.fullName(), namespace)}
	}
}

func (l *lister) attempt(ctx context.Context, path, namespace string) error {
	if err := l.sink.begin(); err != nil {
		return err
	}
	l.pending = 0
	version, token, empty := "", "", 0
	for {
		page, err := l.page(ctx, path, token)
		if err != nil {
			return err
		}
		if token != "" && page.Metadata.ResourceVersion != version {
			return errMoved
		}
		if err := l.addPage(page, namespace); err != nil {
			return err
		}
		if page.Metadata.Continue == "" {
			l.committed += l.pending
			return l.sink.commit()
		}
		if empty++; len(page.Items) > 0 {
			empty = 0
		}
		if page.Metadata.Continue == token || empty == emptyPages {
			return &answerError{"the list continues forever and holds nothing more"}
		}
		version, token = page.Metadata.ResourceVersion, page.Metadata.Continue
	}
}

// page is one page of a list. Its items are decoded one by one.
type page struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Message    string `json:"message"` // of a Status
	Metadata   struct {
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

func (l *lister) page(ctx context.Context, path, token string) (*page, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if l.kind.selector != "" {
		query.Set("labelSelector", l.kind.selector)
	}
	if token != "" {
		query.Set("continue", token)
	}
	accept := acceptObjects
	if l.kind.metadata {
		accept = acceptMetadataList
	}
	var p page
	if err := l.cluster.get(ctx, request{path, query, accept}, &p); err != nil {
		return nil, err
	}
	l.pages++
	return &p, l.check(&p)
}

// check believes an answer only if it is the list that was asked for, and whole.
func (l *lister) check(p *page) error {
	kind, apiVersion := l.kind.kind, l.resource.apiVersion()
	if l.kind.metadata {
		kind, apiVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	if p.Kind != kind+"List" || p.APIVersion != apiVersion {
		message := fmt.Sprintf("the answer is %s %s, not %s %sList", orNothing(p.APIVersion), orNothing(p.Kind), apiVersion, kind)
		if p.Message != "" {
			message += ": " + p.Message
		}
		return &answerError{message}
	}
	if p.Items == nil && !l.kind.metadata { // of metadata, an empty list is written as null
		return &answerError{"the list has no items, not even none"}
	}
	if left := p.Metadata.RemainingItemCount; p.Metadata.Continue == "" && left != nil && *left > 0 {
		return &answerError{fmt.Sprintf("the list ends although %d more items remain", *left)}
	}
	return nil
}

func (l *lister) addPage(p *page, namespace string) error {
	for _, raw := range p.Items {
		if err := l.add(raw, namespace); err != nil {
			return err
		}
	}
	l.pending += len(p.Items)
	l.progress(l.committed + l.pending)
	return nil
}

// add decodes one item and gives it the type that items of built-in kinds, and
// metadata, do not have.
func (l *lister) add(raw []byte, namespace string) error {
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &object); err != nil {
		return &answerError{err.Error()}
	}
	if err := l.checkItem(object, namespace); err != nil {
		return err
	}
	object["apiVersion"], object["kind"] = l.resource.apiVersion(), l.kind.kind
	prune(object)
	return l.sink.add(object)
}

func (l *lister) checkItem(object map[string]any, namespace string) error {
	want := l.kind.kind
	if l.kind.metadata {
		want = "PartialObjectMetadata"
	}
	if kind, _ := object["kind"].(string); kind != "" && kind != want {
		return &answerError{fmt.Sprintf("an item is %s, not %s", kind, want)}
	}
	name := nameOf(object)
	switch {
	case name.Name == "":
		return &answerError{"an item has no name"}
	case l.kind.isCluster == (name.Namespace != ""):
		return &answerError{fmt.Sprintf("the item %s has the namespace %q", name.Name, name.Namespace)}
	case namespace != "" && name.Namespace != namespace:
		return &answerError{fmt.Sprintf("the item %s is of the namespace %q, not %s", name.Name, name.Namespace, namespace)}
	}
	return nil
}

// named reads namespaces by name: a namespaced role permits no list of them. One
// that does not exist holds nothing.
func (l *lister) named(ctx context.Context, namespaces []string) error {
	if err := l.sink.begin(); err != nil {
		return err
	}
	for _, namespace := range namespaces {
		path := l.resource.path("") + "/" + namespace
		var raw json.RawMessage
		err := l.cluster.get(ctx, request{path: path, accept: acceptMetadata}, &raw)
		if isNoObject(err, namespace) {
			continue
		}
		if err == nil {
			l.committed++
			l.pages++
			err = l.addNamed(raw, namespace)
		}
		if err != nil {
			return &readError{l.kind.kind, path, err, fixOf(err, "get", l.resource.fullName(), namespace)}
		}
		l.progress(l.committed)
	}
	return l.sink.commit()
}

// addNamed adds an object that was asked for by name.
func (l *lister) addNamed(raw []byte, name string) error {
	if err := l.add(raw, ""); err != nil {
		return err
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &object); err != nil || object.Name != name {
		return &answerError{fmt.Sprintf("the answer is %q", object.Name)}
	}
	return nil
}

// isNoObject says whether the server, and not something before it, says that
// there is no object of the name.
func isNoObject(err error, name string) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Name == name
}
