package clustertest

import (
	"errors"
	"net/http"
	"sync"
)

// FaultKind is a way for a request to go wrong.
type FaultKind string

// The ways. Those that answer do so as the API server would.
const (
	Status403     FaultKind = "403"            // forbidden
	Status404     FaultKind = "404"            // not found
	Status500     FaultKind = "500"            // internal error
	Status503     FaultKind = "503"            // unavailable
	Gone410       FaultKind = "410"            // expired, as a continue token does
	Timeout       FaultKind = "timeout"        // no answer in time
	Reset         FaultKind = "reset"          // connection reset
	Truncate      FaultKind = "truncate"       // half an answer
	EmptyContinue FaultKind = "empty continue" // lists only: an empty page before the real first one
	EmptyList     FaultKind = "empty list"     // lists only: no objects, and no more pages
	WrongKind     FaultKind = "wrong kind"     // another kind of object, without content
	KillBefore    FaultKind = "kill before"    // this request and all later ones go nowhere
	KillAfter     FaultKind = "kill after"     // the server does it, the answer and all later requests go nowhere
)

// ReadFaults are those that a read may meet and that must never look like
// absence. EmptyList is not among them: it cannot be told from the truth.
var ReadFaults = []FaultKind{Status403, Status404, Status500, Status503, Gone410, Timeout, Reset, Truncate, EmptyContinue, WrongKind}

// ErrKilled is what requests of a killed process end in.
var ErrKilled = errors.New("clustertest: killed")

// Fault lets requests go wrong: of those that match, the Nth and as many after
// it as Times says. It is for one test: make a new one for the next.
type Fault struct {
	Kind  FaultKind
	Match func(Call) bool // nil matches every request
	Nth   int             // from 1; 0 means 1
	Times int             // 0 means 1, negative means for ever

	mu      sync.Mutex
	matched int
	hits    int
	killed  bool
	empty   map[string]bool // continue tokens of empty pages
}

// Hits is how many requests went wrong.
func (f *Fault) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// Wrap is for rest.Config.Wrap and for Proxy.
func (f *Fault) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context()) // the caller's stays as it is
		hit, killed := f.hit(req)
		if killed {
			return nil, ErrKilled
		}
		if !hit {
			return next.RoundTrip(req)
		}
		return f.fail(next, req)
	})
}

// hit counts a request and says whether it is to go wrong.
func (f *Fault) hit(req *http.Request) (hit, killed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return false, true
	}
	call := ParseCall(req)
	if token := call.Query.Get("continue"); f.empty[token] {
		// The page after our empty one is the real first one.
		query := req.URL.Query()
		query.Del("continue")
		req.URL.RawQuery = query.Encode()
	}
	listsOnly := f.Kind == EmptyContinue || f.Kind == EmptyList
	if f.Match != nil && !f.Match(call) || listsOnly && call.Verb != "list" {
		return false, false
	}
	f.matched++
	first := max(f.Nth, 1)
	if f.matched < first || f.Times >= 0 && f.matched >= first+max(f.Times, 1) {
		return false, false
	}
	f.hits++
	f.killed = f.Kind == KillBefore || f.Kind == KillAfter
	return true, false
}
