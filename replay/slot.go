package replay

import (
	"sync/atomic"
	"time"

	"pianola/bindings"
	"pianola/replay/measure"
	"pianola/traces"
)

// slot is the permission for one op in flight, with the memory for its bytes.
// Its fields but state belong to whoever has the slot. While an op is in flight
// only its answer changes them, and what the watch reads not at all.
type slot struct {
	op     bindings.Op
	number int
	// stripe of the recorder that counts the slot's ops.
	stripe int
	// lane that the slot belongs to in this phase; nil if the binding is blocking.
	lane *lane
	// What the trace says of the op.
	trace traces.Op
	// sample holds the instants of the op, and its fate when it has one. recorded
	// says that the fate is counted, or that there is none.
	sample   measure.Sample
	recorded bool
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
	// before is the slot that became free before this one, in the lane's queue of
	// them; alone: no other was free then.
	before *slot
	alone  bool

	// state is a slotState in the lowest bits, then the last bits of the number of
	// ops that the slot has had, so that one op's state is never taken for
	// another's, then the last op's deadline in units of deadlineUnit, rounded down:
	// one store tells the watch of an op.
	state atomic.Uint64
	// deadline of the slot's last op, from the phase's start.
	deadline time.Duration

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

const (
	stateBits    = 2
	numberBits   = 19
	deadlineBits = 64 - stateBits - numberBits
	// deadlineUnit takes any duration into deadlineBits.
	deadlineUnit = time.Duration(1 << (63 - deadlineBits))
)

func stateOf(word uint64) slotState { return slotState(word & (1<<stateBits - 1)) }

// deadlineOf returns the last instant that the deadline in a word of state may
// stand for.
func deadlineOf(word uint64) time.Duration {
	return time.Duration(word>>(stateBits+numberBits))*deadlineUnit + (deadlineUnit - 1)
}

// assign gives s the op to run.
func (s *slot) assign(c *claimed) {
	s.trace, s.unwritten, s.version = c.op, c.unwritten, c.version
	s.sample = measure.Sample{Index: c.op.Index, Kind: c.op.Kind, Due: c.due, KeyFree: c.keyFree, Ready: max(c.due, c.keyFree, s.freeAt)}
}

// readyFrom makes the op, which has no due time, ready at the given instant or,
// if that is later, when it had its slot and its key. It was due then.
func (s *slot) readyFrom(reached time.Duration) {
	s.sample.Ready = max(s.freeAt, reached, s.sample.KeyFree)
	s.sample.Due = s.sample.Ready
}

// announce tells the watch of the deadline of an op that is to begin.
func (s *slot) announce() {
	s.state.Store(uint64(s.deadline/deadlineUnit)<<(stateBits+numberBits) | s.state.Load()&(1<<(stateBits+numberBits)-1))
}

// begin marks the op as in flight.
func (s *slot) begin() {
	number := (s.state.Load()>>stateBits + 1) & (1<<numberBits - 1)
	s.state.Store(uint64(s.deadline/deadlineUnit)<<(stateBits+numberBits) | number<<stateBits | uint64(inFlight))
}

// end takes the op out of flight. It reports false if the op was counted as
// censored before.
func (s *slot) end() bool {
	for {
		word := s.state.Load()
		switch stateOf(word) {
		case inFlight:
			if s.state.CompareAndSwap(word, word&^(1<<stateBits-1)) {
				return true
			}
		case expiring:
			time.Sleep(10 * time.Microsecond) // the watch is copying the slot's op
		default:
			s.state.Store(word &^ (1<<stateBits - 1))
			return false
		}
	}
}

// expire counts an op that is past its deadline, if there is one.
func (s *slot) expire(now time.Duration, count func(s *slot)) {
	word := s.state.Load()
	if stateOf(word) != inFlight || deadlineOf(word) > now {
		return
	}
	idleWord := word &^ (1<<stateBits - 1)
	if !s.state.CompareAndSwap(word, idleWord|uint64(expiring)) {
		return
	}
	count(s)
	s.state.Store(idleWord | uint64(expired))
}

// forgetDeadline is called between phases, whose instants count anew.
func (s *slot) forgetDeadline() { s.state.And(1<<(stateBits+numberBits) - 1) }
