package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pianola/bindings"
	"pianola/bindings/hbase/cluster"
	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
	"pianola/traces"
)

// operation is one that is under way. It makes its calls one after the other;
// each answer decides on the next call, on the goroutine that brings it. What it
// needs it has, so that it allocates nothing.
type operation struct {
	binding *binding
	op      *bindings.Op
	// answer is called once, with the operation's error.
	answer func(o *operation, op *bindings.Op, err error)

	call     rpc.Call
	deadline time.Duration
	// region is the one that the call goes to.
	region *cluster.Region
	// attempts counts those of the call that found the region elsewhere.
	attempts int
	// stage says what the call under way is.
	stage stage

	get    wire.Get
	mutate wire.Mutate
	scan   scanning
	row    wire.Row
	rows   wire.Rows
	cell   wire.Cell
}

// stage is what a call of an operation is for.
type stage uint8

const (
	reading stage = iota
	// asking whether a record has any field, where none of those wanted is there.
	asking
	changing
	scanningRows
	closingScanner
)

var (
	errGivenUp  = rpc.ErrTimeout
	errTable    = &bindings.Error{Class: bindings.Invalid, Err: errors.New("the operation is for another table than the trace's")}
	errNoFields = &bindings.Error{Class: bindings.Invalid, Err: errors.New("a write without fields")}
	errEmptyKey = &bindings.Error{Class: bindings.Invalid, Err: errors.New("the key is empty, which no row's can be")}
)

// begin starts an operation. The answer may come before it returns. If keep is
// not nil the frame waits on a connection that is added there.
func (o *operation) begin(op *bindings.Op, answer func(*operation, *bindings.Op, error), keep *kept) {
	o.op, o.answer = op, answer
	o.deadline = op.Deadline
	if o.deadline <= 0 {
		o.deadline = o.binding.clock.Now() + bindings.DefaultDeadline
	}
	if err := o.check(); err != nil {
		o.finish(err)
		return
	}
	switch op.Kind {
	case traces.Read, traces.ReadModifyWrite:
		o.read(false, keep)
	case traces.Update, traces.Insert, traces.Delete:
		o.change(keep)
	case traces.Scan:
		o.scan.begin(o, keep)
	}
}

func (o *operation) check() error {
	op := o.op
	switch {
	case op.Table != o.binding.table:
		return errTable
	case op.Kind == traces.Scan:
		return nil
	case op.Kind == traces.Insert, op.Kind == traces.Update, op.Kind == traces.ReadModifyWrite:
		if len(op.Write) == 0 {
			return errNoFields
		}
	case op.Kind != traces.Read && op.Kind != traces.Delete:
		return &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("hbase has no operation %v", op.Kind)}
	}
	if len(op.Key) == 0 {
		return errEmptyKey
	}
	return nil
}

// finish answers the operation.
func (o *operation) finish(err error) {
	op := o.op
	o.region, o.op = nil, nil
	o.get.Row, o.get.Columns = nil, nil
	o.mutate.Row, o.mutate.Fields = nil, nil
	o.scan.request.Columns = nil
	o.answer(o, op, err)
}

// read reads the row, or asks whether it is there.
func (o *operation) read(existence bool, keep *kept) {
	o.stage = reading
	o.get.Row, o.get.Family, o.get.Columns, o.get.ExistenceOnly = o.op.Key, o.binding.settings.family, o.op.Read, false
	if existence {
		o.stage, o.get.Columns, o.get.ExistenceOnly = asking, nil, true
	}
	o.call.Request = &o.get
	o.send(o.op.Key, keep)
}

// change writes the fields or removes the row.
func (o *operation) change(keep *kept) {
	o.stage = changing
	m := &o.mutate
	m.Row, m.Family, m.Fields, m.Durability = o.op.Key, o.binding.settings.family, o.op.Write, o.binding.settings.durability
	m.Absent = ""
	if o.op.Kind == traces.Delete {
		m.Fields = nil
	}
	if o.op.Kind == traces.Insert && o.binding.settings.checkInserts {
		m.Absent = m.Fields[0].Name
	}
	o.call.Request = m
	o.send(o.op.Key, keep)
}

// send makes the call for a row. Where the region is known and the server is
// connected it goes out at once, or is kept.
func (o *operation) send(row []byte, keep *kept) {
	o.attempts = 0
	if r := o.binding.cluster.Find(row); r != nil {
		if conn := r.Server.Conn(o.op.Slot); conn != nil {
			if o.sendTo(r, conn, keep) {
				return
			}
		}
	}
	o.binding.searches.Go(func() { o.search(row) })
}

// sendTo makes the call on a connection; false if that is broken. The operation
// may be over when it returns.
func (o *operation) sendTo(r *cluster.Region, conn *rpc.Conn, keep *kept) bool {
	o.aim(r)
	o.call.Handler, o.call.Deadline = o, o.deadline
	var err error
	if keep != nil {
		keep.add(conn)
		err = conn.Hold(&o.call)
	} else {
		err = conn.Send(&o.call)
	}
	if err != nil {
		if _, broken := err.(*rpc.BrokenError); broken {
			return false
		}
		o.finish(rpc.Classed(err))
	}
	return true
}

