package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// Runner replays a trace on a binding. Trace, Driver and Binding are required;
// the zero value of everything else means its default.
type Runner struct {
	Trace   *traces.Reader
	Driver  *bindings.Driver
	Binding bindings.Binding
	// Properties that Binding was made with, for the result.
	Properties bindings.Properties
	// Chosen says that the database was named, not the default.
	Chosen bool
	// Clock of the run; the default is a real one.
	Clock Clock
	// Phases to replay: all (the default), load or run.
	Phases string
	// Slots is the number of ops in flight; the default is the driver's.
	Slots int
	// Asap ignores due times: a closed loop over the slots.
	Asap bool
	// Due times are divided by SpeedNumerator / SpeedDenominator; 1 by default.
	SpeedNumerator, SpeedDenominator uint64
	// Deadline of each op from its due time; 10 s by default.
	Deadline time.Duration
	// Overload is the policy for ops that find no slot; QueueOverload by default.
	Overload Overload
	// Order says whether ops on one key may overtake each other; NoOrder by
	// default.
	Order Order
	// Check verifies every value that is read; see measure.Check. It needs all
	// phases, and a database that was empty before.
	Check bool
	// CheckSample bounds the keys whose versions a check follows;
	// DefaultCheckSample by default.
	CheckSample int
	// Drop drops the table before the load.
	Drop bool
	// Resume loads what is missing in a table that holds a part of the load:
	// the insert of a record that is there is no failure.
	Resume bool
	// Settle is called between the load and what follows, if it is not nil, and
	// may let the database come to rest. Its error ends the run. SettleText says
	// in the result what it is.
	Settle     func(ctx context.Context) error
	SettleText string
	// ReadBack reads all records after the run and adds their digest to the
	// result.
	ReadBack bool
	// Grace is how long ops in flight are waited for at the end; 1 s by default.
	Grace time.Duration
	// Spin is the share of a core that may be spent on spinning until due times;
	// 0 chooses by the place of the database, NoSpin is none.
	Spin float64
	// AllowErrors is how many failed and censored ops a load may have for what
	// follows to start.
	AllowErrors measure.Allowance
	// OpLog is given a line for every op, if it is not nil.
	OpLog io.Writer
	// Labels are copied to the result.
	Labels map[string]string
	// ToolVersion is copied to the result.
	ToolVersion string

	progress atomic.Pointer[phaseProgress]
}

// Which phases a run replays.
const (
	AllPhases = "all"
	LoadOnly  = "load"
	RunOnly   = "run"
)

// NoSpin sleeps until due times, whatever the rate.
const NoSpin = -1

// DefaultGrace is how long ops in flight are waited for at the end of a run.
const DefaultGrace = time.Second

// ErrRefused marks an error of a run that was found before any op was sent:
// what the trace needs and the database can't do, or a table with rows.
var ErrRefused = errors.New("refused")

// Words for the kinds of executors in a result.
const (
	executorPipelined = "pipelined"
	executorBlocking  = "blocking"
)

// executor runs the phases on one kind of session.
type executor interface {
	run(p *phaseRun) (hung int)
	// record has the fates counted that are decided and not counted yet.
	record()
	close() error
}

// Run replays the trace. Cancelling ctx ends the run: ops in flight are given
// the grace, and the result is marked partial. The result is not nil once an op
// was sent, also beside an error.
func (r *Runner) Run(ctx context.Context) (*measure.Result, error) {
	r.defaults()
	if err := r.refuse(); err != nil {
		return nil, err
	}
	if !r.Clock.Stepped() {
		defer tuneRuntime()()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	h := r.Trace.Header()
	sc, err := newScale(h.Tick, r.SpeedNumerator, r.SpeedDenominator)
	if err != nil {
		return nil, err
	}
	if err := r.Binding.Open(ctx, bindings.Config{Header: h, Clock: r.Clock, Slots: r.Slots}); err != nil {
		return nil, fmt.Errorf("open %s: %w", r.Driver.Name, err)
	}
	run := &run{Runner: r, scale: sc, result: r.newResult(), inserts: &insertLog{}, builder: newBuilder(h)}
	calls, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	err = run.prepareAndReplay(ctx, calls)
	giveUp()
	if reporter, ok := r.Binding.(bindings.Reporter); ok {
		run.result.Database.Facts = append(run.result.Database.Facts, reporter.Facts()...)
	}
	if run.hung == 0 {
		// A binding can't be closed under calls that never returned.
		if closeErr := run.closeAll(); err == nil && closeErr != nil {
			err = fmt.Errorf("close %s: %w", r.Driver.Name, closeErr)
		}
	}
	if len(run.result.Phases) == 0 {
		return nil, err
	}
	return run.result, err
}

func (r *Runner) defaults() {
	if r.Clock == nil {
		r.Clock = NewClock()
	}
	if r.Phases == "" {
		r.Phases = AllPhases
	}
	if r.Slots == 0 {
		r.Slots = r.Driver.Slots
	}
	if r.SpeedNumerator == 0 {
		r.SpeedNumerator, r.SpeedDenominator = 1, 1
	}
	if r.Deadline == 0 {
		r.Deadline = bindings.DefaultDeadline
	}
	if r.Overload == "" {
		r.Overload = QueueOverload
	}
	if r.Order == "" {
		r.Order = NoOrder
	}
	if !r.Check {
		r.CheckSample = 0
	} else if r.CheckSample == 0 {
		r.CheckSample = DefaultCheckSample
	}
	if r.Grace == 0 {
		r.Grace = DefaultGrace
	}
}

// The collector runs rarely, and as often as it must beyond the limit, which no
// client of ours comes near: a small database's cache and the slots' values.
const (
	gcPercent   = 400
	memoryLimit = 4 << 30
)

// tuneRuntime gives the pacer a P of its own and makes the garbage collector
// rare. It returns what undoes that.
func tuneRuntime() (undo func()) {
	procs := runtime.GOMAXPROCS(runtime.NumCPU() + 1)
	percent := debug.SetGCPercent(gcPercent)
	before := debug.SetMemoryLimit(-1)
	if before == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(memoryLimit)
	}
	return func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}

