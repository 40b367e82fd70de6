package ignite

import (
	"fmt"
	"time"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
	"pianola/traces"
)

// step is which answer an operation waits for.
type step int

const (
	reading  step = iota // the record of a READ
	fetching             // the record that is to be changed
	writing              // a put
	removing
	invoking // the entry processor
	updating // the UPDATE
	scanning // the first page
	paging   // a further one
	learning // a list of fields that was unknown
)

// scanPage is the number of records in a page of a SCAN.
const scanPage = 1024

// work is an operation in flight. Its answers come one by one, so nothing of it
// is used by two at a time.
type work struct {
	binding  *binding
	op       *bindings.Op
	sink     bindings.Sink
	deadline time.Duration
	step     step
	body     []byte
	object   thin.Writer

	// Of a SCAN: the cursor, and the records of the page that are not given yet.
	cursor int64
	left   int
	// kept is the answer that has to wait until a list of fields is known, and
	// resume what it is the answer of.
	kept   []byte
	resume step
}

// begin sends the first request.
func (w *work) begin(op *bindings.Op, sink bindings.Sink, deadline time.Duration) {
	w.op, w.sink, w.deadline = op, sink, deadline
	if deadline > 0 && w.binding.clock.Now() >= deadline {
		w.done(classed(thin.ErrDeadline))
		return
	}
	var err error
	switch op.Kind {
	case traces.Read:
		err = w.key(thin.OpGet, reading)
	case traces.Delete:
		err = w.key(thin.OpRemove, removing)
	case traces.Insert:
		err = w.insert()
	case traces.Scan:
		if op.ScanLength <= 0 {
			w.done(nil)
			return
		}
		err = w.scan()
	case traces.Update:
		if w.binding.settings.update == byPut {
			err = w.key(thin.OpGet, fetching)
		} else {
			err = w.change()
		}
	case traces.ReadModifyWrite:
		err = w.key(thin.OpGet, fetching)
	default:
		err = &bindings.Error{Class: bindings.Invalid, Err: fmt.Errorf("ignite has no operation %v", op.Kind)}
	}
	if err != nil {
		w.done(classed(err))
	}
}

// done answers the operation.
func (w *work) done(err error) {
	op, sink := w.op, w.sink
	w.op, w.sink, w.kept = nil, nil, nil
	if cap(w.body) > mostBody {
		w.body = nil // large ones are rare, and there are many slots
	}
	w.binding.put(w)
	sink.Done(op, err)
}

// mostBody is the memory for a request that is kept for the next.
const mostBody = 64 << 10

// head begins a request with the cache and the operation's key.
func (w *work) head() error {
	var err error
	w.body = w.binding.cache.AppendHeader(w.body[:0])
	w.body, err = w.binding.layout.appendKey(w.body, w.op.Key)
	return err
}

// start sends the request. It may be answered before start returns: then w is
// another's.
func (w *work) start(op thin.Op, next step) {
	w.step = next
	w.binding.cache.Start(op, w.body, w.deadline, w)
}

// key sends a request that is nothing but a key.
func (w *work) key(op thin.Op, next step) error {
	if err := w.head(); err != nil {
		return err
	}
	w.start(op, next)
	return nil
}

func (w *work) insert() error {
	err := w.head()
	if err == nil {
		w.body, err = w.binding.layout.appendRecord(w.body, &w.object, w.op.Write, nil, nil)
	}
	if err == nil {
		w.start(thin.OpPut, writing)
	}
	return err
}

// change has the servers change the fields.
func (w *work) change() error {
	if w.binding.settings.update == bySQL {
		return w.changeBySQL()
	}
	if err := w.head(); err != nil {
		return err
	}
	w.body = thin.AppendProcessor(w.body, w.binding.layout.processor, 2*len(w.op.Write))
	for i := range w.op.Write {
		f := &w.op.Write[i]
		if w.binding.layout.index(f.Name) < 0 {
			return errNoField
		}
		var err error
		w.body = thin.AppendString(w.body, f.Name)
		if w.body, err = w.binding.layout.appendField(w.body, f.Value); err != nil {
			return err
		}
	}
	w.start(thin.OpInvoke, invoking)
	return nil
}

func (w *work) changeBySQL() error {
	l, q := w.binding.layout, &w.binding.queries
	var text string
	if len(w.op.Write) == 1 {
		i := l.index(w.op.Write[0].Name)
		if i < 0 {
			return errNoField
		}
		text = q.updates[i]
	} else {
		names := make([]string, len(w.op.Write))
		for i := range w.op.Write {
			if names[i] = w.op.Write[i].Name; l.index(names[i]) < 0 {
				return errNoField
			}
		}
		text = q.update(names...)
	}
	var err error
	w.body = w.binding.cache.AppendQuery(w.body[:0], text, 1, len(w.op.Write)+1)
	for i := range w.op.Write {
		if w.body, err = l.appendField(w.body, w.op.Write[i].Value); err != nil {
			return err
		}
	}
	if w.body, err = l.appendKey(w.body, w.op.Key); err != nil {
		return err
	}
	w.body = thin.AppendQueryEnd(w.body, false)
	w.step = updating
	w.binding.cache.StartQuery(w.body, w.deadline, w)
	return nil
}

