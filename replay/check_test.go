package replay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/memory"
	"pianola/replay"
	"pianola/replay/measure"
	"pianola/replay/replaytest"
	"pianola/traces"
	"pianola/traces/payload"
	"pianola/traces/tracetest"
)

// checkedTrace loads 50 records, updates them, reads and scans, at random.
func checkedTrace(order payload.Order) (*traces.Header, []traces.Op) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records, h.Keys.Order = 50, order
	h.Fields.Length.Constant = 40
	h.Phases[1].Mix = []traces.Share{{Kind: traces.Read, Share: "0.5"}, {Kind: traces.Update, Share: "0.5"}}
	ops := tracetest.Inserts(50)
	for i := range uint64(2000) {
		r := payload.Mix(i)
		op := traces.Op{Phase: 1, Due: i * 1_000_000, Key: r % 50, Kind: traces.Read}
		switch r >> 32 % 5 {
		case 0, 1:
			op.Kind, op.Written = traces.Update, traces.FieldSet(r>>40%11)
		case 2:
			op.Kind, op.Written, op.Read = traces.ReadModifyWrite, traces.FieldSet(r>>40%11), traces.FieldSet(r>>45%11)
		case 3:
			op.Kind, op.ScanLength, op.Read = traces.Scan, uint32(1+r>>50%9), traces.FieldSet(r>>45%11)
		default:
			op.Read = traces.FieldSet(r >> 45 % 11)
		}
		ops = append(ops, op)
	}
	return h, ops
}

// flawed is a database in memory whose answers are tampered with.
type flawed struct {
	bindings.Binding
	// field may change what is given of a READ; row may hide or repeat rows.
	tamper func(kind traces.Kind, key []byte, rows bindings.Rows) bindings.Rows
	// lose says which writes are answered and not done.
	lose func(op *bindings.Op) bool
	// delay is how long an op takes.
	delay func(op *bindings.Op) time.Duration
	clock bindings.Clock
	mu    sync.Mutex
}

func (f *flawed) Open(ctx context.Context, cfg bindings.Config) error {
	f.clock = cfg.Clock
	return f.Binding.Open(ctx, cfg)
}

func (f *flawed) Session(ctx context.Context) (bindings.Session, error) {
	s, err := f.Binding.Session(ctx)
	return &flawedSession{s, f}, err
}

type flawedSession struct {
	bindings.Session
	*flawed
}

func (s *flawedSession) Close() error { return s.Session.Close() }

func (s *flawedSession) Do(ctx context.Context, op *bindings.Op) error {
	given := *op
	s.mu.Lock()
	lost := s.lose != nil && s.lose(op)
	s.mu.Unlock()
	if s.tamper != nil && op.Rows != nil {
		given.Rows = s.tamper(op.Kind, op.Key, op.Rows)
	}
	var err error
	if !lost {
		err = s.Session.Do(ctx, &given)
	}
	if s.delay != nil {
		s.clock.SleepUntil(s.clock.Now() + s.delay(op))
	}
	return err
}

// rowsFuncs is Rows of functions.
type rowsFuncs struct {
	row   func(key []byte)
	field func(name string, value []byte)
}

func (r rowsFuncs) Row(key []byte)                  { r.row(key) }
func (r rowsFuncs) Field(name string, value []byte) { r.field(name, value) }

func flawedRunner(t *testing.T, f *flawed, h *traces.Header, ops []traces.Op) *replay.Runner {
	t.Helper()
	b, err := memory.Driver.New(bindings.Properties{})
	if err != nil {
		t.Fatal(err)
	}
	f.Binding = b
	r := runner(t, &replaytest.Binding{}, h, ops)
	d := memory.Driver
	r.Driver, r.Binding, r.Check, r.Order = &d, f, true, replay.KeyOrder
	return r
}

func TestACheckOfASoundDatabaseFindsNothing(t *testing.T) {
	for _, keys := range []payload.Order{payload.Hashed, payload.Ordered} {
		for _, order := range []replay.Order{replay.KeyOrder, replay.NoOrder} {
			t.Run(fmt.Sprint(keys, order), func(t *testing.T) {
				h, ops := checkedTrace(keys)
				f := &flawed{delay: func(op *bindings.Op) time.Duration {
					return time.Duration(payload.Sum(uint64(op.Deadline), op.Key)%5) * time.Millisecond
				}}
				r := flawedRunner(t, f, h, ops)
				r.Order = order
				res := stepped(t, r)
				c := res.Phases[1].Check
				if c == nil || c.Mismatched+c.Stale != 0 || c.Unchecked != 0 || c.Values < 5000 {
					t.Fatalf("check found %+v", c)
				}
				if load := res.Phases[0].Check; load == nil || load.Values != 0 {
					t.Errorf("check of the load: %+v", load)
				}
				if res.Settings.CheckSample != replay.DefaultCheckSample {
					t.Errorf("sample %d", res.Settings.CheckSample)
				}
			})
		}
	}
}

