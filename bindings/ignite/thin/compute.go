package thin

import (
	"context"
	"fmt"
	"sync"
)

// tasks are the compute tasks whose results have not come yet. The result comes
// as a notification under the task's id, which is in the answer to the request;
// either may come first.
type tasks struct {
	conn    *conn
	mu      sync.Mutex
	waiting map[int64]Receiver
	early   map[int64]*Answer
	// lost: the connection is, and no result will come.
	lost bool
}

// expect has the result of a task go to a receiver. It runs in the reader, so
// no message is taken meanwhile.
func (t *tasks) expect(id int64, to Receiver) {
	t.mu.Lock()
	a, came := t.early[id]
	switch {
	case came:
		delete(t.early, id)
	case t.lost:
		a, came = &Answer{Err: ErrLost}, true
	default:
		if t.waiting == nil {
			t.waiting = map[int64]Receiver{}
		}
		t.waiting[id] = to
	}
	t.mu.Unlock()
	if came {
		to.Receive(a)
	}
}

// finished takes the result of a task.
func (t *tasks) finished(id int64, a *Answer) {
	t.mu.Lock()
	to := t.waiting[id]
	delete(t.waiting, id)
	if to == nil && len(t.early) < maxEarly {
		if t.early == nil {
			t.early = map[int64]*Answer{}
		}
		t.early[id] = &Answer{Decoder: NewDecoder(append([]byte{}, a.Rest()...)), Err: a.Err}
	}
	t.mu.Unlock()
	if to != nil {
		to.Receive(a)
	}
}

func (t *tasks) forget(id int64) {
	t.mu.Lock()
	delete(t.waiting, id)
	t.mu.Unlock()
}

// drain returns all who wait.
func (t *tasks) drain() []Receiver {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Receiver
	for _, to := range t.waiting {
		all = append(all, to)
	}
	t.waiting, t.lost = nil, true
	return all
}

// Execute runs a compute task by the name of its class, which must be on the
// servers, on all server nodes or on those given, and returns what it answers.
// It takes a server whose configuration allows tasks of clients.
func (c *Client) Execute(ctx context.Context, task string, argument any, nodes ...UUID) (any, error) {
	open := c.any()
	if open == nil {
		return nil, fmt.Errorf("task %s: %w", task, ErrNoConnection)
	}
	body := appendInt32(nil, int32(len(nodes)))
	for _, n := range nodes {
		body = appendRawUUID(body, n)
	}
	body = appendInt64(append(body, 0), 0) // no flags, no timeout
	body, err := AppendValue(AppendString(body, task), argument)
	if err != nil {
		return nil, err
	}
	result := newWaiter()
	started := newWaiter()
	var id int64
	started.inReader = func(a *Answer) {
		if a.Err == nil {
			d := a.Decoder
			id = d.Int64()
			open.tasks.expect(id, result)
		}
	}
	t, err := open.send(&request{op: opComputeExecute, body: body}, started)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", task, err)
	}
	a, err := started.wait(ctx)
	if err != nil {
		if a == nil {
			open.leave(t.id)
		}
		return nil, fmt.Errorf("task %s: %w", task, err)
	}
	a, err = result.wait(ctx)
	if err != nil {
		if a == nil {
			// Nobody waits any more: the server may stop as well.
			open.tasks.forget(id)
			open.send(&request{op: OpClose, body: AppendCursor(nil, id)}, newWaiter())
		}
		return nil, fmt.Errorf("task %s: %w", task, err)
	}
	v := a.Value()
	return v, a.Decoder.Err()
}

// NodeIDs returns the ids of the nodes that the client is connected to.
func (c *Client) NodeIDs() []UUID {
	var ids []UUID
	for _, n := range c.nodes {
		if id := n.id.Load(); id != nil {
			ids = append(ids, *id)
		}
	}
	return ids
}
