package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints aligned columns.
type table struct{ out *tabwriter.Writer }

func newTable(out io.Writer, columns ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row(strings.Join(columns, "\t"))
	return t
}

func (t *table) row(cells ...any) {
	for _, cell := range cells {
		fmt.Fprintf(t.out, "%v\t", cell)
	}
	fmt.Fprintln(t.out)
}

// print shows the rows so far, also those before an error.
func (t *table) print() { t.out.Flush() }

// duration prints a time in a unit that suits it.
func duration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}

// size prints a number of bytes, in MB of a million.
func size(bytes int64) string {
	if bytes < 100_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// allowed prints the memory that a stream may take, three times its size and
// 20 MB, and says if the peak is over it.
func allowed(s stream, r result) string {
	limit := 3*s.size + 20e6
	if r.peak > limit {
		return size(limit) + " OVER"
	}
	return size(limit)
}

func ratio[N time.Duration | int64](a, b N) string {
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// bound marks what a run that had to be stopped would have gone beyond.
func (r result) bound(text string) string {
	if r.stopped {
		return "over " + text
	}
	return text
}
