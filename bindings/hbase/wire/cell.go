package wire

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Cell is a value of a row. Its parts lie in the answer it came in.
type Cell struct {
	Row, Family, Qualifier, Value []byte
	Timestamp                     uint64
	Type                          byte
}

var errCell = errors.New("malformed cell")

// Lengths in a block: of a cell, its key and its value; of the row within the
// key, and of what else the key has besides row, family and qualifier.
const (
	cellHead = 4 + 4 + 4
	keyHead  = 2
	keyRest  = 1 + 8 + 1
)

// Cut sets c to the first cell of a block and returns the rest of it.
func (c *Cell) Cut(block []byte) (rest []byte, err error) {
	if len(block) < cellHead {
		return nil, errCell
	}
	size := uint64(binary.BigEndian.Uint32(block))
	keySize, valueSize := uint64(binary.BigEndian.Uint32(block[4:])), uint64(binary.BigEndian.Uint32(block[8:]))
	if size != 8+keySize+valueSize || size > uint64(len(block)-4) {
		return nil, errCell
	}
	key := block[cellHead : cellHead+keySize]
	c.Value = block[cellHead+keySize : 4+size]
	rest = block[4+size:]
	if len(key) < keyHead+keyRest {
		return nil, errCell
	}
	rowSize := int(binary.BigEndian.Uint16(key))
	key = key[keyHead:]
	if rowSize+keyRest > len(key) {
		return nil, errCell
	}
	c.Row, key = key[:rowSize], key[rowSize:]
	familySize := int(key[0])
	key = key[1:]
	if familySize+keyRest-1 > len(key) {
		return nil, errCell
	}
	c.Family, c.Qualifier = key[:familySize], key[familySize:len(key)-9]
	c.Timestamp, c.Type = binary.BigEndian.Uint64(key[len(key)-9:]), key[len(key)-1]
	return rest, nil
}

// parse sets c to a cell that is a message.
func (c *Cell) parse(message []byte) error {
	*c = Cell{}
	f := fields{rest: message}
	for f.next() {
		switch {
		case f.is(1, protowire.BytesType):
			c.Row = f.bytes
		case f.is(2, protowire.BytesType):
			c.Family = f.bytes
		case f.is(3, protowire.BytesType):
			c.Qualifier = f.bytes
		case f.is(4, protowire.VarintType):
			c.Timestamp = f.value
		case f.is(5, protowire.VarintType):
			c.Type = byte(f.value)
		case f.is(6, protowire.BytesType):
			c.Value = f.bytes
		}
	}
	return f.err
}
