package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"pianola/bindings"
	"pianola/bindings/hbase/wire"
	hbasev1 "pianola/proto/hbase/v1"
)

// wallClock counts real time.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration          { return time.Since(c.start) }
func (c wallClock) SleepUntil(at time.Duration) { time.Sleep(at - c.Now()) }

// listening runs a server in the test's words: serve is given each connection
// behind its hello.
func listening(t *testing.T, serve func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				hello := make([]byte, len(wire.Hello("test", wire.ClientService)))
				if _, err := io.ReadFull(conn, hello); err == nil {
					serve(conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// nextCall reads a call and returns its number.
func nextCall(conn net.Conn) (uint32, error) {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(conn, frame); err != nil {
		return 0, err
	}
	var header hbasev1.RequestHeader
	err := proto.Unmarshal(frame[1:1+frame[0]], &header)
	return header.GetCallId(), err
}

func frameOf(header *hbasev1.ResponseHeader, message []byte) []byte {
	h, err := proto.Marshal(header)
	if err != nil {
		panic(err)
	}
	frame := append(binary.AppendUvarint(nil, uint64(len(h))), h...)
	if header.Exception == nil {
		frame = append(binary.AppendUvarint(frame, uint64(len(message))), message...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

func answerTo(id uint32, message []byte) []byte {
	return frameOf(&hbasev1.ResponseHeader{CallId: &id}, message)
}

func exceptionTo(id uint32, class, text string) []byte {
	return frameOf(&hbasev1.ResponseHeader{CallId: &id, Exception: &hbasev1.Exception{ClassName: &class, StackTrace: &text}}, nil)
}

func dialed(t *testing.T, address string) (*Conn, *Settings) {
	t.Helper()
	s := &Settings{User: "test", Clock: wallClock{time.Now()}, Traffic: &Traffic{}, Timeout: 5 * time.Second}
	c, err := s.Dial(t.Context(), address, wire.ClientService)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, s
}

// result is the answer of a call.
type result struct {
	call    *Call
	message string
	err     error
}

// handler passes answers on.
type handler chan result

func (h handler) Answered(call *Call, r *wire.Response, err error) {
	got := result{call: call, err: err}
	if r != nil {
		got.message = string(r.Message)
	}
	h <- got
}

func newCall(c *Conn, h handler, in time.Duration) *Call {
	return &Call{Request: &wire.Message{Name: "X", Body: &hbasev1.Table{Name: make([]byte, 1000)}}, Handler: h, Deadline: c.clock.Now() + in}
}

// TestAnswersInAnyOrder: many calls, answered backwards, large and small.
func TestAnswersInAnyOrder(t *testing.T) {
	const n = 300
	address := listening(t, func(conn net.Conn) {
		var ids []uint32
		for range n {
			id, err := nextCall(conn)
			if err != nil {
				return
			}
			ids = append(ids, id)
		}
		for i := len(ids) - 1; i >= 0; i-- {
			size := 10
			if i%100 == 0 {
				size = 3 << 20
			}
			conn.Write(answerTo(ids[i], make([]byte, size+i)))
		}
		nextCall(conn)
	})
	c, s := dialed(t, address)
	h := make(handler, n)
	calls := map[*Call]int{}
	for i := range n {
		call := newCall(c, h, time.Minute)
		calls[call] = i
		if err := c.Send(call); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		got := <-h
		i, ok := calls[got.call]
		want := 10 + i
		if i%100 == 0 {
			want = 3<<20 + i
		}
		if !ok || got.err != nil || len(got.message) != want {
			t.Fatalf("call %d, known %v: %d bytes, %v, want %d", i, ok, len(got.message), got.err, want)
		}
		delete(calls, got.call)
	}
	if got := s.Traffic.Calls.Load(); got != n {
		t.Errorf("%d calls are counted", got)
	}
}

// TestAServerThatDoesNotRead: whoever makes calls does not wait for it; calls
// are given up at their deadlines, too many bytes are refused, and when it goes
// on it gets every frame.
func TestAServerThatDoesNotRead(t *testing.T) {
	goOn := make(chan struct{})
	address := listening(t, func(conn net.Conn) {
		<-goOn
		for {
			id, err := nextCall(conn)
			if err != nil {
				return
			}
			conn.Write(answerTo(id, nil))
		}
	})
	c, s := dialed(t, address)
	large := &wire.Message{Name: "X", Body: &hbasev1.Table{Name: make([]byte, 1<<20)}}
	h := make(handler, 1000)
	sent := 0
	var refused error
	for refused == nil && sent < 1000 {
		call := newCall(c, h, 300*time.Millisecond)
		call.Request = large
		if refused = c.Send(call); refused == nil {
			sent++
		}
	}
	if refused != ErrNotRead && refused != ErrTimeout || bindings.ClassOf(Classed(refused)) == bindings.Other {
		t.Fatalf("after %d calls of 1 MiB: %v", sent, refused)
	}
	for range sent {
		if got := <-h; got.err != ErrTimeout {
			t.Fatalf("%v, want %v", got.err, ErrTimeout)
		}
	}
	close(goOn)
	last := newCall(c, h, time.Minute)
	for c.Send(last) == ErrNotRead {
		time.Sleep(time.Millisecond)
	}
	if got := <-h; got.err != nil || got.call != last {
		t.Fatalf("once it reads: %v", got.err)
	}
	if got := s.Traffic.Late.Load(); got != uint64(sent) {
		t.Errorf("%d answers of %d calls came late", got, sent)
	}
	if s.Traffic.GivenUp.Load() < uint64(sent) || s.Traffic.Held.Load() == 0 {
		t.Errorf("%d given up, %d writes held", s.Traffic.GivenUp.Load(), s.Traffic.Held.Load())
	}
}

func TestWhatEndsAConnection(t *testing.T) {
	const fatal = "org.apache.hadoop.hbase.security.AccessDeniedException"
	whole := answerTo(77, make([]byte, 100))
	for _, c := range []struct {
		name  string
		bytes []byte
		class bindings.Class
		text  string
	}{
		{"nothing", nil, bindings.Unavailable, "has written why to its log"},
		{"half a frame", whole[:20], bindings.Unavailable, "has written why to its log"},
		{"a frame too large", []byte{0xff, 0xff, 0xff, 0xff, 0}, bindings.Unavailable, "4294967295 bytes"},
		{"an empty frame", []byte{0, 0, 0, 0}, bindings.Unavailable, "header"},
		{"Kerberos", exceptionTo(wire.FatalCall, fatal, fatal+": Authentication is required\n\tat x"), bindings.Unauthorised, "wants Kerberos"},
		{"a wrong version", exceptionTo(wire.FatalCall, "org.apache.hadoop.hbase.ipc.FatalConnectionException", ""), bindings.Other, "FatalConnectionException"},
	} {
		address := listening(t, func(conn net.Conn) {
			if _, err := nextCall(conn); err == nil {
				conn.Write(c.bytes)
			}
		})
		conn, _ := dialed(t, address)
		err := conn.Ask(t.Context(), "X", &hbasev1.Table{}, nil)
		if err = Classed(err); err == nil || bindings.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		var broken *BrokenError
		if err := conn.Send(newCall(conn, nil, time.Minute)); !errors.As(err, &broken) || conn.Err() == nil {
			t.Errorf("%s: a call behind it: %v", c.name, err)
		}
	}
}

func TestExceptions(t *testing.T) {
	const prefix = "org.apache.hadoop.hbase."
	for class, want := range map[string]bindings.Class{
		"CallQueueTooBigException": bindings.Overloaded, "RegionTooBusyException": bindings.Overloaded,
		"quotas.RpcThrottlingException": bindings.Overloaded, "NotServingRegionException": bindings.Unavailable,
		"exceptions.RegionMovedException": bindings.Unavailable, "PleaseHoldException": bindings.Unavailable,
		"security.AccessDeniedException": bindings.Unauthorised, "UnknownScannerException": bindings.Unavailable,
		"FooException": bindings.Other,
	} {
		address := listening(t, func(conn net.Conn) {
			id, err := nextCall(conn)
			if err == nil {
				conn.Write(exceptionTo(id, prefix+class, prefix+class+": because\n\tat a.b.C"))
			}
			nextCall(conn)
		})
		c, _ := dialed(t, address)
		err := Classed(c.Ask(t.Context(), "X", &hbasev1.Table{}, nil))
		name := class[strings.LastIndex(class, ".")+1:]
		if bindings.ClassOf(err) != want || !strings.HasSuffix(err.Error(), name+": because") {
			t.Errorf("%s: %v, want %v", class, err, want)
		}
	}
	e := remoteError(&hbasev1.Exception{ClassName: proto.String("x.Y"), DoNotRetry: proto.Bool(true), StackTrace: proto.String(strings.Repeat("z", 1000))})
	if e.Class() != bindings.Invalid || len(e.Error()) > 400 || e.Elsewhere() {
		t.Errorf("%v is of class %v", e, e.Class())
	}
	e = remoteError(&hbasev1.Exception{ClassName: proto.String("x.Y"), ServerOverloaded: proto.Bool(true), Host: proto.String("h"), Port: proto.Int32(7)})
	if e.Class() != bindings.Overloaded || e.Moved != "h:7" || e.Error() != "Y" {
		t.Errorf("%+v is of class %v", e, e.Class())
	}
}

func TestCancelAndClose(t *testing.T) {
	address := listening(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	c, _ := dialed(t, address)
	h := make(handler, 10)
	call, left := newCall(c, h, time.Minute), newCall(c, h, time.Minute)
	for _, call := range []*Call{call, left} {
		if err := c.Send(call); err != nil {
			t.Fatal(err)
		}
	}
	c.Cancel(call, context.Canceled)
	c.Cancel(call, context.Canceled) // it is answered
	if got := <-h; got.call != call || got.err != context.Canceled {
		t.Errorf("cancelled: %v", got.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Ask(ctx, "X", &hbasev1.Table{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with a cancelled context: %v", err)
	}
	if err := c.Send(newCall(c, h, -1)); err != ErrTimeout {
		t.Errorf("a call that is late already: %v", err)
	}
	c.Close()
	c.Close()
	if got := <-h; got.call != left || !errors.Is(got.err, net.ErrClosed) {
		t.Errorf("closed: %v", got.err)
	}
	if len(h) > 0 {
		t.Errorf("%d answers too many", len(h))
	}
	if _, err := (&Settings{Clock: c.clock, Traffic: &Traffic{}}).Dial(t.Context(), address+"0", "X"); err == nil {
		t.Error("there is a server where none can be")
	}
}

// TestCallsAllocateNothing in steady state, made and answered.
func TestCallsAllocateNothing(t *testing.T) {
	address := listening(t, func(conn net.Conn) {
		// In words that allocate nothing either: the number of a call is in its
		// header, behind a length of four bytes, one of one, and a tag.
		head, answer := make([]byte, 4096), append([]byte(nil), answerTo(1<<20, make([]byte, 1000))...)
		for {
			if _, err := io.ReadFull(conn, head[:4]); err != nil {
				return
			}
			n := binary.BigEndian.Uint32(head)
			if _, err := io.ReadFull(conn, head[:n]); err != nil {
				return
			}
			copy(answer[6:], head[2:5]) // three bytes of a varint
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	})
	c, _ := dialed(t, address)
	c.pending.last = 1 << 20 // numbers of three bytes
	h := make(handler, 1)
	call := newCall(c, h, time.Minute)
	call.Request = &wire.Get{Row: []byte("row"), Region: make([]byte, 50), Family: "f"}
	var quiet countingHandler
	quiet.done = make(chan struct{}, 1)
	call.Handler = &quiet
	if n := testing.AllocsPerRun(500, func() {
		if err := c.Send(call); err != nil {
			t.Fatal(err)
		}
		<-quiet.done
	}); n != 0 {
		t.Errorf("%v allocations for a call", n)
	}
	if quiet.bytes != 1000*quiet.n || quiet.n < 500 {
		t.Errorf("%d answers of %d bytes", quiet.n, quiet.bytes)
	}
}

type countingHandler struct {
	n, bytes int
	done     chan struct{}
}

func (h *countingHandler) Answered(_ *Call, r *wire.Response, err error) {
	if err != nil {
		panic(fmt.Sprint("answered with ", err))
	}
	h.n++
	h.bytes += len(r.Message)
	h.done <- struct{}{}
}