// Values of every law and scheme are checked; only of short ones that a SCAN
// gave the version isn't known.
func TestValuesOfEveryLawAreChecked(t *testing.T) {
	uniform, err := payload.UniformLength(1, 60)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		change    func(h *traces.Header)
		unchecked bool
	}{
		{"uniform lengths", func(h *traces.Header) { h.Fields.Length = uniform }, true},
		{"compressible", func(h *traces.Header) { h.Fields.Values = payload.Values{Scheme: payload.Compressible, Saving: 600} }, false},
		{"YCSB's integrity", func(h *traces.Header) {
			h.Fields.Values = payload.Values{Scheme: payload.YCSBIntegrity, Keys: h.Keys}
		}, false},
		{"short integrity", func(h *traces.Header) {
			h.Fields.Values, h.Fields.Length.Constant = payload.Values{Scheme: payload.YCSBIntegrity, Keys: h.Keys}, 10
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops := checkedTrace(payload.Ordered)
			c.change(h)
			found := stepped(t, flawedRunner(t, &flawed{}, h, ops)).Phases[1].Check
			if found.Mismatched+found.Stale > 0 || found.Values < 4000 || found.Unchecked > 0 != c.unchecked {
				t.Errorf("%+v", found)
			}
			h, ops = checkedTrace(payload.Ordered)
			c.change(h)
			flip := &flawed{tamper: func(_ traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
				return rowsFuncs{rows.Row, func(name string, value []byte) {
					bad := append([]byte(nil), value...)
					bad[len(bad)-1] ^= 1
					rows.Field(name, bad)
				}}
			}}
			found = stepped(t, flawedRunner(t, flip, h, ops)).Phases[1].Check
			if found.Values > 0 || found.Mismatched < 800 {
				t.Errorf("of flipped bytes: %+v", found)
			}
		})
	}
}

// Each flaw is counted as what it is, and nothing else is.
func TestACheckFindsEachFlaw(t *testing.T) {
	passed := func(rows bindings.Rows) rowsFuncs { return rowsFuncs{rows.Row, rows.Field} }
	reads := func(k traces.Kind) bool { return k == traces.Read }
	for _, c := range []struct {
		name   string
		tamper func(kind traces.Kind, key []byte, rows bindings.Rows) bindings.Rows
		// all ops of this kind are mismatched
		kind traces.Kind
		want string
	}{
		{"a flipped bit", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.field = func(name string, value []byte) {
					bad := append([]byte(nil), value...)
					bad[len(bad)-1] ^= 1
					rows.Field(name, bad)
				}
			}
			return p
		}, traces.Read, "want version"},
		{"a value cut short", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.field = func(name string, value []byte) { rows.Field(name, value[:len(value)-1]) }
			}
			return p
		}, traces.Read, "want version"},
		{"another key's record", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.row = func([]byte) { rows.Row([]byte("user50")) }
			}
			return p
		}, traces.Read, `gave the record of key "user50"`},
		{"no version", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.field = func(name string, _ []byte) { rows.Field(name, make([]byte, 40)) }
			}
			return p
		}, traces.Read, `is "\x00`},
		{"a field too many", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.row = func(key []byte) { rows.Row(key); rows.Field("field10", nil) }
			}
			return p
		}, traces.Read, `gave field "field10", which the trace doesn't have`},
		{"no field", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.field = func(string, []byte) {}
			}
			return p
		}, traces.Read, "gave 0 of "},
		{"a field twice", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if reads(k) {
				p.field = func(name string, value []byte) { rows.Field(name, value); rows.Field(name, value) }
			}
			return p
		}, traces.Read, "twice"},
		{"no record", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			if reads(k) {
				return rowsFuncs{func([]byte) {}, func(string, []byte) {}}
			}
			return rows
		}, traces.Read, "gave no record"},
		{"a scan too long", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if k == traces.Scan {
				p.row = func(key []byte) {
					for range 10 {
						rows.Row(key)
					}
				}
			}
			return p
		}, traces.Scan, "records asked for"},
		{"a foreign key in a scan", func(k traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
			p := passed(rows)
			if k == traces.Scan {
				p.row = func([]byte) { rows.Row([]byte("user007")) }
			}
			return p
		}, traces.Scan, `gave key "user007", which is none of the trace`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ops := checkedTrace(payload.Ordered)
			res := stepped(t, flawedRunner(t, &flawed{tamper: c.tamper}, h, ops))
			found := res.Phases[1].Check
			want := uint64(0)
			for _, k := range res.Phases[1].Kinds {
				if k.Kind == c.kind.String() {
					want = k.Counts.Completed
				}
			}
			if c.kind == traces.Scan && found.Mismatched > 0 && found.Mismatched < want {
				want = found.Mismatched // an empty scan has nothing to be wrong
			}
			if found.Mismatched != want || found.Stale != 0 {
				t.Errorf("%d mismatched and %d stale, want %d and 0", found.Mismatched, found.Stale, want)
			}
			if len(found.First) != 10 || !strings.Contains(strings.Join(found.First, "\n"), c.want) {
				t.Errorf("first %q, want 10, one of which says %q", found.First, c.want)
			}
		})
	}
}

