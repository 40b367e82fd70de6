package thin

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// answerTo returns a message that answers a request.
func answerTo(id int64, flags int16, body []byte) []byte {
	b := appendInt32(nil, int32(10+len(body)))
	return append(appendInt16(appendInt64(b, id), flags), body...)
}

// idleConn returns a connection over nothing.
func idleConn() *conn {
	c := &Client{unsteady: make(chan struct{}, 1)}
	c.topology.Store(&Topology{})
	return newConn(c, &node{}, nil)
}

// TestAnswersInAnyOrder: each goes to its own, whatever else comes between.
func TestAnswersInAnyOrder(t *testing.T) {
	c := idleConn()
	first, second := newWaiter(), newWaiter()
	a, b := c.enter(first, 0), c.enter(second, 0)
	topology := appendInt32(appendInt64(nil, 7), 2)
	failure := AppendString(appendInt32(nil, StatusNoCache), "no cache")
	var stream []byte
	stream = append(stream, answerTo(99, 0, nil)...) // of nobody
	stream = append(stream, answerTo(b, flagTopology|flagError, append(topology, failure...))...)
	stream = append(stream, answerTo(b, 0, nil)...) // a second time
	stream = append(stream, answerTo(a, 0, []byte{1})...)
	half := len(stream) - 3
	rest, err := c.deliver(stream, 0, half)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.ready:
		t.Fatal("half an answer was handed over")
	default:
	}
	if rest, err = c.deliver(stream, rest, len(stream)); rest != len(stream) || err != nil {
		t.Fatalf("%d of %d bytes are taken, %v", rest, len(stream), err)
	}
	if got, err := first.wait(t.Context()); err != nil || !got.Bool() {
		t.Errorf("the first: %v, %v", got, err)
	}
	if _, err := second.wait(t.Context()); statusOf(err) != StatusNoCache {
		t.Errorf("the second: %v", err)
	}
	if n := c.client.Counts(); n.Late != 2 || c.client.Topology() != (Topology{7, 2}) {
		t.Errorf("%+v, topology %v", n, c.client.Topology())
	}
}

// TestAResultThatComesFirst: the server may tell of a task's end before it tells
// the task's id.
func TestAResultThatComesFirst(t *testing.T) {
	c := idleConn()
	result := newWaiter()
	notification := append(appendInt16(nil, int16(opComputeFinished)), typeInt, 5, 0, 0, 0)
	stream := answerTo(77, flagNotification, notification)
	if _, err := c.deliver(stream, 0, len(stream)); err != nil {
		t.Fatal(err)
	}
	c.tasks.expect(77, result)
	if a, err := result.wait(t.Context()); err != nil || a.Value() != int32(5) {
		t.Errorf("%v, %v", a, err)
	}
	// None comes on a connection that is lost.
	c.tasks.drain()
	lost := newWaiter()
	c.tasks.expect(78, lost)
	if _, err := lost.wait(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("on a lost connection: %v", err)
	}
	for id := range int64(2 * maxEarly) {
		c.tasks.finished(1000+id, &Answer{})
	}
	if len(c.tasks.early) > maxEarly {
		t.Errorf("%d results of nobody are kept", len(c.tasks.early))
	}
}

// TestLiesOfAServer: a server that speaks something else, hangs or breaks off is
// named, and costs no more than the connection.
func TestLiesOfAServer(t *testing.T) {
	hello := answerHello()
	for name, c := range map[string]struct {
		says string
		want string
	}{
		"another language":     {"SSH-2.0-x\r\n", "malformed"},
		"nothing":              {"", "handshake"},
		"a huge message":       {string(hello) + "\xff\xff\xff\x7f", "malformed"},
		"a negative length":    {string(hello) + "\xff\xff\xff\xff", "malformed"},
		"less than a header":   {string(hello) + "\x01\x00\x00\x00x", "malformed"},
		"an error cut short":   {string(hello) + string(answerTo(0, flagError, []byte{1})), "malformed"},
		"the end of the world": {string(hello), "connection lost"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					// It reads the handshake and one request.
					io.CopyN(io.Discard, nc, int64(len(appendHello(nil, "", ""))))
					if strings.HasPrefix(c.says, string(hello)) {
						nc.Write(hello)
						io.CopyN(io.Discard, nc, 14)
					}
					io.WriteString(nc, strings.TrimPrefix(c.says, string(hello)))
					nc.Close()
				}
			}()
			client, err := Dial(t.Context(), Options{Addresses: []string{l.Addr().String()}, ConnectTimeout: 10 * time.Second})
			if err == nil {
				defer client.Close()
				_, err = client.CacheNames(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error about %q", err, c.want)
			}
		})
	}
	// One that takes connections and never answers.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Dial(t.Context(), Options{Addresses: []string{l.Addr().String()}, ConnectTimeout: 100 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that never answers: %v", err)
	}
}

func answerHello() []byte {
	body := appendRawUUID(append(AppendBytes([]byte{1}, features), typeUUID), UUID{1, 2})
	return append(appendInt32(nil, int32(len(body))), body...)
}

// TestPendingIsBounded: a server that takes nothing costs memory up to a limit.
func TestPendingIsBounded(t *testing.T) {
	c := idleConn()
	c.corked = true // nobody writes
	body := make([]byte, 1<<20)
	for i := range 100 {
		_, err := c.send(&request{op: OpPut, body: body}, newWaiter())
		if err != nil {
			if !errors.Is(err, ErrFull) || i < 60 {
				t.Errorf("request %d: %v", i, err)
			}
			return
		}
	}
	t.Error("it takes 100 MB")
}

func FuzzConn(f *testing.F) {
	f.Add(answerTo(0, 0, []byte{1}))
	f.Add(answerTo(1, flagTopology|flagError, append(appendInt32(appendInt64(nil, 1), 1), AppendString(appendInt32(nil, 1), "x")...)))
	f.Add(answerTo(5, flagNotification, append(appendInt16(nil, int16(opComputeFinished)), typeNull)))
	f.Add(answerTo(1<<32, 0, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := idleConn()
		for range 4 {
			c.enter(newWaiter(), 0)
		}
		begin := 0
		for _, end := range []int{len(b) / 2, len(b)} {
			var err error
			if begin, err = c.deliver(b, begin, end); err != nil {
				return
			}
			if begin > end {
				t.Fatalf("%d of %d bytes are taken", begin, end)
			}
		}
	})
}
