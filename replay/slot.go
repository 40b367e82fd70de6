package replay

import (
	"sync"
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/traces"
)

// slot is the permission for one op in flight, with the memory for its bytes.
// Its fields but state and deadline belong to whoever has the slot; while an
// op is in flight they change no more.
type slot struct {
	op     bindings.Op
	number int
	// What the trace says of the op.
	trace traces.Op
	// Instants of the op in flight, from the phase's start.
	due, keyFree, ready, start time.Duration
	// unwritten: no insert of the trace wrote the key before this op.
	unwritten bool
	// version of the values that the op writes.
	version uint64
	// reading checks what the op reads; nil if nothing is checked.
	reading *reading
	// raced: the key's insert was unacknowledged when the op started.
	raced bool
	// overtaken: a later DELETE of the key was sent before the op was answered.
	overtaken atomic.Bool
	// freeAt is the instant at which the slot became free.
	freeAt time.Duration

	// state is a slotState in the low two bits and the number of ops the slot
	// has had above them, so that one op's state is never taken for another's.
	state atomic.Uint64
	// deadline of the op in flight, from the phase's start.
	deadline atomic.Int64

	key    []byte
	values []byte
	fields []bindings.Field
	// session is the slot's own if the binding is blocking.
	session bindings.Session
	turn    chan struct{}
}

// slotState is what the slot's op is at.
type slotState uint64

const (
	idle slotState = iota
	inFlight
	// expiring: the watch is counting the op as censored.
	expiring
	// expired: the op was counted as censored; its answer counts no more.
	expired
)

const stateBits = 2

func stateOf(word uint64) slotState { return slotState(word & (1<<stateBits - 1)) }

// begin marks the op as in flight.
func (s *slot) begin(deadline time.Duration) {
	s.deadline.Store(int64(deadline))
	word := s.state.Load()
	s.state.Store((word>>stateBits+1)<<stateBits | uint64(inFlight))
}

// end takes the op out of flight. It reports false if the op was counted as
// censored before.
func (s *slot) end() bool {
	word := s.state.Load()
	if stateOf(word) == inFlight && s.state.CompareAndSwap(word, word&^(1<<stateBits-1)) {
		return true
	}
	for stateOf(s.state.Load()) == expiring {
		time.Sleep(10 * time.Microsecond) // the watch is copying the slot's op
	}
	word = s.state.Load()
	s.state.Store(word &^ (1<<stateBits - 1))
	return false
}

// expire counts an op that is past its deadline, if there is one.
func (s *slot) expire(now time.Duration, count func(s *slot)) {
	word := s.state.Load()
	if stateOf(word) != inFlight || time.Duration(s.deadline.Load()) > now {
		return
	}
	if s.state.CompareAndSwap(word, word&^(1<<stateBits-1)|uint64(expiring)) {
		count(s)
		s.state.Store(word&^(1<<stateBits-1) | uint64(expired))
	}
}

// builder makes the bytes of ops.
type builder struct {
	header *traces.Header
	names  []string
}

func newBuilder(h *traces.Header) *builder {
	b := &builder{header: h}
	for i := range h.Fields.Count {
		b.names = append(b.names, h.Fields.Name(i))
	}
	return b
}

// build fills s.op from s.trace. version is that of the values it writes.
func (b *builder) build(s *slot, version uint64) {
	op := &s.trace
	s.key = b.header.Keys.Append(s.key[:0], op.Key)
	s.op = bindings.Op{
		Kind: op.Kind, Table: b.header.Table, Key: s.key, ScanLength: int(op.ScanLength), Slot: s.number,
	}
	if op.Kind.Reads() {
		if i, one := op.Read.Index(); one {
			s.op.Read = b.names[i : i+1]
		}
	}
	if !op.Kind.Writes() {
		return
	}
	first, limit := 0, len(b.names)
	if i, one := op.Written.Index(); one {
		first, limit = i, i+1
	}
	fields := &b.header.Fields
	if need := (limit - first) * fields.Length.Max(); cap(s.values) < need {
		s.values = make([]byte, 0, need)
	}
	s.values, s.fields = s.values[:0], s.fields[:0]
	for i := first; i < limit; i++ {
		at := len(s.values)
		s.values = fields.Append(s.values, b.header.Seed, op.Key, i, version)
		s.fields = append(s.fields, bindings.Field{Name: b.names[i], Value: s.values[at:len(s.values):len(s.values)]})
	}
	s.op.Write = s.fields
}

// slotQueue holds the free slots, longest free first. Anyone may put, one
// goroutine takes.
type slotQueue struct {
	mu      sync.Mutex
	ring    []*slot
	head, n int
	waiting bool
	wake    chan struct{}
}

func newSlotQueue(slots []*slot) *slotQueue {
	q := &slotQueue{ring: make([]*slot, len(slots)), wake: make(chan struct{}, 1)}
	for _, s := range slots {
		q.put(s)
	}
	return q
}

func (q *slotQueue) put(s *slot) {
	q.mu.Lock()
	q.ring[(q.head+q.n)%len(q.ring)] = s
	q.n++
	wake := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if wake {
		q.wake <- struct{}{}
	}
}

// take returns the slot that is free longest, or nil; then the next put sends
// on q.wake, unless take or giveUp is called before.
func (q *slotQueue) take() *slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		q.waiting = true
		return nil
	}
	s := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return s
}

// takeNow is take for somebody who will not wait.
func (q *slotQueue) takeNow() *slot {
	s := q.take()
	if s == nil {
		q.giveUp()
	}
	return s
}

// giveUp ends the wait that a take began.
func (q *slotQueue) giveUp() {
	q.mu.Lock()
	waiting := q.waiting
	q.waiting = false
	q.mu.Unlock()
	if !waiting {
		<-q.wake // a put was under way
	}
}

// lead is passed among the goroutines of a blocking binding: the one that has
// it claims ops and waits for due times. It goes to the one whose slot is free
// longest.
type lead struct {
	mu      sync.Mutex
	free    bool
	waiting []*slot
	head    int
}

// acquire returns when the goroutine of s has the lead.
func (l *lead) acquire(s *slot) {
	l.mu.Lock()
	if l.free {
		l.free = false
		l.mu.Unlock()
		return
	}
	l.waiting = append(l.waiting, s)
	l.mu.Unlock()
	<-s.turn
}

// try takes the lead if nobody has it and nobody waits for it: every slot is
// busy then.
func (l *lead) try() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.free
	l.free = false
	return free
}

// pass gives the lead away.
func (l *lead) pass() {
	l.mu.Lock()
	if l.head == len(l.waiting) {
		l.free = true
		l.mu.Unlock()
		return
	}
	s := l.waiting[l.head]
	l.waiting[l.head] = nil
	l.head++
	if l.head == len(l.waiting) {
		l.waiting, l.head = l.waiting[:0], 0
	} else if l.head > 4096 {
		l.waiting = append(l.waiting[:0], l.waiting[l.head:]...)
		l.head = 0
	}
	l.mu.Unlock()
	s.turn <- struct{}{}
}
