package bindingtest_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/memory"
	"pianola/traces"
)

// faulty is the memory binding with a fault: do runs an operation with the
// right one at hand.
type faulty struct {
	bindings.Binding
	do    func(ctx context.Context, op *bindings.Op, right bindings.Session) error
	count func(n uint64) uint64
	close error
	facts []bindings.Fact
}

func (f *faulty) Session(ctx context.Context) (bindings.Session, error) {
	right, err := f.Binding.Session(ctx)
	return &faultySession{f, right}, err
}

func (f *faulty) Count(ctx context.Context) (uint64, error) {
	n, err := f.Binding.(bindings.Counter).Count(ctx)
	if f.count != nil {
		n = f.count(n)
	}
	return n, err
}

func (f *faulty) Close() error           { return f.close }
func (f *faulty) Facts() []bindings.Fact { return f.facts }

type faultySession struct {
	*faulty
	right bindings.Session
}

func (s *faultySession) Do(ctx context.Context, op *bindings.Op) error {
	if s.do != nil {
		return s.do(ctx, op, s.right)
	}
	return s.right.Do(ctx, op)
}

func (s *faultySession) Close() error { return s.right.Close() }

// only runs a fault on operations of one kind.
func only(kind traces.Kind, fault func(op *bindings.Op, right func(*bindings.Op) error) error) func(context.Context, *bindings.Op, bindings.Session) error {
	return func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
		do := func(op *bindings.Op) error { return right.Do(ctx, op) }
		if op.Kind != kind {
			return do(op)
		}
		return fault(op, do)
	}
}

func ignoring(class bindings.Class) func(*bindings.Op, func(*bindings.Op) error) error {
	return func(op *bindings.Op, right func(*bindings.Op) error) error {
		if err := right(op); bindings.ClassOf(err) != class {
			return err
		}
		return nil
	}
}

