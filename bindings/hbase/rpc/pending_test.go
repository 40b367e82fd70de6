package rpc

import (
	"testing"
	"time"
)

// TestNumbers: no two calls under way have one number, and an answer finds its
// own call or none, whatever has been given up meanwhile.
func TestNumbers(t *testing.T) {
	var c calls
	c.last = numberLimit - 500
	under := map[uint32]*Call{}
	for i := range 5000 {
		call := &Call{Deadline: time.Duration(i)}
		id := c.add(call)
		if id >= numberLimit || under[id] != nil {
			t.Fatalf("number %d for call %d", id, i)
		}
		under[id] = call
		if i%3 == 0 {
			for id, call := range under {
				if c.take(id) != call || c.take(id) != nil {
					t.Fatalf("number %d is not its call's", id)
				}
				delete(under, id)
				break
			}
		}
	}
	late := c.takeLate(nil, 4000)
	for id, call := range under {
		if (call.Deadline <= 4000) != (c.take(id) == nil) {
			t.Fatalf("call of deadline %d", call.Deadline)
		}
		if call.Deadline <= 4000 {
			late = late[1:]
		}
	}
	if len(late) > 0 || c.n != 0 || len(c.takeAll()) > 0 {
		t.Errorf("%d calls too many are late, %d are left", len(late), c.n)
	}
	if (&calls{}).take(3) != nil {
		t.Error("a call where none was made")
	}
}
