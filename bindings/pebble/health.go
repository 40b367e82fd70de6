package pebble

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"pianola/bindings"
)

// health takes what Pebble tells on the side: its stalls, and its log, which
// must not get between the lines of this program.
type health struct {
	clock bindings.Clock
	// fatal is set once Pebble can't go on.
	fatal atomic.Pointer[bindings.Error]

	mu sync.Mutex
	// stalls counts write stalls by reason. stalledAt is when the one under way
	// began.
	stalls    map[string]int
	stalling  bool
	stalledAt time.Duration
	stalled   time.Duration
	// errors counts messages of errors; firstError is the first of them.
	errors     int
	firstError string
}

var _ pebble.Logger = (*health)(nil)

// Infof drops a message: there is one for each flush and compaction.
func (h *health) Infof(string, ...any) {}

// Errorf keeps the first message for the facts.
func (h *health) Errorf(format string, args ...any) {
	message := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.errors++; h.errors == 1 {
		h.firstError = message
	}
}

// Fatalf is called when Pebble can't go on, and must not return. On a goroutine
// that runs an operation it panics, so that the operation and all later ones
// fail and the run can be reported; guard and recovered take the panic. On one
// of Pebble's own there is nobody to take it: the first ends the program, as
// Pebble's default does.
func (h *health) Fatalf(format string, args ...any) {
	h.Errorf(format, args...)
	wasBroken := h.broken() != nil
	err := h.fail(fmt.Errorf(format, args...))
	switch {
	case belowOurs():
		panic(err)
	case wasBroken:
		select {}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// belowOurs reports whether Fatalf was called by a call of this package.
func belowOurs() bool {
	ours := reflect.TypeFor[health]().PkgPath() + "."
	callers := make([]uintptr, 100)
	// Callers itself, belowOurs and Fatalf are not callers of Fatalf.
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, ours) {
			return true
		}
		if !more {
			return false
		}
	}
}

// fail marks the database as broken and returns the error that every later
// operation is answered with: the first that it was marked with.
func (h *health) fail(cause error) error {
	h.fatal.CompareAndSwap(nil, &bindings.Error{Class: bindings.Unavailable, Err: fmt.Errorf("pebble can't go on: %w", cause)})
	return h.broken()
}

// diskFull is told when a file can't grow. Pebble itself notices that its log
// is lost only when the memtable is full, and then kills the program; so the
// next operation must not reach it.
func (h *health) diskFull() { h.fail(syscall.ENOSPC) }

// broken returns an error once the database is broken.
func (h *health) broken() error {
	if err := h.fatal.Load(); err != nil {
		return err
	}
	return nil
}

// recovered is deferred by whatever calls Pebble: a panic of it becomes the
// error that the database is broken. Faults of the language are none of those.
func (h *health) recovered(err *error) {
	r := recover()
	if r == nil {
		return
	}
	if fault, ok := r.(runtime.Error); ok {
		panic(fault)
	}
	if h.broken() == nil {
		h.fail(fmt.Errorf("%v", r))
	}
	*err = h.broken()
}

// guard calls Pebble, unless it is broken.
func (h *health) guard(call func() error) (err error) {
	if err := h.broken(); err != nil {
		return err
	}
	defer h.recovered(&err)
	return call()
}

// listener hears what the facts tell of.
func (h *health) listener() *pebble.EventListener {
	return &pebble.EventListener{
		WriteStallBegin: h.stallBegins,
		WriteStallEnd:   h.stallEnds,
		// The operation that meets it fails; the others may go on.
		DataCorruption: func(info pebble.DataCorruptionInfo) { h.Errorf("%v", info) },
	}
}

func (h *health) stallBegins(info pebble.WriteStallBeginInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stalls == nil {
		h.stalls = map[string]int{}
	}
	h.stalls[info.Reason]++
	h.stalling, h.stalledAt = true, h.clock.Now()
}

func (h *health) stallEnds() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stalling {
		h.stalled += h.clock.Now() - h.stalledAt
		h.stalling = false
	}
}

// facts tells of stalls and errors.
func (h *health) facts() []bindings.Fact {
	h.mu.Lock()
	defer h.mu.Unlock()
	total, reasons := 0, ""
	for _, reason := range slices.Sorted(maps.Keys(h.stalls)) {
		total += h.stalls[reason]
		reasons += fmt.Sprintf(", %d: %s", h.stalls[reason], reason)
	}
	stalled := h.stalled
	if h.stalling {
		stalled += h.clock.Now() - h.stalledAt
	}
	facts := []bindings.Fact{
		{Name: "write stalls", Value: fmt.Sprint(total) + reasons},
		{Name: "write stall time", Value: stalled.String()},
		{Name: "errors of its own", Value: fmt.Sprint(h.errors)},
	}
	if h.errors > 0 {
		facts = append(facts, bindings.Fact{Name: "first error of its own", Value: h.firstError})
	}
	return facts
}
