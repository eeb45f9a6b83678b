package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress is one line on a terminal that says what a long command is at.
type progress struct {
	mu    sync.Mutex
	w     io.Writer // nil where nobody watches
	width int
	next  time.Time
	shown bool
}

// progressEvery is how often the line changes at most.
const progressEvery = 100 * time.Millisecond

func newProgress(stderr io.Writer) *progress {
	p := &progress{}
	if isTerminal(stderr) {
		p.w, p.width = stderr, widthOf(stderr)
		p.next = time.Now().Add(3 * progressEvery) // a short command shows none
	}
	return p
}

func (p *progress) show(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	what = oneLine(what)
	if runes := []rune(what); p.width > 1 && len(runes) > p.width-1 {
		what = string(runes[:p.width-1])
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", what)
}

// clear takes the line away before something else is written.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
	}
}
