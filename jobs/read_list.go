package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// sink takes the objects of one kind.
type sink interface {
	add(object map[string]any) error
	// mark says how much there is, and back forgets what was added since.
	mark() (int64, error)
	back(mark int64) error
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
	// absent are the names asked for that nothing has.
	absent []string
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

// attempt adds all pages of a list, or none.
func (l *lister) attempt(ctx context.Context, path, namespace string) (err error) {
	l.pending = 0
	start, err := l.sink.mark()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = cmp.Or(l.sink.back(start), err)
		}
	}()
	version, token, empty := "", "", 0
	for {
		page, err := l.page(ctx, request{path, l.query(token), l.accept()}, namespace)
		if err != nil {
			return err
		}
		if token != "" && page.metadata.ResourceVersion != version {
			return errMoved
		}
		l.pending += page.items
		l.progress(l.committed + l.pending)
		if page.metadata.Continue == "" {
			l.committed += l.pending
			return nil
		}
		if empty++; page.items > 0 {
			empty = 0
		}
		if page.metadata.Continue == token || empty == emptyPages {
			return &answerError{"the list continues forever and holds nothing more"}
		}
		version, token = page.metadata.ResourceVersion, page.metadata.Continue
	}
}

func (l *lister) query(token string) url.Values {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if l.kind.selector != "" {
		query.Set("labelSelector", l.kind.selector)
	}
	if token != "" {
		query.Set("continue", token)
	}
	return query
}

func (l *lister) accept() string {
	if l.kind.metadata {
		return acceptMetadataList
	}
	return acceptObjects
}

// page adds the objects of a page.
func (l *lister) page(ctx context.Context, r request, namespace string) (p *page, err error) {
	start, err := l.sink.mark()
	if err != nil {
		return nil, err
	}
	err = l.cluster.stream(ctx, r, func(body io.Reader) error {
		if err := l.sink.back(start); err != nil { // what an answer that was cut short left
			return err
		}
		p, err = decodePage(body, func(item []byte) error { return l.add(item, namespace) })
		return err
	})
	if err != nil {
		return nil, err
	}
	l.pages++
	return p, cmp.Or(l.check(p), p.refused)
}

// check believes an answer only if it is the list that was asked for, and whole.
func (l *lister) check(p *page) error {
	kind, apiVersion := l.kind.kind, l.resource.apiVersion()
	if l.kind.metadata {
		kind, apiVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	if p.kind != kind+"List" || p.apiVersion != apiVersion {
		message := fmt.Sprintf("the answer is %s %s, not %s %sList", orNothing(p.apiVersion), orNothing(p.kind), apiVersion, kind)
		if p.message != "" {
			message += ": " + p.message
		}
		return &answerError{message}
	}
	if !p.hasItems && !l.kind.metadata { // of metadata, an empty list is written as null
		return &answerError{"the list has no items, not even none"}
	}
	if left := p.metadata.RemainingItemCount; p.metadata.Continue == "" && left != nil && *left > 0 {
		return &answerError{fmt.Sprintf("the list ends although %d more items remain", *left)}
	}
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
	for _, namespace := range namespaces {
		path := l.resource.path("") + "/" + namespace
		var raw json.RawMessage
		err := l.cluster.get(ctx, request{path: path, accept: acceptMetadata}, &raw)
		if isNoObject(err, namespace) {
			l.absent = append(l.absent, namespace)
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
	return nil
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