func (w *work) scan() error {
	var err error
	page := min(w.op.ScanLength, scanPage)
	w.body = w.binding.cache.AppendQuery(w.body[:0], w.binding.queries.scan, int32(page), 2)
	if w.body, err = w.binding.layout.appendKey(w.body, w.op.Key); err != nil {
		return err
	}
	w.body = thin.AppendInt(w.body, int32(min(w.op.ScanLength, 1<<30)))
	w.body = thin.AppendQueryEnd(w.body, false)
	w.step = scanning
	w.binding.cache.StartQuery(w.body, w.deadline, w)
	return nil
}

// Receive takes an answer.
func (w *work) Receive(a *thin.Answer) {
	if a.Err != nil {
		w.done(classed(a.Err))
		return
	}
	if w.step == learning {
		w.learned(a)
		return
	}
	w.answered(a, &a.Decoder)
}

// answered takes the answer in d, which came with a or before it.
func (w *work) answered(a *thin.Answer, d *thin.Decoder) {
	var err error
	switch w.step {
	case reading, fetching:
		w.record(a, d)
		return
	case removing:
		if !d.Bool() {
			err = bindings.ErrNotFound
		}
	case invoking:
		if found, ok := d.Value().(bool); ok && !found {
			err = bindings.ErrNotFound
		}
	case updating:
		_, _, rows := thin.ReadPage(d)
		if n, ok := d.Value().(int64); rows != 1 || !ok {
			err = fmt.Errorf("%w: an UPDATE is answered with %d rows", thin.ErrMalformed, rows)
		} else if n == 0 {
			err = bindings.ErrNotFound
		}
	case scanning:
		w.cursor, _, w.left = thin.ReadPage(d)
		w.page(a, d)
		return
	case paging:
		w.page(a, d)
		return
	}
	if broken := d.Err(); broken != nil {
		err = broken
	}
	w.done(classed(err))
}

// record takes the record of a READ, or that an operation changes.
func (w *work) record(a *thin.Answer, d *thin.Decoder) {
	body := d.Rest()
	o := d.Object()
	if err := d.Err(); err != nil {
		w.done(classed(err))
		return
	}
	if o.Null() {
		w.done(bindings.ErrNotFound)
		return
	}
	l := w.binding.layout
	places, known := l.places(&o)
	if !known {
		w.learn(a, body, &o)
		return
	}
	if w.op.Kind != traces.Update {
		if err := l.give(w.op, w.op.Key, &o, places); err != nil {
			w.done(classed(err))
			return
		}
	}
	if w.step == reading {
		w.done(nil)
		return
	}
	if w.op.Kind == traces.ReadModifyWrite {
		w.op.ReadEnded = w.binding.clock.Now()
	}
	if err := w.write(&o, places); err != nil {
		w.done(classed(err))
	}
}

// write changes the record that was fetched.
func (w *work) write(old *thin.Object, places []int) error {
	if w.binding.settings.update != byPut {
		return w.change()
	}
	err := w.head()
	if err == nil {
		w.body, err = w.binding.layout.appendRecord(w.body, &w.object, w.op.Write, old, places)
	}
	if err == nil {
		w.start(thin.OpPut, writing)
	}
	return err
}

// page gives the records of a page, and asks for the next if there is one.
func (w *work) page(a *thin.Answer, d *thin.Decoder) {
	if w.step == paging {
		w.left = d.Count(2)
	}
	w.rows(a, d)
}

// rows gives what is left of a page.
func (w *work) rows(a *thin.Answer, d *thin.Decoder) {
	for ; w.left > 0; w.left-- {
		rest := d.Rest()
		key := d.Text()
		o := d.Object()
		if d.Err() != nil {
			break
		}
		places, known := w.binding.layout.places(&o)
		if !known {
			w.learn(a, rest, &o)
			return
		}
		if err := w.binding.layout.give(w.op, key, &o, places); err != nil {
			w.done(classed(err))
			return
		}
	}
	more := d.Bool()
	if err := d.Err(); err != nil || !more {
		w.done(classed(err))
		return
	}
	w.step = paging
	w.body = thin.AppendCursor(w.body[:0], w.cursor)
	a.Next(thin.OpQueryPage, w.body, w.deadline, w)
}
