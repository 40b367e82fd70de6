package replay

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// startDelay is between the making of a phase and its start, so that what
// waits for the first due time is there when it comes.
const startDelay = 5 * time.Millisecond

// recorderStripes bounds the parts of a recorder: each takes megabytes, and
// more than a few threads never record at one instant.
const recorderStripes = 8

// phaseProgress is what Progress reads.
type phaseProgress struct {
	name     string
	start    time.Duration
	clock    Clock
	recorder *measure.Recorder
	ops      uint64
	paced    bool
	slots    []*slot
	exec     executor
}

// Progress is how far a run has come.
type Progress struct {
	Phase string
	// Elapsed since the phase's start.
	Elapsed time.Duration
	Counts  measure.Counts
	// Ops is the number of ops of the phase, 0 if it isn't known yet.
	Ops  uint64
	Live measure.Live
}

// Progress returns how far the run has come, false before its first phase. It
// may be called from any goroutine.
func (r *Runner) Progress() (Progress, bool) {
	p := r.progress.Load()
	if p == nil {
		return Progress{}, false
	}
	p.exec.record()
	out := Progress{Phase: p.name, Elapsed: p.clock.Now() - p.start, Counts: p.recorder.Counts(), Ops: p.ops}
	for _, s := range p.slots {
		if stateOf(s.state.Load()) == inFlight {
			out.Live.InFlight++
		}
	}
	out.Live.Paced = p.paced
	out.Live.Started = out.Counts.Completed + out.Counts.Failed + out.Counts.Censored + out.Live.InFlight
	// Without the figures of the last interval the rest is still worth showing.
	_ = p.recorder.SetLive(&out.Live, out.Elapsed)
	return out, true
}

func (r *run) newPhase(ctx, calls context.Context, index int) *phaseRun {
	phase := &r.Trace.Header().Phases[index]
	p := &phaseRun{
		interrupt: ctx, calls: calls, clock: r.Clock, index: index, paced: phase.Paced && !r.Asap,
		scale: r.scale, inserts: r.inserts, builder: r.builder, log: r.log, slots: r.slots, launchedKeys: make([]uint64, len(r.slots)),
		deadline: r.Deadline, grace: r.Grace, overload: r.Overload, load: phase.Name == traces.LoadPhase, resume: r.Resume && phase.Name == traces.LoadPhase, versionBase: 1 + r.versions,
		recorder: measure.NewRecorder(min(runtime.GOMAXPROCS(0), recorderStripes)), stops: make(chan struct{}), spent: make(chan struct{}),
	}
	p.check = r.check
	totals, known := r.totals()
	p.deletes = !known || totals.Phases[index].Ops[traces.Delete] > 0
	if r.Order == KeyOrder {
		p.order = newKeyOrder()
	}
	p.cursor = newCursor(r.Clock, r.decoder, phase.Paced, p.stops)
	budget := r.result.Settings.Pacer.Budget
	p.pacer = &pacer{clock: r.Clock, stop: &p.stop, order: p.order, gaps: measure.NewHistogram(),
		margin: withinBudget(r.margin, r.scale.rate(phase.Rate), budget)}
	return p
}

