// Package wire is the native protocol of HBase, as bytes: what a connection
// begins with, frames, the calls that operations are made of and the one that
// does many at a time, and cells. It reads and writes no socket.
//
// What operations need is encoded and decoded by hand, in place and without
// memory of its own; tests hold it against code generated from
// proto/hbase/v1. Everything else goes by that code, through Message.
//
// Sources: the .proto files of hbase-protocol-shaded 2.6 for numbers and types,
// the class KeyValueCodec of hbase-common for cells, and bytes that a server of
// version 2.6.4 has sent or taken, which are in the tests.
package wire

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	hbasev1 "pianola/proto/hbase/v1"
)

// The services of a server; a connection is for one of them.
const (
	ClientService   = "ClientService"     // rows, on region servers
	RegistryService = "ClientMetaService" // where to begin, on all servers
	MasterService   = "MasterService"     // tables, on the master
)

// codec is the form of the cells behind a message.
const codec = "org.apache.hadoop.hbase.codec.KeyValueCodec"

// MaxFrame bounds a frame in bytes. HBase refuses larger requests too
// (hbase.ipc.max.request.size).
const MaxFrame = 256 << 20

// Hello returns what a connection for a user and a service begins with.
// Without a version the server speaks to it as to a client of old.
func Hello(user, service string) []byte {
	header, err := proto.Marshal(&hbasev1.ConnectionHeader{
		User: &hbasev1.User{Name: &user}, Service: &service, CellCodec: proto.String(codec),
		Version: &hbasev1.Version{
			Version: proto.String("2.6.4"), Url: proto.String(""), Revision: proto.String(""), User: proto.String(""),
			Date: proto.String(""), Checksum: proto.String(""), Major: proto.Uint32(2), Minor: proto.Uint32(6),
		},
	})
	if err != nil {
		panic("wire: internal error: " + err.Error()) // strings that are not UTF-8 pass in proto2
	}
	// The magic, version 0 and simple authentication.
	b := append([]byte("HBas"), 0, 0x50)
	b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
	return append(b, header...)
}

// Request is the message of a call.
type Request interface {
	// Method is the name of what is called.
	Method() string
	// Size is the number of bytes that AppendTo appends.
	Size() int
	AppendTo(b []byte) []byte
}

// Message is a Request by generated code.
type Message struct {
	Name string
	Body proto.Message
}

func (m *Message) Method() string { return m.Name }
func (m *Message) Size() int      { return proto.Size(m.Body) }

func (m *Message) AppendTo(b []byte) []byte {
	b, err := proto.MarshalOptions{}.MarshalAppend(b, m.Body)
	if err != nil {
		panic("wire: internal error: " + err.Error()) // our messages have no required fields
	}
	return b
}

// Fields of a RequestHeader.
const (
	tagCallID     = 1 << 3
	tagMethod     = 3<<3 | 2
	tagHasMessage = 4 << 3
	tagTimeout    = 7 << 3
)

// AppendCall appends the frame of a call. The server drops it, unanswered, if
// it waits there for longer than timeout, in ms; 0 means for ever.
func AppendCall(b []byte, id, timeout uint32, r Request) []byte {
	method, size := r.Method(), r.Size()
	header := 1 + protowire.SizeVarint(uint64(id)) + sizeBytes(len(method)) + 2
	if timeout > 0 {
		header += 1 + protowire.SizeVarint(uint64(timeout))
	}
	total := protowire.SizeBytes(header) + protowire.SizeBytes(size)
	b = binary.BigEndian.AppendUint32(b, uint32(total))
	b = protowire.AppendVarint(b, uint64(header))
	b = protowire.AppendVarint(append(b, tagCallID), uint64(id))
	b = appendString(b, tagMethod, method)
	b = append(b, tagHasMessage, 1)
	if timeout > 0 {
		b = protowire.AppendVarint(append(b, tagTimeout), uint64(timeout))
	}
	return r.AppendTo(protowire.AppendVarint(b, uint64(size)))
}

// FatalCall is the number of the call in an answer that ends the connection.
const FatalCall = 1<<32 - 1

// Response is an answer, as parts of the frame it came in.
type Response struct {
	CallID uint32
	// Exception is nil in an answer that is none.
	Exception *hbasev1.Exception
	Message   []byte
	Cells     []byte
}

// Parse sets r to the answer in a frame, without the length before it.
func (r *Response) Parse(frame []byte) error {
	*r = Response{}
	header, rest, err := cutBytes(frame)
	if err != nil {
		return fmt.Errorf("header of an answer: %w", err)
	}
	var cells uint64
	exception, err := r.parseHeader(header, &cells)
	switch {
	case err != nil:
		return fmt.Errorf("header of an answer: %w", err)
	case exception != nil:
		r.Exception = new(hbasev1.Exception)
		if err := proto.Unmarshal(exception, r.Exception); err != nil {
			return fmt.Errorf("exception of call %d: %w", r.CallID, err)
		}
		return nil // nothing follows it
	}
	if r.Message, rest, err = cutBytes(rest); err != nil {
		return fmt.Errorf("message of call %d: %w", r.CallID, err)
	}
	if uint64(len(rest)) != cells {
		return fmt.Errorf("cells of call %d: %d bytes behind the message, the header says %d", r.CallID, len(rest), cells)
	}
	r.Cells = rest
	return nil
}

func (r *Response) parseHeader(header []byte, cells *uint64) (exception []byte, err error) {
	f := fields{rest: header}
	for f.next() {
		switch {
		case f.is(1, protowire.VarintType):
			r.CallID = uint32(f.value)
		case f.is(2, protowire.BytesType):
			// An empty one is one too.
			if exception = f.bytes; exception == nil {
				exception = []byte{}
			}
		case f.is(3, protowire.BytesType):
			block := fields{rest: f.bytes}
			for block.next() {
				if block.is(1, protowire.VarintType) {
					*cells = block.value
				}
			}
			if block.err != nil {
				return nil, block.err
			}
		}
	}
	return exception, f.err
}