// A write that is answered and not done is found by the next read of what it
// wrote; without an order among ops nobody can tell.
func TestALostUpdateIsStale(t *testing.T) {
	for _, order := range []replay.Order{replay.KeyOrder, replay.NoOrder} {
		h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
		h.Records = 2
		h.Phases[1].Mix = []traces.Share{{Kind: traces.Read, Share: "0.5"}, {Kind: traces.Update, Share: "0.5"}}
		ops := tracetest.Inserts(2)
		for i, kind := range []traces.Kind{traces.Read, traces.Update, traces.Read, traces.Read, traces.Update, traces.Read} {
			ops = append(ops, traces.Op{Phase: 1, Kind: kind, Due: uint64(i) * 1e6, Key: 1})
		}
		updates := 0
		f := &flawed{lose: func(op *bindings.Op) bool {
			if op.Kind == traces.Update {
				updates++
			}
			return op.Kind == traces.Update && updates == 1
		}}
		r := flawedRunner(t, f, h, ops)
		r.Order = order
		c := stepped(t, r).Phases[1].Check
		want := uint64(2)
		if order == replay.NoOrder {
			want = 0
		}
		if c.Stale != want || c.Mismatched != 0 {
			t.Errorf("order %s: %+v, want %d stale", order, c, want)
		}
		if want > 0 && !strings.Contains(c.First[0], "has version 0, the last one written is 2") {
			t.Errorf("%q", c.First)
		}
	}
}

