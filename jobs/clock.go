package jobs

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gatewright/gatewright/postrender/engine"
)

// CodeClockSkew is the code of the finding that the clock here and the API
// server's differ.
const CodeClockSkew = "ClockSkew"

// maxSkew is how much they may differ before it is said.
const maxSkew = time.Minute

// serverClock is the API server's clock, as its answers show it: all sweeps share
// it, and so do the times in managedFields. The clock of the machine that a sweep
// happens to run on, hours ahead, would have everything stale go at once.
type serverClock struct {
	mu sync.Mutex
	// date is that of the last answer, and at is when it came.
	date, at time.Time
}

// wrap watches the answers.
func (c *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return watching(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			c.see(response.Header.Get("Date"))
		}
		return response, err
	})
}

func (c *serverClock) see(date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.date, c.at = at.UTC(), time.Now()
}

// last is the date of the last answer that had one, if it came after a time by
// the clock here.
func (c *serverClock) last(after time.Time) (date time.Time, seen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.date, !c.date.IsZero() && c.at.After(after)
}

// now is the time by the server, or the one here as long as no answer came.
func (c *serverClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() {
		return time.Now()
	}
	return c.date.Add(time.Since(c.at))
}

type watching func(*http.Request) (*http.Response, error)

func (w watching) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// untimed says why nothing is marked or removed where no answer of the server has
// a date. Additions need no time. Removals do: a proxy that drops dates shows
// nothing of the clock here, and one that is wrong would have all that is stale go
// at once.
const untimed = "the API server's answers " + undated + ", so nobody knows for how long something is stale"

// unsteady says why nothing is removed where a second look finds another time
// than the first one led to expect: of several API servers, one has a wrong clock.
const unsteady = "the API server's clock jumped between two looks, so nobody knows for how long something is stale"

// keepTime takes the server's time for that of this run, of which a look has just
// read.
func (s *sweep) keepTime() {
	date, seen := s.cluster.clock.last(s.began)
	switch {
	case !seen:
		s.unprovable = untimed
		return
	case !s.timedAt.IsZero(): // all looks of a run have one time
		if drift := date.Sub(s.now) - time.Since(s.timedAt); drift.Abs() > maxSkew {
			s.unprovable = unsteady
		}
		return
	}
	s.now, s.timedAt = date, time.Now()
	skew := s.options.Now().Sub(date).Round(time.Second)
	if skew.Abs() > maxSkew {
		s.report.finding(engine.Finding{Severity: engine.Warning, Code: CodeClockSkew, Object: "clock",
			Message: fmt.Sprintf("the clock here is %s the API server's, which counts; correct the one here", offBy(skew))})
	}
}

func offBy(skew time.Duration) string {
	if skew > 0 {
		return skew.String() + " ahead of"
	}
	return skew.Abs().String() + " behind"
}
