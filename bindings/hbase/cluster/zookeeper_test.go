package cluster

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	hbasev1 "pianola/proto/hbase/v1"
)

// zookeeper runs one in the test's words: it gives answers to the session and
// then to the first request, and returns what it was asked.
func zookeeper(t *testing.T, answers ...[]byte) (address string, asked chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked = make(chan string, 10)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for _, answer := range answers {
			request, err := zkReceive(conn)
			if err != nil {
				return
			}
			asked <- string(request)
			if zkSend(conn, answer) != nil {
				return
			}
		}
		io.Copy(io.Discard, conn)
	}()
	return l.Addr().String(), asked
}

var zkSessionOpen = binary.BigEndian.AppendUint32(make([]byte, 4, 40), 10_000)

func zkAnswer(code int32, content []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 12), uint32(code))
	return append(binary.BigEndian.AppendUint32(b, uint32(len(content))), content...)
}

func TestZooKeeper(t *testing.T) {
	good := node(t, &hbasev1.MetaRegionNode{Server: &hbasev1.Server{Host: proto.String("h"), Port: proto.Uint32(7)}})
	address, asked := zookeeper(t, zkSessionOpen, zkAnswer(0, good))
	// One that is not there comes first.
	z := &ZooKeeper{Addresses: []string{"127.0.0.1:1", address}, Parent: "/hbase-unsecure", Timeout: 5 * time.Second}
	if got, err := z.Meta(t.Context()); got != "h:7" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	<-asked
	if got := <-asked; !strings.Contains(got, "\x00\x00\x00\x22/hbase-unsecure/meta-region-server\x00") {
		t.Errorf("asked %q", got)
	}
	for want, answers := range map[string][][]byte{
		"there is no such node": {zkSessionOpen, zkAnswer(zkNoNode, nil)},
		"without logging in":    {zkSessionOpen, zkAnswer(zkNoAuth, nil)},
		"error -4":              {zkSessionOpen, zkAnswer(-4, nil)},
		"it is refused":         {make([]byte, 36)},
		"not what HBase writes": {zkSessionOpen, zkAnswer(0, []byte("x"))},
		"it names no server":    {zkSessionOpen, zkAnswer(0, node(t, &hbasev1.MasterNode{}))},
		"an answer of 3 bytes":  {zkSessionOpen, make([]byte, 3)},
		"node /x/master":        {zkSessionOpen, make([]byte, 16)},
	} {
		address, _ := zookeeper(t, answers...)
		z := &ZooKeeper{Addresses: []string{address}, Parent: "/x", Timeout: 5 * time.Second}
		if _, err := z.Master(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := zkReceive(strings.NewReader("\xff\xff\xff\xff")); err == nil || !strings.Contains(err.Error(), "4294967295 bytes") {
		t.Errorf("an answer too large: %v", err)
	}
	if _, err := zkReceive(strings.NewReader("\x00\x00\x00\x09abc")); err == nil {
		t.Error("an answer that ends early: no error")
	}
}