// replayPhase runs one phase and adds it to the result.
func (r *run) replayPhase(ctx, calls context.Context, index int) error {
	phase := &r.Trace.Header().Phases[index]
	p := r.newPhase(ctx, calls, index)
	p.cursor.fetch(index)
	p.cursor.starved = 0
	out := measure.Phase{
		Name: phase.Name, Paced: p.paced, KeyLaw: phase.KeyLaw, ScanLaw: phase.ScanLaw, Arrivals: phase.Arrivals,
		Margin: p.pacer.margin,
	}
	if p.paced {
		out.Rate = r.scale.rate(phase.Rate)
		if r.SpeedNumerator != r.SpeedDenominator {
			out.Arrivals += fmt.Sprintf(", at a speed of %d/%d", r.SpeedNumerator, r.SpeedDenominator)
		}
	}
	totals, known := r.totals()
	if known {
		out.Ops = totals.Phases[index].Count()
	}
	if !r.Clock.Stepped() {
		runtime.GC()
	}
	before, began := r.readHealth(), r.Clock.Now()
	p.start = r.Clock.Now()
	if p.paced {
		p.start += startDelay
	}
	out.Start = p.start
	for _, s := range r.slots {
		s.freeAt = 0
		s.forgetDeadline()
	}
	if o, ok := r.Binding.(bindings.PhaseObserver); ok {
		o.PhaseStarts(phase.Name, p.start)
	}
	r.progress.Store(&phaseProgress{phase.Name, p.start, r.Clock, p.recorder, out.Ops, p.paced, r.slots, r.exec})
	hung := r.exec.run(p)
	after := r.readHealth()
	interrupted := p.stop.Load() && !p.stuck.Load() && !p.aborted.Load()
	p.halt()
	p.cursor.finish(p.isPending)
	out.Health = health(before, after, p.pacer, p.cursor.starved, r.Clock.Now()-began)
	out.Health.Late = p.late
	if r.result.Settings.Executor != executorPipelined {
		out.Health.RunQueue = 0 // the runner's thread only waits; who has the lead changes
	}
	if err := p.recorder.Finish(&out); err != nil {
		return fmt.Errorf("phase %s: %w", phase.Name, err)
	}
	out.Present = p.present.Load()
	if p.check != nil {
		out.Check = p.checked.result()
	}
	return r.conclude(p, out, interrupted, hung)
}

// conclude judges a phase and decides whether the run goes on.
func (r *run) conclude(p *phaseRun, out measure.Phase, interrupted bool, hung int) error {
	all, err := out.Total()
	if err != nil {
		return fmt.Errorf("phase %s: %w", out.Name, err)
	}
	if c := all.Counts; c.Offered != c.Decided() {
		return fmt.Errorf("internal error: phase %s: %d ops offered, %d accounted for", out.Name, c.Offered, c.Decided())
	}
	if out.Ops == 0 && p.cursor.err == nil && !interrupted {
		out.Ops = all.Counts.Offered
	}
	if out.Ops > all.Counts.Offered {
		out.NotReached = out.Ops - all.Counts.Offered
	}
	r.compareDigest(p, &out)
	if !p.load {
		r.versions += all.Counts.Offered
	}
	out.Verdict = measure.Judge(&out, measure.JudgeInput{
		Place: r.Driver.Place, Local: r.local, Slots: r.Slots, Deadline: r.Deadline,
	})
	r.hung += hung
	res := r.result
	switch errors := all.Counts.Failed + all.Counts.Censored; {
	case interrupted:
		res.Partial = true
	case p.cursor.err != nil:
		res.Void = p.cursor.describe(out.Name)
	case out.Digest.Status == measure.DigestMismatch:
		res.Void = fmt.Sprintf("the ops of phase %s are not those that the trace's digest is of", out.Name)
	case p.aborted.Load():
		res.Stopped = fmt.Sprintf("--overload abort: no slot was free for op %d of the trace when it was due", p.abortedOp)
	case p.stuck.Load() || hung > 0:
		res.Stopped = fmt.Sprintf("%d ops of phase %s were still in flight %v after their deadline", hung, out.Name, p.grace)
	case p.load && r.follows(p.index) && (r.AllowErrors.Exceeded(errors, all.Counts.Offered) || all.Counts.Unsent+all.Counts.Dropped > 0):
		res.Stopped = fmt.Sprintf("the load is incomplete: %d failed, %d censored, %d dropped, %d unsent of %d",
			all.Counts.Failed, all.Counts.Censored, all.Counts.Dropped, all.Counts.Unsent, all.Counts.Offered)
	}
	res.Phases = append(res.Phases, out)
	if res.Void != "" {
		return p.cursor.err
	}
	return nil
}

// totals returns the totals of the trace if they are known while it is being
// replayed: not those of a stream, which the decoder may be reading.
func (r *run) totals() (*traces.Totals, bool) {
	if !r.Trace.Seekable() {
		return nil, false
	}
	return r.Trace.Totals()
}

// follows reports whether a phase behind the given one is to be replayed.
func (r *run) follows(phase int) bool {
	for i := phase + 1; i < len(r.Trace.Header().Phases); i++ {
		if r.chosen(i) {
			return true
		}
	}
	return false
}

// uncompared is the digest of a phase that waits for the stated one.
type uncompared struct {
	at     int // index in the result
	phase  int // index in the trace
	digest *traces.PhaseDigest
	ops    uint64
}

