package clustertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fail answers a request that is to go wrong.
func (f *Fault) fail(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	resource := schema.GroupResource{Group: ParseCall(req).Group, Resource: ParseCall(req).Resource}
	switch f.Kind {
	case Status403:
		return status(req, apierrors.NewForbidden(resource, ParseCall(req).Name, errors.New("no right")))
	case Status404:
		return status(req, apierrors.NewNotFound(resource, ParseCall(req).Name))
	case Status500:
		return status(req, apierrors.NewInternalError(errors.New("etcd has no leader")))
	case Status503:
		return status(req, apierrors.NewServiceUnavailable("the server is shutting down"))
	case Gone410:
		return status(req, apierrors.NewResourceExpired("the provided continue parameter is too old"))
	case Timeout:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case Reset:
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case KillBefore:
		return nil, ErrKilled
	}
	// A list in protobuf could not be changed here.
	req.Header.Set("Accept", strings.ReplaceAll(req.Header.Get("Accept"), "vnd.kubernetes.protobuf", "json"))
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return f.spoil(resp)
}

// spoil changes the real answer.
func (f *Fault) spoil(resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	switch f.Kind {
	case KillAfter:
		return nil, ErrKilled
	case Truncate:
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{}))
		return resp, nil
	case WrongKind:
		return withBody(resp, []byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)), nil
	}
	body, err = f.emptyPage(body)
	if err != nil {
		return nil, err
	}
	return withBody(resp, body), nil
}

// emptyPage is a list without its objects.
func (f *Fault) emptyPage(body []byte) ([]byte, error) {
	var list map[string]any
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	meta, _ := list["metadata"].(map[string]any)
	if meta == nil {
		return nil, errors.New("clustertest: a list without metadata")
	}
	list["items"] = []any{}
	delete(meta, "remainingItemCount")
	delete(meta, "continue")
	if f.Kind == EmptyContinue {
		f.mu.Lock()
		defer f.mu.Unlock()
		token := "empty-page-" + strconv.Itoa(f.hits)
		if f.empty == nil {
			f.empty = map[string]bool{}
		}
		f.empty[token] = true
		meta["continue"] = token
	}
	return json.Marshal(list)
}

// status is the answer that an error of the API server comes in.
func status(req *http.Request, err apierrors.APIStatus) (*http.Response, error) {
	answer := err.Status()
	answer.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	body, jsonErr := json.Marshal(answer)
	if jsonErr != nil {
		return nil, jsonErr
	}
	resp := &http.Response{StatusCode: int(answer.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: req}
	return withBody(resp, body), nil
}

func withBody(resp *http.Response, body []byte) *http.Response {
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return resp
}

// broken is the rest of an answer that does not come.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