// After a write that may or may not have been done, every version is right, and
// a wrong byte is still wrong.
func TestNothingIsClaimedBehindAWriteThatTimedOut(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records = 1
	ops := append(tracetest.Inserts(1),
		traces.Op{Phase: 1, Kind: traces.Update, Due: 0},
		traces.Op{Phase: 1, Kind: traces.Read, Due: 50e6},
		traces.Op{Phase: 1, Kind: traces.Update, Due: 60e6},
		traces.Op{Phase: 1, Kind: traces.Read, Due: 70e6})
	updates := 0
	f := &flawed{
		lose: func(op *bindings.Op) bool {
			if op.Kind == traces.Update {
				updates++
			}
			return op.Kind == traces.Update && updates == 1
		},
		delay: func(op *bindings.Op) time.Duration {
			if op.Kind == traces.Update && updates == 1 {
				return 20 * time.Millisecond
			}
			return 0
		},
	}
	r := flawedRunner(t, f, h, ops)
	r.Deadline = 10 * time.Millisecond
	res := stepped(t, r)
	if c := res.Phases[1].Check; c.Stale+c.Mismatched != 0 || c.Values != 20 {
		t.Errorf("%+v", c)
	}
	if got := total(t, &res.Phases[1]).Counts; got.Censored != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestASampleBoundsTheKeysWhoseVersionsAreFollowed(t *testing.T) {
	h, ops := checkedTrace(payload.Hashed)
	f := &flawed{lose: func(op *bindings.Op) bool { return op.Kind == traces.Update }}
	stale := func(sample int) (uint64, uint64) {
		r := flawedRunner(t, f, h, ops)
		r.CheckSample = sample
		c := stepped(t, r).Phases[1].Check
		if c.Mismatched != 0 {
			t.Errorf("sample %d: %+v", sample, c)
		}
		return c.Stale, c.Unchecked
	}
	all, unchecked := stale(50)
	if all < 100 || unchecked != 0 {
		t.Fatalf("%d stale, %d unchecked in a sample of all", all, unchecked)
	}
	some, unchecked := stale(10)
	if some == 0 || some > all/2 || unchecked == 0 {
		t.Errorf("%d stale of %d and %d values unchecked, in a sample of a fifth", some, all, unchecked)
	}
}

func TestValuesTooShortForAVersionAreCheckedWhereTheyNeverChange(t *testing.T) {
	h := tracetest.Header(tracetest.Load(), tracetest.Run(1000))
	h.Records, h.Fields.Length.Constant = 20, 8
	ops := append(tracetest.Inserts(20), tracetest.Reads(1, 100, time.Millisecond, 20)...)
	ops = append(ops,
		traces.Op{Phase: 1, Kind: traces.Insert, Key: 20, Due: 200e6},
		traces.Op{Phase: 1, Kind: traces.Read, Key: 20, Due: 201e6},
		traces.Op{Phase: 1, Kind: traces.Scan, Key: 0, ScanLength: 100, Due: 202e6})
	if c := stepped(t, flawedRunner(t, &flawed{}, h, ops)).Phases[1].Check; c.Values != 1000+10+210 || c.Unchecked+c.Mismatched+c.Stale != 0 {
		t.Errorf("%+v", c)
	}
	flip := &flawed{tamper: func(_ traces.Kind, _ []byte, rows bindings.Rows) bindings.Rows {
		return rowsFuncs{rows.Row, func(name string, value []byte) { rows.Field(name, []byte("00000000")) }}
	}}
	if c := stepped(t, flawedRunner(t, flip, h, ops)).Phases[1].Check; c.Values != 0 || c.Mismatched != 102 {
		t.Errorf("%+v", c)
	}
}

func TestWhatCantBeCheckedIsRefused(t *testing.T) {
	h, ops := checkedTrace(payload.Ordered)
	short, _ := checkedTrace(payload.Ordered)
	short.Fields.Length.Constant = 15
	unloaded := tracetest.Header(tracetest.Run(1000))
	for _, c := range []struct {
		want   string
		header *traces.Header
		ops    []traces.Op
		change func(r *replay.Runner)
	}{
		{"loads all of it", h, ops, func(r *replay.Runner) { r.Phases = replay.RunOnly }},
		{"loads all of it", h, ops, func(r *replay.Runner) { r.Resume = true }},
		{"carry no version", short, ops, func(*replay.Runner) {}},
		{"has no phase load", unloaded, tracetest.Reads(0, 10, time.Millisecond, 10), func(*replay.Runner) {}},
		{"null keeps nothing", h, ops, func(r *replay.Runner) {
			r.Driver, r.Binding = nullRunner(t, h, ops).Driver, nullRunner(t, h, ops).Binding
		}},
		{"can't tell whether the table is empty", h, ops, func(r *replay.Runner) { r.Driver = (&replaytest.Binding{}).Driver() }},
	} {
		r := flawedRunner(t, &flawed{}, c.header, c.ops)
		c.change(r)
		if _, err := r.Run(t.Context()); !errors.Is(err, replay.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestContentsReadBackAreThoseOfTheOracle(t *testing.T) {
	h, ops := checkedTrace(payload.Hashed)
	back := func(f *flawed) *measure.Contents {
		r := flawedRunner(t, f, h, ops)
		r.ReadBack = true
		return stepped(t, r).Contents
	}
	want := back(&flawed{})
	if want.Records != 50 || len(want.Digest) != 64 {
		t.Fatalf("%+v", want)
	}
	// Where nothing overtakes on a key, it doesn't matter how long ops take.
	if got := back(&flawed{delay: func(op *bindings.Op) time.Duration { return time.Duration(len(op.Write)) * time.Millisecond }}); *got != *want {
		t.Errorf("%+v, want %+v", got, want)
	}
	n := 0
	lost := &flawed{lose: func(op *bindings.Op) bool {
		if op.Kind == traces.Update {
			n++
		}
		return op.Kind == traces.Update && n >= 700
	}}
	if got := back(lost); n < 700 || got.Digest == want.Digest {
		t.Errorf("losing the updates from 700 to %d gives the same digest", n)
	}
}
