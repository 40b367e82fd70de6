package replay

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"pianola/replay/measure"
	"pianola/traces"
)

// opLogHeader names the columns of an op log.
const opLogHeader = "index\tphase\tkind\tdue\tkeyfree\tready\tstart\tend\toutcome\n"

// opLog writes a line for every op: the audit of every figure. Times are ns
// from the phase's start, "-" where there is none.
type opLog struct {
	mu     sync.Mutex
	w      *bufio.Writer
	header *traces.Header
	line   []byte
	err    error
}

func newOpLog(w io.Writer, h *traces.Header) *opLog {
	l := &opLog{w: bufio.NewWriterSize(w, 1<<16), header: h}
	_, l.err = l.w.WriteString(opLogHeader)
	return l
}

func (l *opLog) write(s *measure.Sample, phase int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := strconv.AppendUint(l.line[:0], s.Index, 10)
	b = append(append(b, '\t'), l.header.Phases[phase].Name...)
	b = append(append(b, '\t'), s.Kind.String()...)
	b = strconv.AppendInt(append(b, '\t'), int64(s.Due), 10)
	started, answered := s.Outcome.Started(), s.Outcome < measure.Censored
	for _, at := range []struct {
		t  time.Duration
		is bool
	}{{s.KeyFree, s.KeyFree > 0}, {s.Ready, started}, {s.Start, started}, {s.Decided, answered}} {
		b = append(b, '\t')
		if at.is {
			b = strconv.AppendInt(b, int64(at.t), 10)
		} else {
			b = append(b, '-')
		}
	}
	b = append(b, '\t')
	if s.Outcome == measure.Failed {
		b = append(b, s.Class.String()...)
	} else {
		b = append(b, s.Outcome.String()...)
	}
	l.line = append(b, '\n')
	if _, err := l.w.Write(l.line); err != nil && l.err == nil {
		l.err = err
	}
}

func (l *opLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.w.Flush(); err != nil && l.err == nil {
		l.err = err
	}
	if l.err != nil {
		return fmt.Errorf("write op log: %w", l.err)
	}
	return nil
}