// faults are the faults that the suite must find, with a part that finds each.
var faults = map[string]struct {
	part   string
	make   func() *faulty
	limits bindingtest.Limits
}{
	"a read hides a miss": {part: "not_found", make: func() *faulty {
		return &faulty{do: only(traces.Read, ignoring(bindings.NotFound))}
	}},
	"an update hides a miss": {part: "not_found", make: func() *faulty {
		return &faulty{do: only(traces.Update, ignoring(bindings.NotFound))}
	}},
	"a delete hides a miss": {part: "not_found", make: func() *faulty {
		return &faulty{do: only(traces.Delete, ignoring(bindings.NotFound))}
	}},
	"an insert hides a duplicate": {part: "duplicate", make: func() *faulty {
		return &faulty{do: only(traces.Insert, ignoring(bindings.Duplicate))}
	}},
	"an insert tells of a duplicate that it can't know": {part: "duplicate", limits: bindingtest.Limits{BlindInsert: true}, make: func() *faulty {
		return &faulty{}
	}},
	"a delete tells of a miss that it can't know": {part: "not_found", limits: bindingtest.Limits{BlindDelete: true}, make: func() *faulty {
		return &faulty{}
	}},
	"an update does nothing": {part: "update", make: func() *faulty {
		return &faulty{do: only(traces.Update, func(op *bindings.Op, right func(*bindings.Op) error) error {
			return right(&bindings.Op{Kind: traces.Read, Table: op.Table, Key: op.Key})
		})}
	}},
	"an update forgets other fields": {part: "update", make: func() *faulty {
		return &faulty{do: only(traces.Update, func(op *bindings.Op, right func(*bindings.Op) error) error {
			if err := right(&bindings.Op{Kind: traces.Delete, Table: op.Table, Key: op.Key}); err != nil {
				return err
			}
			return right(&bindings.Op{Kind: traces.Insert, Table: op.Table, Key: op.Key, Write: op.Write})
		})}
	}},
	"a read-modify-write reads what it has written": {part: "read-modify-write", make: func() *faulty {
		return &faulty{do: only(traces.ReadModifyWrite, func(op *bindings.Op, right func(*bindings.Op) error) error {
			if err := right(&bindings.Op{Kind: traces.Update, Table: op.Table, Key: op.Key, Write: op.Write}); err != nil {
				return err
			}
			return right(&bindings.Op{Kind: traces.Read, Table: op.Table, Key: op.Key, Read: op.Read, Rows: op.Rows})
		})}
	}},
	"a delete does nothing": {part: "delete", make: func() *faulty {
		return &faulty{do: only(traces.Delete, func(op *bindings.Op, right func(*bindings.Op) error) error { return nil })}
	}},
	"a read gives every field": {part: "insert_and_read", make: func() *faulty {
		return &faulty{do: only(traces.Read, func(op *bindings.Op, right func(*bindings.Op) error) error {
			all := *op
			all.Read = nil
			return right(&all)
		})}
	}},
	"a read gives nothing": {part: "insert_and_read", make: func() *faulty {
		return &faulty{do: only(traces.Read, func(op *bindings.Op, right func(*bindings.Op) error) error {
			blind := *op
			blind.Rows = nil
			return right(&blind)
		})}
	}},
	"a read without rows fails": {part: "insert_and_read", make: func() *faulty {
		return &faulty{do: only(traces.Read, func(op *bindings.Op, right func(*bindings.Op) error) error {
			op.Rows.Row(nil)
			return right(op)
		})}
	}},
	"a scan is one short": {part: "scan", make: func() *faulty {
		return &faulty{do: only(traces.Scan, func(op *bindings.Op, right func(*bindings.Op) error) error {
			short := *op
			short.ScanLength--
			return right(&short)
		})}
	}},
	"a scan begins behind its key": {part: "scan", make: func() *faulty {
		return &faulty{do: only(traces.Scan, func(op *bindings.Op, right func(*bindings.Op) error) error {
			behind := *op
			behind.Key = append(slices.Clone(op.Key), 0)
			return right(&behind)
		})}
	}},
	"an empty scan is an error": {part: "scan", make: func() *faulty {
		return &faulty{do: only(traces.Scan, func(op *bindings.Op, right func(*bindings.Op) error) error {
			if err := right(&bindings.Op{Kind: traces.Read, Table: op.Table, Key: op.Key}); err != nil {
				return err
			}
			return right(op)
		})}
	}},
	"values end at a zero byte": {part: "every_byte", make: func() *faulty {
		return &faulty{do: only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
			cut := *op
			cut.Write = slices.Clone(op.Write)
			for i := range cut.Write {
				if at := bytes.IndexByte(cut.Write[i].Value, 0); at >= 0 {
					cut.Write[i].Value = cut.Write[i].Value[:at]
				}
			}
			return right(&cut)
		})}
	}},
	"values are cut at 64 KiB": {part: "value_sizes", make: func() *faulty {
		return &faulty{do: only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
			cut := *op
			cut.Write = slices.Clone(op.Write)
			for i := range cut.Write {
				cut.Write[i].Value = cut.Write[i].Value[:min(len(cut.Write[i].Value), 65535)]
			}
			return right(&cut)
		})}
	}},
	"keys lose their high bits": {part: "unicode_keys", make: func() *faulty {
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			plain := *op
			plain.Key = slices.Clone(op.Key)
			for i := range plain.Key {
				plain.Key[i] &= 0x7f
			}
			return right.Do(ctx, &plain)
		}}
	}},
	"fields behind the 255th are lost": {part: "many_fields", make: func() *faulty {
		return &faulty{do: only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
			few := *op
			few.Write = op.Write[:min(len(op.Write), 255)]
			return right(&few)
		})}
	}},
	"an unknown kind is ignored": {part: "unknown_kinds", make: func() *faulty {
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			if !op.Kind.Valid() {
				return nil
			}
			return right.Do(ctx, op)
		}}
	}},
	"the count is one off": {part: "count", make: func() *faulty {
		return &faulty{count: func(n uint64) uint64 { return n + n/300 }}
	}},
	"close fails": {part: "count", make: func() *faulty { return &faulty{close: os.ErrClosed} }},
	"two facts have one name": {part: "facts", make: func() *faulty {
		return &faulty{facts: []bindings.Fact{{Name: "version", Value: "1"}, {Name: "version", Value: "2"}}}
	}},
	"a key is kept": {part: "insert_and_read", make: func() *faulty {
		var first *bindings.Op
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			// Written behind the next operation from the bytes of the last.
			if first != nil {
				right.Do(ctx, first)
				first = nil
			}
			if op.Kind == traces.Insert {
				kept := *op
				first = &kept
				return nil
			}
			return right.Do(ctx, op)
		}}
	}},
	"an update is a read and a write apart": {part: "no_update_is_lost", make: func() *faulty {
		// The first update reads, and writes when another has done both.
		first, second := make(chan bool, 1), make(chan bool)
		first <- true
		var once sync.Once
		return &faulty{do: only(traces.Update, func(op *bindings.Op, right func(*bindings.Op) error) error {
			old := &fields{}
			if err := right(&bindings.Op{Kind: traces.Read, Table: op.Table, Key: op.Key, Rows: old}); err != nil {
				return err
			}
			for _, f := range op.Write {
				old.set(f.Name, f.Value)
			}
			select {
			case <-first:
				<-second
			default:
				defer once.Do(func() { close(second) })
			}
			return right(&bindings.Op{Kind: traces.Update, Table: op.Table, Key: op.Key, Write: old.all})
		})}
	}},
	"two inserts of one key both win": {part: "one_insert_wins", make: func() *faulty {
		return &faulty{do: only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
			err := right(op)
			if bindings.ClassOf(err) == bindings.Duplicate && len(op.Write) > 0 && bytes.HasPrefix(op.Write[0].Value, []byte("client ")) {
				return nil
			}
			return err
		})}
	}},
	"an update of all fields goes in two steps": {part: "records_stay_whole", make: func() *faulty {
		// Between the steps of the first update there is a read.
		between, read := make(chan bool), make(chan bool)
		var once, onceRead sync.Once
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			switch op.Kind {
			case traces.Read:
				<-between
				defer onceRead.Do(func() { close(read) })
			case traces.Update:
				half := *op
				half.Write = op.Write[:len(op.Write)/2]
				if err := right.Do(ctx, &half); err != nil {
					return err
				}
				once.Do(func() {
					close(between)
					<-read
				})
			}
			return right.Do(ctx, op)
		}}
	}},
	"one of 500 inserts is lost": {part: "random_sequence", make: func() *faulty {
		n := 0
		return &faulty{do: only(traces.Insert, func(op *bindings.Op, right func(*bindings.Op) error) error {
			if n++; n == 500 {
				n = 0
				return nil
			}
			return right(op)
		})}
	}},
	"a cancelled insert writes half": {part: "cancelled_write", make: func() *faulty {
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			if ctx.Err() == nil || op.Kind != traces.Insert {
				return right.Do(ctx, op)
			}
			half := *op
			half.Write = op.Write[:len(op.Write)/2]
			right.Do(ctx, &half)
			return ctx.Err()
		}}
	}},
	"sessions don't share what they write": {part: "each_sees_the_other", make: func() *faulty {
		last := map[bindings.Session]bool{}
		var mu sync.Mutex
		return &faulty{do: func(ctx context.Context, op *bindings.Op, right bindings.Session) error {
			mu.Lock()
			last[right] = true
			second := len(last) > 1
			mu.Unlock()
			if second && op.Kind == traces.Read {
				return bindings.ErrNotFound
			}
			return right.Do(ctx, op)
		}}
	}},
}

