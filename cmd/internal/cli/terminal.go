package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal says whether stream, an io.Reader or io.Writer, is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isPipe says whether stream is a pipe or a socket: something that another
// program reads.
func isPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// look is how text is laid out for whoever reads stdout.
type look struct {
	colour bool
	width  int // columns, 0 for as many as it takes
}

func lookOf(stdout any) look {
	if !isTerminal(stdout) {
		return look{}
	}
	return look{colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", width: widthOf(stdout)}
}

// widthOf is the width of stream if it is a terminal, or 0.
func widthOf(stream any) int {
	if !isTerminal(stream) {
		return 0
	}
	width, _, err := term.GetSize(int(stream.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// say writes a message. Where nobody has a width it is one line.
func say(w io.Writer, message string) {
	_, _ = io.WriteString(w, wrap(message, "", "    ", widthOf(w)))
}

// tone is the meaning that a colour adds to words; the words alone say it too.
type tone string

// The tones, as ANSI colours.
const (
	plainTone tone = ""
	goodTone  tone = "32"
	badTone   tone = "31"
	warnTone  tone = "33"
	hunkTone  tone = "36"
	faintTone tone = "2"
	titleTone tone = "1"
)

func (l look) paint(t tone, s string) string {
	if !l.colour || t == plainTone || s == "" {
		return s
	}
	return "\x1b[" + string(t) + "m" + s + "\x1b[0m"
}