// aim makes the call one for a region.
func (o *operation) aim(r *cluster.Region) {
	o.region = r
	o.get.Region, o.mutate.Region, o.scan.request.Region = r.Name, r.Name, r.Name
}

// search finds the region and connects to its server, again if need be, and
// makes the call. It waits, so it has a goroutine of its own; the time is the
// operation's.
func (o *operation) search(row []byte) {
	left := o.deadline - o.binding.clock.Now()
	ctx, cancel := context.WithTimeout(o.binding.life, left)
	defer cancel()
	for {
		if cluster.Pause(ctx, o.attempts) != nil {
			break
		}
		o.attempts++
		r, err := o.binding.cluster.Locate(ctx, row)
		if err != nil {
			if cluster.Passes(err) && ctx.Err() == nil {
				continue
			}
			o.fail(ctx, err)
			return
		}
		conn, err := r.Server.Connect(ctx, o.op.Slot)
		if err != nil {
			// The next operation asks again where the region is.
			o.binding.cluster.Forget(r)
			o.fail(ctx, err)
			return
		}
		if o.sendTo(r, conn, nil) {
			return
		}
	}
	o.finish(o.late())
}

// late is the error of an operation that was not sent in time.
func (o *operation) late() error {
	if o.binding.life.Err() != nil {
		return errClosed
	}
	return errGivenUp
}

var errClosed = &bindings.Error{Class: bindings.Unavailable, Err: errors.New("closed before it was answered")}

// holdBack is how long an operation is held back whose server can't be reached,
// so that nothing spins.
const holdBack = 100 * time.Millisecond

func (o *operation) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		o.finish(o.late())
		return
	}
	o.binding.held.Add(1)
	timer := time.NewTimer(holdBack)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	o.finish(cluster.Classed(err))
}

// Answered takes the answer of the call.
func (o *operation) Answered(_ *rpc.Call, r *wire.Response, err error) {
	switch {
	case o.stage == closingScanner:
		o.finish(nil) // the rows are there
	case err != nil:
		o.refused(err)
	case o.stage == scanningRows:
		o.scan.answered(o, r)
	case o.stage == changing:
		o.changed(r)
	default:
		o.readRow(r)
	}
}

// refused looks whether the call is to be made again elsewhere: nothing was
// done then. Everything else is the operation's error.
func (o *operation) refused(err error) {
	remote, ok := err.(*rpc.RemoteError)
	if !ok || !remote.Elsewhere() {
		if o.stage == scanningRows && o.scan.resume(o, remote) {
			return
		}
		o.finish(rpc.Classed(err))
		return
	}
	o.binding.elsewhere.Add(1)
	if o.stage == scanningRows && !o.scan.restart() {
		o.finish(rpc.Classed(err))
		return
	}
	// The first time a server's word is taken for where the region is now.
	if remote.Moved != "" && o.attempts == 0 {
		o.binding.cluster.Moved(o.region, remote.Moved)
	} else {
		o.binding.cluster.Forget(o.region)
	}
	o.binding.searches.Go(func() { o.search(o.place()) })
}

// place returns the row that the call's region must cover.
func (o *operation) place() []byte {
	if o.stage == scanningRows {
		return o.scan.request.Start
	}
	return o.op.Key
}

func (o *operation) changed(r *wire.Response) {
	processed, err := wire.ParseMutate(r)
	switch {
	case err != nil:
		o.finish(rpc.Classed(err))
	case !processed && o.mutate.Absent != "":
		o.finish(bindings.ErrDuplicate)
	case !processed:
		o.finish(errNotDone)
	default:
		o.finish(nil)
	}
}

var errNotDone = &bindings.Error{Class: bindings.Other, Err: errors.New("the server says that the change was not made")}

// readRow takes the answer of a Get.
func (o *operation) readRow(r *wire.Response) {
	if err := o.row.ParseGet(r); err != nil {
		o.finish(rpc.Classed(err))
		return
	}
	op := o.op
	switch {
	case o.stage == asking && !o.row.Exists, o.stage == reading && o.row.Cells == 0 && len(op.Read) == 0:
		o.finish(bindings.ErrNotFound)
		return
	case o.stage == reading && o.row.Cells == 0:
		o.read(true, nil)
		return
	}
	if op.Rows != nil {
		op.Rows.Row(op.Key)
	}
	for {
		ok, err := o.row.Next(&o.cell)
		if err != nil {
			o.finish(rpc.Classed(err))
			return
		}
		if !ok {
			break
		}
		if op.Rows != nil {
			op.Rows.Field(o.binding.name(o.cell.Qualifier), o.cell.Value)
		}
	}
	if op.Kind == traces.ReadModifyWrite {
		op.ReadEnded = o.binding.clock.Now()
		o.change(nil)
		return
	}
	o.finish(nil)
}