// fields takes one record.
type fields struct{ all []bindings.Field }

func (f *fields) Row([]byte) {}
func (f *fields) Field(name string, value []byte) {
	f.all = append(f.all, bindings.Field{Name: name, Value: bytes.Clone(value)})
}

func (f *fields) set(name string, value []byte) {
	i := slices.IndexFunc(f.all, func(o bindings.Field) bool { return o.Name == name })
	f.all[i].Value = value
}

// faultVariable names the fault that TestOneFault runs with.
const faultVariable = "BINDINGTEST_FAULT"

// TestOneFault runs the suite on a binding with the fault that the environment
// names, in a process of its own as it has to fail; with none by default.
func TestOneFault(t *testing.T) {
	fault := faults[os.Getenv(faultVariable)]
	bindingtest.Run(t, func(t *testing.T) bindings.Binding {
		right, err := memory.Driver.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &faulty{}
		if fault.make != nil {
			b = fault.make()
		}
		b.Binding = right
		return b
	}, fault.limits)
}

func TestTheSuiteFindsEveryFault(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			run := exec.Command(self, "-test.run=^TestOneFault$/^sessions$/^"+fault.part+"$")
			run.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("it passes:\n%s", out)
			}
			if !strings.Contains(string(out), "sessions/"+fault.part) {
				t.Errorf("%q does not find it:\n%s", fault.part, out)
			}
		})
	}
}
