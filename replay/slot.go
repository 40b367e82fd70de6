package replay

import (
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
	// stripe of the recorder that counts the slot's ops.
	stripe int
	// lane that the slot belongs to in this phase; nil if the binding is blocking.
	lane *lane
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
	// deadline of the slot's last op, from the phase's start; 0 before the first.
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

// assign gives s the op to run.
func (s *slot) assign(c *claimed) {
	s.trace, s.unwritten, s.version = c.op, c.unwritten, c.version
	s.due, s.keyFree, s.ready = c.due, c.keyFree, max(c.due, c.keyFree, s.freeAt)
}

// readyFrom makes the op, which has no due time, ready at the given instant or,
// if that is later, when it had its slot and its key. It was due then.
func (s *slot) readyFrom(reached time.Duration) {
	s.ready = max(s.freeAt, reached, s.keyFree)
	s.due = s.ready
}

// begin marks the op as in flight.
func (s *slot) begin() {
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
