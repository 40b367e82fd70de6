package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

func (r *run) prepareAndReplay(ctx, calls context.Context) (err error) {
	if err := r.checkTable(ctx); err != nil {
		return err
	}
	if err := r.openSessions(ctx); err != nil {
		return err
	}
	r.margin = calibrate(r.Clock)
	if l, ok := r.Binding.(bindings.Locator); ok {
		r.local = l.Local()
	}
	r.result.Settings.Pacer = r.pacerFacts()
	if r.OpLog != nil {
		r.log = newOpLog(r.OpLog, r.Trace.Header())
		defer func() {
			if closeErr := r.log.close(); err == nil {
				err = closeErr
			}
		}()
	}
	return r.replay(ctx, calls)
}

// pacerFacts says how due times are waited for.
func (r *run) pacerFacts() measure.Pacer {
	p := measure.Pacer{Method: sleepMethod, Margin: r.margin, Budget: r.Spin}
	switch {
	case r.Spin == 0:
		p.Budget = spinBudget(r.Driver.Place == bindings.Embedded || r.local, runtime.NumCPU())
	case r.Spin < 0:
		p.Budget = 0
	}
	if !r.Clock.Stepped() {
		p.Scheduling, p.TimerSlack = scheduling()
	}
	return p
}

// checkTable creates the schema if it is missing and refuses to load into a
// table with rows, or to run on one whose rows can't be those of the trace.
func (r *run) checkTable(ctx context.Context) error {
	if r.Drop {
		if err := r.Binding.(bindings.Dropper).Drop(ctx); err != nil {
			return fmt.Errorf("drop table %q: %w", r.Trace.Header().Table, err)
		}
	}
	if creator, ok := r.Binding.(bindings.SchemaCreator); ok && r.Phases != RunOnly {
		if err := creator.CreateSchema(ctx); err != nil {
			return fmt.Errorf("create schema: %w", err)
		}
	}
	counter, ok := r.Binding.(bindings.Counter)
	if !ok {
		return nil
	}
	rows, err := counter.Count(ctx)
	if err != nil {
		return fmt.Errorf("count the rows of table %q: %w", r.Trace.Header().Table, err)
	}
	r.result.Database.Facts = append(r.result.Database.Facts, bindings.Fact{Name: "rows before", Value: fmt.Sprint(rows)})
	h := r.Trace.Header()
	switch {
	case r.Resume && rows > h.Records:
		return fmt.Errorf("%w: table %q holds %d rows, more than the %d of the load: they are not a part of it", ErrRefused, h.Table, rows, h.Records)
	case r.Resume:
	case r.Drop && rows > 0:
		return fmt.Errorf("%w: table %q was dropped and holds %d rows: somebody else writes to it", ErrRefused, h.Table, rows)
	case r.Phases != RunOnly && rows > 0:
		return fmt.Errorf("%w: table %q holds %d rows already\nempty it by --drop, load what is missing by --resume, or run on what it holds by --phase run", ErrRefused, h.Table, rows)
	case r.Phases == RunOnly && rows == 0 && h.Records > 0:
		return fmt.Errorf("%w: table %q holds 0 rows, the trace is made for %d: replay it with --phase load first", ErrRefused, h.Table, h.Records)
	case r.Phases == RunOnly && rows < h.Records:
		return fmt.Errorf("%w: table %q holds %d rows, the trace is made for %d: empty it and load the trace again", ErrRefused, h.Table, rows, h.Records)
	case r.Phases == RunOnly && rows > h.Records && r.inserting():
		return fmt.Errorf("%w: table %q holds %d rows, the trace is made for %d and inserts more: its inserts may be there already", ErrRefused, h.Table, rows, h.Records)
	}
	return nil
}

// inserting reports whether a phase behind the load has inserts.
func (r *run) inserting() bool {
	for _, p := range r.Trace.Header().Phases {
		if p.Name == traces.LoadPhase {
			continue
		}
		for _, share := range p.Mix {
			if share.Kind == traces.Insert {
				return true
			}
		}
	}
	return false
}

// pipelines returns how many goroutines may issue ops, each through a pipeline of
// its own.
func (r *run) pipelines(p bindings.Pipeliner) int {
	if _, many := p.(bindings.ManyPipeliner); !many || r.Clock.Stepped() {
		return 1
	}
	return min(runtime.NumCPU(), r.Slots, recorderStripes)
}

func (r *run) openSessions(ctx context.Context) error {
	r.slots = make([]*slot, r.Slots)
	for i := range r.slots {
		r.slots[i] = &slot{number: i, stripe: i, op: bindings.Op{Table: r.Trace.Header().Table, Slot: i}}
	}
	if r.Check {
		r.check = r.newChecker()
		for _, s := range r.slots {
			s.reading = newReading(r.check, s)
		}
	}
	if p, ok := r.Binding.(bindings.Pipeliner); ok {
		exec := &pipelined{slots: r.slots}
		for i := range r.pipelines(p) {
			pipeline, err := p.Pipeline(ctx, exec)
			if err != nil {
				return errors.Join(fmt.Errorf("open session: %w", err), exec.close())
			}
			exec.lanes = append(exec.lanes, newLane(i, pipeline))
		}
		r.exec, r.result.Settings.Executor = exec, executorPipelined
		return nil
	}
	for i, s := range r.slots {
		var err error
		if s.session, err = r.Binding.Session(ctx); err != nil {
			for _, open := range r.slots[:i] {
				open.session.Close()
			}
			return fmt.Errorf("open session %d of %d: %w", i+1, r.Slots, err)
		}
	}
	r.exec, r.result.Settings.Executor = newBlocking(r.slots), executorBlocking
	return nil
}