// refuse finds what can't be done, before anything is touched.
func (r *Runner) refuse() error {
	h := r.Trace.Header()
	if !r.anyPhase() {
		return fmt.Errorf("%w: the trace has no phase for --phase %s: it has %s", ErrRefused, r.Phases, phaseNames(h))
	}
	for i := range h.Phases {
		for _, share := range h.Phases[i].Mix {
			if r.chosen(i) && !slices.Contains(r.Driver.Kinds, share.Kind) {
				return fmt.Errorf("%w: phase %s has %v ops, which %s can't do", ErrRefused, h.Phases[i].Name, share.Kind, r.Driver.Name)
			}
		}
	}
	if _, can := r.Binding.(bindings.Dropper); r.Drop && !can {
		return fmt.Errorf("%w: %s can't drop its table", ErrRefused, r.Driver.Name)
	}
	if r.ReadBack && r.Driver.Place == bindings.Nowhere {
		return fmt.Errorf("%w: read back: %s keeps nothing", ErrRefused, r.Driver.Name)
	}
	if r.Check {
		return r.refuseCheck()
	}
	return nil
}

// chosen reports whether the phase with the given index is to be replayed.
func (r *Runner) chosen(phase int) bool {
	isLoad := r.Trace.Header().Phases[phase].Name == traces.LoadPhase
	return r.Phases == AllPhases || isLoad == (r.Phases == LoadOnly)
}

func (r *Runner) anyPhase() bool {
	for i := range r.Trace.Header().Phases {
		if r.chosen(i) {
			return true
		}
	}
	return false
}

func phaseNames(h *traces.Header) string {
	names := ""
	for i := range h.Phases {
		if i > 0 {
			names += ", "
		}
		names += h.Phases[i].Name
	}
	return names
}

// run is a Runner at work.
type run struct {
	*Runner
	scale   scale
	result  *measure.Result
	inserts *insertLog
	builder *builder
	check   *checker
	slots   []*slot
	exec    executor
	decoder *decoder
	log     *opLog
	margin  time.Duration
	hung    int
	// local says that a remote database runs on this machine.
	local bool
	// versions counts the ops of the phases behind the load so far.
	versions uint64
	// uncompared are the digests of phases of a stream, which states its own
	// at its end.
	uncompared []uncompared
}

func (r *run) closeAll() error {
	var err error
	if r.exec != nil {
		err = r.exec.close()
	}
	return errors.Join(err, r.Binding.Close())
}

// replay runs the chosen phases one after another.
func (r *run) replay(ctx, calls context.Context) error {
	h := r.Trace.Header()
	first := 0
	for !r.chosen(first) {
		first++
	}
	if first > 0 && r.Trace.Seekable() {
		if err := r.Trace.SkipTo(first); err != nil {
			return err
		}
	}
	r.Trace.LeaveDigests() // the cursor's are of what was claimed
	r.decoder = newDecoder(r.Trace, r.peakRate())
	defer r.decoder.close()
	for i := range h.Phases {
		switch {
		case i < first && r.Trace.Seekable():
			// Nothing was read of it.
		case !r.chosen(i):
			if i > first {
				continue // behind the last phase of the run
			}
			if err := r.passOver(ctx, i); err != nil {
				return err
			}
		default:
			if err := r.replayPhase(ctx, calls, i); err != nil || r.over() {
				return err
			}
			if h.Phases[i].Name == traces.LoadPhase && r.Settle != nil && r.follows(i) && !r.settle(ctx) {
				return nil
			}
		}
	}
	if err := r.confirm(ctx); err != nil || !r.ReadBack || r.over() {
		return err
	}
	return r.readBack(ctx)
}

// settle waits for the database behind the load. It reports whether the run
// goes on.
func (r *run) settle(ctx context.Context) bool {
	begin := r.Clock.Now()
	err := r.Settle(ctx)
	r.result.Settings.Settled = r.Clock.Now() - begin
	switch {
	case ctx.Err() != nil:
		r.result.Partial = true
	case err != nil:
		r.result.Stopped = fmt.Sprintf("settling behind the load: %v", err)
	}
	return !r.over()
}

// over reports whether the last phase ended the run.
func (r *run) over() bool {
	return r.result.Partial || r.result.Void != "" || r.result.Stopped != ""
}

func (r *run) peakRate() float64 {
	rate := 0.0
	for i := range r.Trace.Header().Phases {
		p := &r.Trace.Header().Phases[i]
		if !p.Paced || r.Asap {
			return 0
		}
		rate = max(rate, r.scale.rate(p.Rate))
	}
	return rate
}

// passOver reads a phase of a stream without replaying it.
func (r *run) passOver(ctx context.Context, phase int) error {
	for {
		b, err := r.decoder.next(phase, ctx.Done())
		if b == nil {
			r.result.Partial = r.result.Partial || ctx.Err() != nil
			return err
		}
		r.decoder.free <- b
	}
}
