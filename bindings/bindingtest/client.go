package bindingtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// client sends operations one at a time.
type client struct {
	db *database
	t  *testing.T
	// do runs an operation and spoils its bytes.
	do    func(ctx context.Context, op *bindings.Op) error
	close func()
	// started is when the last operation was sent, readEnded what its session
	// said of its read.
	started, readEnded time.Duration
}

// checkKey demands that the binding did not write to the key.
func checkKey(t *testing.T, op *bindings.Op, key string) {
	if string(op.Key) != key {
		t.Errorf("%v %q: the key is %q after the answer", op.Kind, key, op.Key)
	}
}

// spoil overwrites what an operation was made of, as the runner does once it is
// answered: a binding that has kept any of it shows wrong bytes later.
func spoil(op *bindings.Op) {
	for i := range op.Key {
		op.Key[i] ^= 0xff
	}
	for i := range op.Write {
		value := op.Write[i].Value
		for j := range value {
			value[j] ^= 0xff
		}
		op.Write[i] = bindings.Field{}
	}
	clear(op.Read)
	op.Rows = nil
}

// run runs an operation and returns what it read.
func (c *client) run(kind traces.Kind, key string, op bindings.Op) (*rows, error) {
	got := &rows{}
	op.Kind, op.Key, op.Table, op.Rows = kind, []byte(key), c.db.header.Table, got
	c.started = c.db.clock.Now()
	op.Deadline = c.started + bindings.DefaultDeadline
	err := c.do(context.Background(), &op)
	c.readEnded = op.ReadEnded
	if kind == traces.Delete {
		time.Sleep(c.db.suite.limits.DeleteLingers)
	}
	return got, errors.Join(err, got.fault)
}

func (c *client) read(key string, fields ...string) (*rows, error) {
	return c.run(traces.Read, key, bindings.Op{Read: append([]string(nil), fields...)})
}

func (c *client) scan(key string, n int, fields ...string) (*rows, error) {
	return c.run(traces.Scan, key, bindings.Op{ScanLength: n, Read: append([]string(nil), fields...)})
}

func (c *client) insert(key string, r record) error {
	_, err := c.run(traces.Insert, key, bindings.Op{Write: r.fields()})
	return err
}

func (c *client) update(key string, r record) error {
	_, err := c.run(traces.Update, key, bindings.Op{Write: r.fields()})
	return err
}

func (c *client) modify(key string, r record, fields ...string) (*rows, error) {
	return c.run(traces.ReadModifyWrite, key, bindings.Op{Read: append([]string(nil), fields...), Write: r.fields()})
}

func (c *client) remove(key string) error {
	_, err := c.run(traces.Delete, key, bindings.Op{})
	return err
}

// mustInsert inserts what must not fail.
func (c *client) mustInsert(key string, r record) {
	c.t.Helper()
	if err := c.insert(key, r); err != nil {
		c.t.Fatalf("INSERT %q: %v", key, err)
	}
}

// mustUpdate updates what must not fail.
func (c *client) mustUpdate(key string, r record) {
	c.t.Helper()
	if err := c.update(key, r); err != nil {
		c.t.Fatalf("UPDATE %q: %v", key, err)
	}
}

// mustRead demands that a READ gives exactly the record.
func (c *client) mustRead(key string, want record, fields ...string) {
	c.t.Helper()
	got, err := c.read(key, fields...)
	if err != nil {
		c.t.Fatalf("READ %q %q: %v", key, fields, err)
	}
	c.mustBe(got, fmt.Sprintf("READ %q %q", key, fields), key, want)
}

// mustBe demands that exactly one record was read, and which.
func (c *client) mustBe(got *rows, what, key string, want record) {
	c.t.Helper()
	if len(got.keys) != 1 || got.keys[0] != key {
		c.t.Fatalf("%s gave the records %q, want only %q", what, got.keys, key)
	}
	if difference := compare(got.records[0], want); difference != "" {
		c.t.Fatalf("%s: %s", what, difference)
	}
}

// mustMiss demands that the record isn't there.
func (c *client) mustMiss(key string) {
	c.t.Helper()
	got, err := c.read(key)
	if bindings.ClassOf(err) != bindings.NotFound {
		c.t.Fatalf("READ %q of no record: %v, want the class %v", key, err, bindings.NotFound)
	}
	if len(got.keys) > 0 {
		c.t.Fatalf("READ %q of no record gave %q", key, got.keys)
	}
}

// rows collects what was read.
type rows struct {
	keys    []string
	records []record
	fault   error
}

func (r *rows) Row(key []byte) {
	r.keys = append(r.keys, string(key))
	r.records = append(r.records, record{})
}

func (r *rows) Field(name string, value []byte) {
	if len(r.records) == 0 {
		r.fault = fmt.Errorf("field %q was given before any record", name)
		return
	}
	last := r.records[len(r.records)-1]
	if _, ok := last[name]; ok {
		r.fault = fmt.Errorf("field %q of record %q was given twice", name, r.keys[len(r.keys)-1])
	}
	last[name] = string(value)
}

// compare tells how a record differs from what it should be, or nothing.
func compare(got, want record) string {
	for name, value := range want {
		switch g, ok := got[name]; {
		case !ok:
			return fmt.Sprintf("field %q is missing in %v", name, got)
		case g != value && len(g)+len(value) > 200:
			return fmt.Sprintf("field %q has %d bytes that are not the %d written", name, len(g), len(value))
		case g != value:
			return fmt.Sprintf("field %q is %q, want %q", name, g, value)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Sprintf("field %q was not asked for or not written; got %v", name, got)
		}
	}
	return ""
}

// pipelineClient issues from one goroutine and waits for each answer.
type pipelineClient struct {
	t      *testing.T
	issues chan *bindings.Op

	mu      sync.Mutex
	waiting map[*bindings.Op]pending
}

// pending is an operation without an answer.
type pending struct {
	answer chan error
	key    string
}

func newPipelineClient(t *testing.T, b bindings.Pipeliner) *pipelineClient {
	t.Helper()
	p := &pipelineClient{t: t, issues: make(chan *bindings.Op), waiting: map[*bindings.Op]pending{}}
	pipeline, err := b.Pipeline(context.Background(), p)
	if err != nil {
		t.Fatalf("pipeline: %v", err)
	}
	var issuer sync.WaitGroup
	flusher, _ := pipeline.(bindings.Flusher)
	issuer.Go(func() {
		for op := range p.issues {
			pipeline.Issue(op)
			if flusher != nil {
				flusher.Flush()
			}
		}
	})
	t.Cleanup(func() {
		close(p.issues)
		issuer.Wait()
		if err := pipeline.Close(); err != nil {
			t.Errorf("close the pipeline: %v", err)
		}
	})
	return p
}

func (p *pipelineClient) do(_ context.Context, op *bindings.Op) error {
	answer := make(chan error, 1)
	p.mu.Lock()
	p.waiting[op] = pending{answer, string(op.Key)}
	p.mu.Unlock()
	p.issues <- op
	return <-answer
}

// Done takes an answer. The operation is spoilt before it is passed on: it
// belongs to the runner again.
func (p *pipelineClient) Done(op *bindings.Op, err error) {
	p.mu.Lock()
	waiting, ok := p.waiting[op]
	delete(p.waiting, op)
	p.mu.Unlock()
	if !ok {
		p.t.Errorf("an operation was answered twice, the second time with %v", err)
		return
	}
	checkKey(p.t, op, waiting.key)
	spoil(op)
	waiting.answer <- err
}
