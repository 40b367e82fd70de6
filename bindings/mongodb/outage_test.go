package mongodb

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/replay/outagetest"
	"pianola/traces"
)

// TestPaused is on the quicker server: the other one takes so much of two
// processors, when it goes on, that the operations due then start late.
func TestPaused(t *testing.T) {
	server := servers.Start(t, "mongodb-java")
	// With a slot for each operation of the pause they all start in it: none has
	// to when the server and the client's goroutines are busiest.
	outagetest.Pause(t, outagetest.Outage{Driver: &Driver, Properties: on(server, "w=1"), Server: server, Rate: 100, Slots: 200})
}

func testKilled(t *testing.T, server *servers.Server) {
	outagetest.Kill(t, outagetest.Outage{Driver: &Driver, Properties: on(server, "w=1"), Server: server, Rate: 100})
}

// testDeadline: an operation on a server that is silent ends at its deadline,
// and the session goes on when it answers again.
func testDeadline(t *testing.T, server *servers.Server) {
	b := opened(t, on(server, ""), 2)
	s := sessionOf(t, b)
	do(t, s, whole(traces.Insert, 1))
	const patience = 300 * time.Millisecond
	server.Pause()
	op := whole(traces.Read, 1)
	start := b.clock.Now()
	op.Deadline = start + patience
	err := s.Do(t.Context(), op)
	took := b.clock.Now() - start
	if bindings.ClassOf(err) != bindings.Timeout || took < patience {
		t.Errorf("a READ that is not answered ends after %v: %v", took, err)
	}
	start = b.clock.Now()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(patience, cancel)
	if err := s.Do(ctx, whole(traces.Read, 1)); err == nil || b.clock.Now()-start < patience {
		t.Errorf("a READ that is cancelled ends after %v: %v", b.clock.Now()-start, err)
	}
	server.Resume()
	do(t, s, whole(traces.Read, 1))
}

// TestAServerThatIsTooOld is told from one that isn't there.
func TestAServerThatIsTooOld(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go beOld(conn)
		}
	}()
	mustFailToOpen(t, bindings.Properties{"mongodb.url": "mongodb://" + l.Addr().String()}, l.Addr().String(), "wire version 8", "oldest server", "MongoDB 4.4")
}

// beOld answers everything as a server of MongoDB 4.2 answers the first
// question: by an OP_REPLY with one document.
func beOld(conn net.Conn) {
	defer conn.Close()
	hello, err := bson.Marshal(bson.D{{Key: "ismaster", Value: true}, {Key: "maxWireVersion", Value: 8}, {Key: "minWireVersion", Value: 0}, {Key: "ok", Value: 1}})
	if err != nil {
		panic(err)
	}
	head := make([]byte, 16)
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(binary.LittleEndian.Uint32(head))-16); err != nil {
			return
		}
		const opReply = 1
		answer := binary.LittleEndian.AppendUint32(nil, uint32(36+len(hello)))
		answer = append(answer, 0, 0, 0, 0)
		answer = append(answer, head[4:8]...)
		answer = binary.LittleEndian.AppendUint32(answer, opReply)
		answer = append(answer, make([]byte, 16)...) // flags, cursor, first document
		answer = binary.LittleEndian.AppendUint32(answer, 1)
		if _, err := conn.Write(append(answer, hello...)); err != nil {
			return
		}
	}
}
