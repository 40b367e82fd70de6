package bindings

import (
	"context"
	"time"

	"pianola/traces"
)

// Binding is a database that operations can be sent to. Its methods are called
// in the order Open, Session once for each slot, Close; Close is called once
// Open has succeeded, after every session is closed. All connections are open
// and all statements prepared when the sessions are: nothing of that may fall
// into the first operations.
//
// Further abilities are the optional interfaces of this package.
type Binding interface {
	// Open connects. It must not change what is stored.
	Open(ctx context.Context, cfg Config) error
	// Session returns what one slot runs its operations on.
	Session(ctx context.Context) (Session, error)
	Close() error
}

// Config is what a run tells its binding.
type Config struct {
	// Header of the trace that is replayed.
	Header *traces.Header
	// Clock of the run; deadlines are instants of it.
	Clock Clock
	// Slots is the greatest number of operations in flight.
	Slots int
}

// Clock is the clock of a run. A binding that needs time takes it from here,
// so that it also runs on a clock that is stepped by hand.
type Clock interface {
	// Now returns the time since the clock's start; it never goes back.
	Now() time.Duration
	// SleepUntil returns when Now is t or later.
	SleepUntil(t time.Duration)
}

// Op is one operation with its bytes built. The runner owns it and everything
// it points to; a session may use it until it has answered, and must neither
// write to it nor keep any of it.
type Op struct {
	Kind  traces.Kind
	Table string
	Key   []byte
	// ScanLength is the number of records a SCAN asks for, from Key on.
	ScanLength int
	// Read names the fields to read; empty means all.
	Read []string
	// Write holds the fields to write: all of them for an INSERT.
	Write []Field
	// Deadline is when the runner gives the operation up. A client that can
	// give up at a set time does so then; the answer after it is worth nothing.
	Deadline time.Duration
	// Rows is given every field that was read, if it is not nil. Results are
	// fetched in full in either case.
	Rows Rows
	// ReadEnded is set by a session that runs a READMODIFYWRITE as a read and a
	// write behind it: the instant on Config.Clock at which it had the answer to
	// the read. It stays 0 where the database does both at once.
	ReadEnded time.Duration

	// Slot is the number of the slot the operation occupies, from 0.
	Slot int
}

// Field is the name and the value of a field.
type Field struct {
	Name  string
	Value []byte
}

// Rows takes what a READ, a SCAN or the first part of a READMODIFYWRITE read.
// The bytes are valid during the call only.
type Rows interface {
	// Row begins a record.
	Row(key []byte)
	// Field adds a field to the record begun last.
	Field(name string, value []byte)
}

// Session runs one operation at a time.
type Session interface {
	// Do runs op and returns when it is answered, or when the client has given
	// it up. The error's class is what ClassOf makes of it; a record that isn't
	// there is ErrNotFound. A short or empty scan is no error. Do must not
	// retry, hedge or cache in secret.
	Do(ctx context.Context, op *Op) error
	Close() error
}

// Pipeliner is a Binding whose sessions take an operation without waiting for
// its answer. One such session serves all slots.
type Pipeliner interface {
	Binding
	// Pipeline returns the session; answers go to sink.
	Pipeline(ctx context.Context, sink Sink) (Pipeline, error)
}

// ManyPipeliner is a Pipeliner that may be asked for several pipelines, one for
// each processor: those share nothing, and answer in place. Where operations wait
// for nothing but their slots, each is used by a goroutine of its own.
type ManyPipeliner interface {
	Pipeliner
	ManyPipelines()
}

// Pipeline takes operations from one goroutine.
type Pipeline interface {
	// Issue sends op. It answers by calling the sink exactly once for each op,
	// from any goroutine, perhaps before Issue returns.
	Issue(op *Op)
	Close() error
}

// Flusher is a Pipeline that may keep what Issue has to send until Flush. The
// runner calls Flush before it waits for anything, so that what is due already
// goes out together and nothing waits for what is not.
type Flusher interface {
	Pipeline
	// Flush sends what is kept; it is called by the goroutine that calls Issue.
	Flush()
}

// Sink takes the answers of a Pipeline. Done is safe for concurrent use; when
// it returns, op belongs to the runner again.
type Sink interface {
	Done(op *Op, err error)
}

// SchemaCreator creates the table, keyspace or file that a trace needs if it
// is missing. It leaves what exists as it is.
type SchemaCreator interface {
	CreateSchema(ctx context.Context) error
}

// Dropper removes the trace's table with all its records, so that a load begins
// on an empty one. It is called after Open and before CreateSchema. A table that
// doesn't exist is no error. What doesn't belong to the table stays.
type Dropper interface {
	Drop(ctx context.Context) error
}

// Discarder removes what must not outlive the program where Close is not called:
// a temporary directory, say, when the program ends at once. It may be called at
// any time, beside everything else, and the binding is of no use afterwards.
type Discarder interface {
	Discard()
}

// Counter counts the records of the trace's table.
type Counter interface {
	Count(ctx context.Context) (uint64, error)
}

// PhaseObserver is told when a phase begins, before its first operation: its
// name and the instant on Config.Clock from which due times count.
type PhaseObserver interface {
	PhaseStarts(name string, at time.Duration)
}

// Reporter adds facts to the result: versions, settings that matter, counters.
// It is asked after the run and before Close.
type Reporter interface {
	Facts() []Fact
}

// Fact is one line about the database or the client.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
