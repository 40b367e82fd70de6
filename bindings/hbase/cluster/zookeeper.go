package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/protobuf/proto"

	hbasev1 "pianola/proto/hbase/v1"
)

// ZooKeeper is the Registry of every version: two nodes hold where to begin.
// Servers are asked in turn until one answers; each time with a session of its
// own.
type ZooKeeper struct {
	// Addresses are "host:port"; Parent is the node above the cluster's.
	Addresses []string
	Parent    string
	Timeout   time.Duration
}

func (z *ZooKeeper) Meta(ctx context.Context) (string, error) {
	var node hbasev1.MetaRegionNode
	return z.server(ctx, "/meta-region-server", &node, func() *hbasev1.Server { return node.Server })
}

func (z *ZooKeeper) Master(ctx context.Context) (string, error) {
	var node hbasev1.MasterNode
	return z.server(ctx, "/master", &node, func() *hbasev1.Server { return node.Server })
}

func (z *ZooKeeper) server(ctx context.Context, name string, into message, answer func() *hbasev1.Server) (string, error) {
	path := z.Parent + name
	var all []error
	for _, address := range z.Addresses {
		content, err := z.read(ctx, address, path)
		if err == nil {
			err = parseNode(content, into)
		}
		if err == nil {
			if found, ok := addressOf(answer()); ok {
				return found, nil
			}
			err = errors.New("it names no server")
		}
		all = append(all, fmt.Errorf("%s, node %s: %w", address, path, err))
	}
	return "", fmt.Errorf("%w: %w", errNode, errors.Join(all...))
}

// errNode is of a cluster that has nothing in ZooKeeper, or is not there.
var errNode = errors.New("read from zookeeper")

// parseNode reads what HBase has put into a node: a byte, the length of a name
// and the name, which are passed over, and a message behind its magic.
func parseNode(content []byte, into message) error {
	if len(content) < 5 || content[0] != 0xff {
		return fmt.Errorf("%q is not what HBase writes", content)
	}
	skip := uint64(binary.BigEndian.Uint32(content[1:]))
	if 5+skip+uint64(len(magic)) > uint64(len(content)) || string(content[5+skip:5+skip+4]) != magic {
		return fmt.Errorf("%q is not what HBase writes", content)
	}
	return proto.Unmarshal(content[5+skip+4:], into)
}

// What follows is ZooKeeper's protocol as far as reading a node takes: its
// file zookeeper.jute describes the records.
const (
	zkRead, zkClose = 4, -11 // kinds of requests
	zkNoNode        = -101
	zkNoAuth        = -102
	zkMaxAnswer     = 4 << 20
	zkSession       = 10 * time.Second
)

func (z *ZooKeeper) read(ctx context.Context, address, path string) ([]byte, error) {
	conn, err := (&net.Dialer{Timeout: z.Timeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(z.Timeout)); err != nil {
		return nil, err
	}
	if err := zkOpen(conn); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	request := append(zkHead(1, zkRead), zkString(path)...)
	content, err := zkAsk(conn, append(request, 0)) // no watch
	if err != nil {
		return nil, err
	}
	// Without it the session would last until it expires. The node is read.
	_ = zkSend(conn, zkHead(2, zkClose))
	return content, nil
}

// zkOpen asks for a session.
func zkOpen(conn io.ReadWriter) error {
	var b []byte
	b = binary.BigEndian.AppendUint32(b, 0)                                  // version of the protocol
	b = binary.BigEndian.AppendUint64(b, 0)                                  // last transaction seen
	b = binary.BigEndian.AppendUint32(b, uint32(zkSession/time.Millisecond)) // timeout
	b = binary.BigEndian.AppendUint64(b, 0)                                  // no former session,
	b = binary.BigEndian.AppendUint32(b, 16)                                 // and its password
	b = append(b, make([]byte, 16)...)
	if err := zkSend(conn, b); err != nil {
		return err
	}
	answer, err := zkReceive(conn)
	if err == nil && (len(answer) < 8 || binary.BigEndian.Uint32(answer[4:]) == 0) {
		err = errors.New("it is refused")
	}
	return err
}

// zkAsk sends a request for a node and returns its content.
func zkAsk(conn io.ReadWriter, request []byte) ([]byte, error) {
	if err := zkSend(conn, request); err != nil {
		return nil, err
	}
	answer, err := zkReceive(conn)
	if err != nil {
		return nil, err
	}
	return zkContent(answer)
}

// zkContent reads the answer to zkRead: number, transaction, error, content.
func zkContent(answer []byte) ([]byte, error) {
	if len(answer) < 16 {
		return nil, fmt.Errorf("an answer of %d bytes", len(answer))
	}
	switch code := int32(binary.BigEndian.Uint32(answer[12:])); code {
	case 0:
	case zkNoNode:
		return nil, errors.New("there is no such node")
	case zkNoAuth:
		return nil, errors.New("it may not be read without logging in")
	default:
		return nil, fmt.Errorf("error %d", code)
	}
	if len(answer) < 20 {
		return nil, fmt.Errorf("an answer of %d bytes", len(answer))
	}
	n := int32(binary.BigEndian.Uint32(answer[16:]))
	if n < 0 || int64(n) > int64(len(answer)-20) {
		return nil, fmt.Errorf("a content of %d bytes in an answer of %d", n, len(answer))
	}
	return answer[20 : 20+n], nil
}

func zkHead(number, kind int32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(number)), uint32(kind))
}

func zkString(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func zkSend(w io.Writer, record []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(record))), record...))
	return err
}

func zkReceive(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > zkMaxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes, more than the %d that are taken", n, zkMaxAnswer)
	}
	answer, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(answer) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return answer, err
}
