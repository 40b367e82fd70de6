package traces

import (
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Field numbers of the messages of trace.v1 that are looked at before generated
// code decodes them.
const (
	traceHeader = 1
	traceBlock  = 2
	traceFooter = 3

	headerVersion = 1
	headerPhases  = 12
	headerHints   = 13
	headerVictims = 15
	phaseMix      = 3
	footerBlocks  = 1
	footerPhases  = 2
	totalKinds    = 1
)

// unwrap returns the bytes of the one length-delimited field that data must be.
func unwrap(data []byte, want protowire.Number) ([]byte, error) {
	field, kind, n := protowire.ConsumeTag(data)
	if n < 0 || kind != protowire.BytesType {
		return nil, broken(invFrames, "frame does not hold one field of a trace")
	}
	msg, m := protowire.ConsumeBytes(data[n:])
	if m < 0 || n+m != len(data) || n+m != protowire.SizeTag(field)+protowire.SizeBytes(len(msg)) {
		return nil, broken(invFrames, "frame does not hold exactly one field of a trace")
	}
	if field != want {
		return nil, broken(invFrames, "frame holds field %d of a trace where %d is due", field, want)
	}
	return msg, nil
}

// unmarshal decodes msg and refuses what a Writer does not write: fields that
// this version does not know, at any depth, single fields given twice, zeros,
// numbers longer than they need be. Then no two readers can differ about it.
func unmarshal(msg []byte, into proto.Message) error {
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(msg, into); err != nil {
		return err
	}
	if n := proto.Size(into); n != len(msg) {
		return fmt.Errorf("%d bytes for what %d bytes say: unknown or repeated fields, zeros, or overlong numbers", len(msg), n)
	}
	return nil
}

// fields gives the fields of msg as they are encoded, without their tags, up to
// the first that is malformed.
func fields(msg []byte) iter.Seq2[protowire.Number, []byte] {
	return func(yield func(protowire.Number, []byte) bool) {
		for len(msg) > 0 {
			field, kind, n := protowire.ConsumeTag(msg)
			if n < 0 {
				return
			}
			m := protowire.ConsumeFieldValue(field, kind, msg[n:])
			if m < 0 || !yield(field, msg[n:n+m]) {
				return
			}
			msg = msg[n+m:]
		}
	}
}

// messages gives the bytes of each message that field holds in msg.
func messages(msg []byte, field protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for number, value := range fields(msg) {
			if number != field {
				continue
			}
			if inner, n := protowire.ConsumeBytes(value); n >= 0 && !yield(inner) {
				return
			}
		}
	}
}

// repeats counts how often msg has field.
func repeats(msg []byte, field protowire.Number) int {
	count := 0
	for number := range fields(msg) {
		if number == field {
			count++
		}
	}
	return count
}

// versionOf returns the format version that a header states, 0 if none.
func versionOf(header []byte) uint64 {
	version := uint64(0)
	for number, value := range fields(header) {
		if v, n := protowire.ConsumeVarint(value); number == headerVersion && n > 0 {
			version = v
		}
	}
	return version
}
