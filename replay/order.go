package replay

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pianola/traces"
)

// Order says whether ops on one key may overtake each other.
type Order string

const (
	// NoOrder is the pure open loop: ops start when they are due. It is the
	// default.
	NoOrder Order = "none"
	// KeyOrder starts an op only after the conflicting earlier op on its key
	// ended. Reads don't conflict with reads, and scans take no part.
	KeyOrder Order = "key"
)

// ParseOrder reads the word for an order.
func ParseOrder(s string) (Order, error) {
	switch o := Order(s); o {
	case NoOrder, KeyOrder:
		return o, nil
	}
	return "", fmt.Errorf("order %q: want none or key", s)
}

// parkedMax bounds the ops that wait for their keys. When it is reached no
// further op is claimed until one of them may go.
const parkedMax = 1 << 14

// keyOrder parks ops whose key is busy. An op enters when it is due and leaves
// when its fate is decided; what leaves lets the next ones in, in the order in
// which they were due.
type keyOrder struct {
	mu   sync.Mutex
	keys map[uint64]keyState
	// nodes are the parked and the released ops, as linked lists; a free node
	// is found through free.
	nodes []orderNode
	free  int32
	// parked counts nodes in lists of keys, released those that may go.
	parked       atomic.Int32
	releasedHead int32
	releasedTail int32
	released     atomic.Int32
	wake         chan struct{}
}

// keyState is who holds a key, and who waits for it.
type keyState struct {
	readers    int32
	writing    bool
	head, tail int32 // of the parked ops, noNode if there are none
}

type orderNode struct {
	claim claimed
	next  int32
}

const noNode = -1

func newKeyOrder() *keyOrder {
	return &keyOrder{keys: map[uint64]keyState{}, free: noNode, releasedHead: noNode, releasedTail: noNode, wake: make(chan struct{}, 1)}
}

// orders reports whether ops of kind k take part.
func orders(k traces.Kind) bool { return k != traces.Scan }

// changes reports whether ops of kind k conflict with every other op on the key.
func changes(k traces.Kind) bool { return k != traces.Read }

// enter lets op have its key, or parks it and returns false.
func (o *keyOrder) enter(c *claimed) bool {
	if !orders(c.op.Kind) {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s, busy := o.keys[c.op.Key]
	if !busy {
		s = keyState{head: noNode, tail: noNode}
	}
	if s.head == noNode && s.admits(c.op.Kind) {
		s.hold(c.op.Kind)
		o.keys[c.op.Key] = s
		return true
	}
	n := o.node(c)
	if s.tail == noNode {
		s.head = n
	} else {
		o.nodes[s.tail].next = n
	}
	s.tail = n
	o.keys[c.op.Key] = s
	o.parked.Add(1)
	return false
}

// admits reports whether an op may join those that hold the key.
func (s *keyState) admits(k traces.Kind) bool {
	return !s.writing && (s.readers == 0 || !changes(k))
}

func (s *keyState) hold(k traces.Kind) {
	if changes(k) {
		s.writing = true
	} else {
		s.readers++
	}
}

// leave gives the key of an op back at the given instant.
func (o *keyOrder) leave(op *traces.Op, at time.Duration) {
	if !orders(op.Kind) {
		return
	}
	o.mu.Lock()
	s := o.keys[op.Key]
	if changes(op.Kind) {
		s.writing = false
	} else {
		s.readers--
	}
	let := false
	for s.head != noNode && s.admits(o.nodes[s.head].claim.op.Kind) {
		n := s.head
		node := &o.nodes[n]
		s.hold(node.claim.op.Kind)
		if s.head = node.next; s.head == noNode {
			s.tail = noNode
		}
		node.claim.keyFree, node.next = max(at, node.claim.due), noNode
		o.parked.Add(-1)
		o.release(n)
		let = true
	}
	if s.head == noNode && !s.writing && s.readers == 0 {
		delete(o.keys, op.Key)
	} else {
		o.keys[op.Key] = s
	}
	o.mu.Unlock()
	if let {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
}

// node returns a node that holds c.
func (o *keyOrder) node(c *claimed) int32 {
	n := o.free
	if n == noNode {
		o.nodes = append(o.nodes, orderNode{})
		n = int32(len(o.nodes) - 1)
	} else {
		o.free = o.nodes[n].next
	}
	o.nodes[n] = orderNode{claim: *c, next: noNode}
	return n
}

// release puts a node in the line of those that may go.
func (o *keyOrder) release(n int32) {
	if o.releasedTail == noNode {
		o.releasedHead = n
	} else {
		o.nodes[o.releasedTail].next = n
	}
	o.releasedTail = n
	o.released.Add(1)
}

// take returns the op that was let in first. It has its key.
func (o *keyOrder) take(c *claimed) bool {
	if o.released.Load() == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.releasedHead
	if o.releasedHead = o.nodes[n].next; o.releasedHead == noNode {
		o.releasedTail = noNode
	}
	o.released.Add(-1)
	*c = o.nodes[n].claim
	c.entered = true
	o.nodes[n].next = o.free
	o.free = n
	return true
}

// first returns the op that take would return, and leaves it in line.
func (o *keyOrder) first() (claimed, bool) {
	if o.released.Load() == 0 {
		return claimed{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.nodes[o.releasedHead].claim, true
}

// takeParked returns any op that still waits for its key, at the end of a run.
func (o *keyOrder) takeParked(c *claimed) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, s := range o.keys {
		if s.head == noNode {
			continue
		}
		n := s.head
		*c = o.nodes[n].claim
		if s.head = o.nodes[n].next; s.head == noNode {
			s.tail = noNode
		}
		o.keys[key] = s
		o.parked.Add(-1)
		o.nodes[n].next = o.free
		o.free = n
		return true
	}
	return false
}

// idle reports whether no op waits for its key or for somebody to take it.
func (o *keyOrder) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parked.Load() == 0 && o.released.Load() == 0
}
