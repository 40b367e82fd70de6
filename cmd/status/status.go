// Package status shows how far long work has come, on standard error.
package status

import (
	"fmt"
	"io"
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
	w        io.Writer
	terminal bool
	program  string
	text     func() string
	stop     chan struct{}
	stopped  sync.WaitGroup
	width    int
}

// Start shows what text returns, from time to time, if it is not empty: in one
// line on a terminal, in a line every 10 s elsewhere.
func Start(w io.Writer, program string, text func() string) *Line {
	l := &Line{w: w, terminal: output.IsTerminal(w), program: program, text: text, stop: make(chan struct{})}
	l.stopped.Go(l.run)
	return l
}

func (l *Line) run() {
	interval := plainInterval
	if l.terminal {
		interval = terminalInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			if l.width > 0 {
				fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.width))
			}
			return
		case <-tick.C:
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
	fmt.Fprintf(l.w, "\r%-*s", l.width, text)
	l.width = max(l.width, len([]rune(text)))
}

// Stop removes the line from a terminal.
func (l *Line) Stop() {
	close(l.stop)
	l.stopped.Wait()
}

// Left says how long the rest takes at the pace so far, or "unknown".
func Left(done, of uint64, elapsed time.Duration) string {
	if done == 0 || of < done {
		return "unknown"
	}
	left := time.Duration(float64(elapsed) / float64(done) * float64(of-done))
	return left.Round(time.Second).String()
}