// compareDigest holds the digest of the ops that were claimed against the one
// that the trace states, or keeps it until that is known.
func (r *run) compareDigest(p *phaseRun, out *measure.Phase) {
	totals, known := r.totals()
	if !known {
		r.uncompared = append(r.uncompared, uncompared{len(r.result.Phases), p.index, p.cursor.digest, p.phaseOp})
		out.Digest = measure.Digest{Status: measure.DigestPartial, Chunks: len(p.cursor.digest.FullChunks())}
		return
	}
	out.Digest = compareDigest(p.cursor.digest, &totals.Phases[p.index], p.phaseOp)
}

// compareDigest compares chunk by chunk as far as the phase was replayed, which
// is as far as the given number of ops.
func compareDigest(got *traces.PhaseDigest, want *traces.PhaseTotal, ops uint64) measure.Digest {
	d := measure.Digest{Status: measure.DigestMismatch, Of: len(want.Chunks)}
	if got.Count() == want.Count() {
		if got.Sum() == want.Digest {
			d.Status, d.Chunks = measure.DigestConfirmed, d.Of
		}
		return d
	}
	for i, chunk := range got.FullChunks() {
		if i >= d.Of || chunk != want.Chunks[i] {
			return d
		}
		d.Chunks++
	}
	d.Status = measure.DigestPartial
	if ops == 0 {
		d.Status = measure.DigestNotReplayed
	}
	return d
}

// confirm reads the rest of a stream, whose totals come last, and says whether
// the whole trace was replayed and is what it states.
func (r *run) confirm(ctx context.Context) error {
	if _, known := r.totals(); !known {
		if err := r.passOver(ctx, len(r.Trace.Header().Phases)); err != nil {
			r.result.Void = fmt.Sprintf("the trace broke behind its last replayed op: %v", err)
			return err
		}
	}
	totals, known := r.Trace.Totals()
	if !known {
		return nil // the run ended before the stream
	}
	for _, u := range r.uncompared {
		p := &r.result.Phases[u.at]
		p.Digest = compareDigest(u.digest, &totals.Phases[u.phase], u.ops)
		if p.Digest.Status == measure.DigestMismatch {
			r.result.Void = fmt.Sprintf("the ops of phase %s are not those that the trace's digest is of", p.Name)
		}
	}
	r.result.Trace.Digest = fmt.Sprintf("%x", totals.Digest)
	confirmed := len(r.result.Phases) == len(totals.Phases)
	for i := range r.result.Phases {
		confirmed = confirmed && r.result.Phases[i].Digest.Status == measure.DigestConfirmed
	}
	r.result.Trace.Confirmed = confirmed
	return nil
}

// newResult fills in what is known before the first op.
func (r *Runner) newResult() *measure.Result {
	h := r.Trace.Header()
	res := &measure.Result{
		Schema: measure.SchemaVersion, Tool: r.ToolVersion, Started: time.Now().UTC(), Labels: r.Labels, Machine: machine(),
		Trace: measure.Trace{
			Path: r.Trace.Path(), FormatVersion: h.FormatVersion, ToolVersion: h.ToolVersion, Generator: h.Generator, Spec: h.Spec,
			Seed: h.Seed, Table: h.Table, Records: h.Records, FieldCount: h.Fields.Count, FieldLength: h.Fields.Length.String(),
		},
		Database: measure.Database{
			Name: r.Driver.Name, Chosen: r.Chosen, Place: r.Driver.Place.String(), Properties: r.Driver.Redacted(r.Properties), Facts: []bindings.Fact{},
		},
		Settings: measure.Settings{
			Phase: r.Phases, Slots: r.Slots, Asap: r.Asap, SpeedNumerator: r.SpeedNumerator, SpeedDenominator: r.SpeedDenominator,
			Overload: string(r.Overload), Order: string(r.Order), Deadline: r.Deadline, Grace: r.Grace, AllowErrors: r.AllowErrors.String(),
			CheckSample: r.CheckSample, Drop: r.Drop, Resume: r.Resume, Settle: r.SettleText,
		},
		Phases: []measure.Phase{},
	}
	if totals, known := r.Trace.Totals(); known {
		res.Trace.Digest = fmt.Sprintf("%x", totals.Digest)
	}
	return res
}
