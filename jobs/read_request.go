package jobs

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// attempts is how often one request is sent before its fault is believed.
	attempts = 4
	// firstDelay doubles with each attempt; maxDelay is the longest that the
	// server may ask for.
	firstDelay = 500 * time.Millisecond
	maxDelay   = 30 * time.Second
)

// What a request accepts.
const (
	acceptObjects  = "application/json"
	acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	// acceptMetadataList must not fall back to whole objects.
	acceptMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// request is a GET of the API server.
type request struct {
	path   string
	query  url.Values
	accept string
}

// answerError is an answer with which nothing can be done.
type answerError struct{ message string }

func (e *answerError) Error() string { return e.message }

// cutError is an answer that ends too early.
type cutError struct{ err error }

func (e *cutError) Error() string { return "the answer is cut short or no JSON: " + e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// get decodes the answer to a request into a pointer, as stream does.
func (c *Cluster) get(ctx context.Context, r request, into any) error {
	return c.stream(ctx, r, func(body io.Reader) error {
		data, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, into)
	})
}

// stream gives the answer to a request to a function that decodes it. What may
// pass is tried again, a bounded number of times; the function begins anew then.
func (c *Cluster) stream(ctx context.Context, r request, decode func(io.Reader) error) error {
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		err := c.streamOnce(ctx, r, decode)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !mayPass(err):
			return err
		case attempt == attempts:
			return fmt.Errorf("%w (after %d attempts)", err, attempts)
		}
		if err := c.sleep(ctx, max(delay, askedDelay(err))); err != nil {
			return err
		}
		delay *= 2
	}
}

func (c *Cluster) streamOnce(ctx context.Context, r request, decode func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	target := c.base.JoinPath(r.path)
	target.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", r.accept)
	response, err := c.http.Do(req)
	if err != nil {
		return c.late(ctx, err)
	}
	defer response.Body.Close()
	body := &answer{Reader: response.Body}
	if response.StatusCode != http.StatusOK {
		data, err := io.ReadAll(body)
		if err != nil {
			return c.late(ctx, &cutError{err})
		}
		return refusal(response, data)
	}
	if media := response.Header.Get("Content-Type"); !strings.HasPrefix(media, "application/json") {
		return &answerError{fmt.Sprintf("the answer is %q, not JSON", media)}
	}
	err = decode(body)
	if body.err != nil {
		return c.late(ctx, &cutError{body.err})
	}
	return decodingError(err)
}

// answer is what the server sends, and remembers what broke it off.
type answer struct {
	io.Reader
	err error
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}

// decodingError tells JSON that ends too early from JSON of another shape.
func decodingError(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &cutError{err}
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &answerError{err.Error()}
	}
	return err
}

// errLate is an answer that takes longer than we wait.
var errLate = errors.New("no whole answer")

// late says of an error that it is our own patience that ended.
func (c *Cluster) late(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w within %v", errLate, c.timeout)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // the path is told by whoever asked
	}
	return err
}

// refusal is the error that an answer other than 200 stands for.
func refusal(response *http.Response, body []byte) error {
	code := response.StatusCode
	var status metav1.Status
	message := fmt.Sprintf("%d %s", code, http.StatusText(code))
	if json.Unmarshal(body, &status) != nil || status.Kind != "Status" || status.Status != metav1.StatusFailure {
		status = metav1.Status{Status: metav1.StatusFailure}
	} else if status.Message != "" {
		message += ": " + status.Message
	}
	status.Code, status.Message = int32(code), message
	if at := response.Header.Get("Location"); at != "" {
		status.Message += ", a redirect to " + at
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		if status.Details == nil {
			status.Details = new(metav1.StatusDetails)
		}
		status.Details.RetryAfterSeconds = int32(min(seconds, int(maxDelay/time.Second)))
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// mayPass says whether the same request may go better a little later.
func mayPass(err error) bool {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		code := status.ErrStatus.Code
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	if _, ok := errors.AsType[*answerError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	return true
}

// askedDelay is what the server asks to wait.
func askedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return min(time.Duration(seconds)*time.Second, maxDelay)
}

// hasCode says whether the server answered by this code.
func hasCode(err error, code int32) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Code == code
}
