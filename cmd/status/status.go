// Package status shows how far long work has come, on standard error.
package status

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"pianola/cmd/output"
)

const (
	// On a terminal one line is redrawn this often, elsewhere a line is
	// printed that often.
	terminalInterval = 500 * time.Millisecond
	plainInterval    = 10 * time.Second
)

// Line shows the text of a status until it is stopped.
type Line struct {
	w io.Writer
	// terminal is whether w is one; room is the width that may be used of it,
	// 0 if that is not known.
	terminal bool
	room     int
	program  string
	text     func() string
	stop     chan struct{}
	stopped  sync.WaitGroup
	// width of what stands on the terminal.
	width int
}

// Start shows what text returns, from time to time, if it is not empty: in one
// line on a terminal, in a line every 10 s elsewhere.
func Start(w io.Writer, program string, text func() string) *Line {
	width, terminal := output.Terminal(w)
	interval := plainInterval
	if terminal {
		interval = terminalInterval
	}
	tick := time.NewTicker(interval)
	l := start(w, terminal, width, program, text, tick.C)
	l.stopped.Go(func() {
		<-l.stop
		tick.Stop()
	})
	return l
}

// start shows the status at each tick.
func start(w io.Writer, terminal bool, width int, program string, text func() string, tick <-chan time.Time) *Line {
	// In the last column some terminals begin a new line.
	l := &Line{w: w, terminal: terminal, room: max(width-1, 0), program: program, text: text, stop: make(chan struct{})}
	l.stopped.Go(func() { l.run(tick) })
	return l
}

// run shows the status at each tick. Errors of writing are nobody's: the work
// itself goes on.
func (l *Line) run(tick <-chan time.Time) {
	for {
		select {
		case <-l.stop:
			if l.width > 0 {
				fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.width))
			}
			return
		case <-tick:
			l.show()
		}
	}
}

func (l *Line) show() {
	text := l.text()
	if text == "" {
		return
	}
	if !l.terminal {
		fmt.Fprintf(l.w, "%s: %s\n", l.program, text)
		return
	}
	runes := []rune(text)
	if l.room > 0 && len(runes) > l.room {
		runes = runes[:l.room]
	}
	fmt.Fprintf(l.w, "\r%-*s", l.width, string(runes))
	l.width = len(runes)
}

// Stop removes the line from a terminal.
func (l *Line) Stop() {
	close(l.stop)
	l.stopped.Wait()
}

// Far says how far work on operations has come that began some time ago: the
// share that is done, the pace, and how long the rest takes at that pace. of is
// 0 if the number of operations is not known.
func Far(done, of uint64, elapsed time.Duration) string {
	if of == 0 {
		return fmt.Sprintf("%d operations, %s", done, Pace(done, elapsed))
	}
	text := fmt.Sprintf("%d of %d operations (%.0f%%), %s", done, of, 100*float64(done)/float64(of), Pace(done, elapsed))
	if left := Left(done, of, elapsed); left != "" {
		text += ", " + left + " left"
	}
	return text
}

// Pace prints how many operations a second were done in that time.
func Pace(done uint64, in time.Duration) string {
	if in <= 0 {
		return perSecond(0)
	}
	return perSecond(float64(done) / in.Seconds())
}

// Left prints how long the rest takes at the pace so far, or nothing if that
// can't be told.
func Left(done, of uint64, elapsed time.Duration) string {
	if done == 0 || done > of {
		return ""
	}
	left := float64(elapsed) / float64(done) * float64(of-done)
	if left >= math.MaxInt64 {
		return ""
	}
	return time.Duration(left).Round(time.Second).String()
}

// perSecond prints a pace to about three digits.
func perSecond(n float64) string {
	switch {
	case n >= 999_500:
		return fmt.Sprintf("%.3g million per second", n/1e6)
	case n >= 9_995:
		return fmt.Sprintf("%.3g thousand per second", n/1e3)
	}
	return fmt.Sprintf("%.0f per second", n)
}
