package traces

import (
	"fmt"

	tracev1 "pianola/proto/trace/v1"
)

// Kind is the kind of one operation. Its numbers are part of the digest.
type Kind uint8

const (
	Read            = Kind(tracev1.Kind_KIND_READ)
	Update          = Kind(tracev1.Kind_KIND_UPDATE)
	Insert          = Kind(tracev1.Kind_KIND_INSERT)
	Scan            = Kind(tracev1.Kind_KIND_SCAN)
	ReadModifyWrite = Kind(tracev1.Kind_KIND_READ_MODIFY_WRITE)
	Delete          = Kind(tracev1.Kind_KIND_DELETE)

	// KindLimit is one more than the greatest Kind: the size of a table
	// indexed by Kind.
	KindLimit = Delete + 1
)

var kindNames = [KindLimit]string{"", "READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE", "DELETE"}

// Valid reports whether k is a kind that this version knows.
func (k Kind) Valid() bool { return k > 0 && k < KindLimit }

// String returns the kind's name as files and reports print it.
func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// Reads reports whether an operation of kind k has a set of fields it reads.
func (k Kind) Reads() bool { return k == Read || k == Scan || k == ReadModifyWrite }

// Writes reports whether an operation of kind k has a set of fields it writes.
func (k Kind) Writes() bool { return k == Update || k == Insert || k == ReadModifyWrite }

// FieldSet is the set of fields an operation reads or writes: AllFields, or
// one field as 1 + its index.
type FieldSet uint32

// AllFields is the set of every field.
const AllFields FieldSet = 0

// OneField is the set of the field with the given index alone.
func OneField(index int) FieldSet { return FieldSet(index + 1) }

// Index returns the index of the set's only field, or false if it is the set
// of all fields.
func (s FieldSet) Index() (int, bool) { return int(s) - 1, s != AllFields }

// Op is one operation.
type Op struct {
	// Index over the whole trace, from 0.
	Index uint64
	// Phase is the index of the op's phase in the header.
	Phase int
	Kind  Kind
	// Due counts ticks from the start of the phase; 0 in an unpaced phase.
	Due uint64
	// Key is the key number.
	Key uint64
	// ScanLength is the number of records asked for, 0 unless Kind is Scan.
	ScanLength uint32
	// Read and Written are the sets of fields; AllFields where the kind does
	// not read or write.
	Read, Written FieldSet
}

// BlockOps is the greatest number of operations in a Block, and the number in
// each chunk of a phase that is hashed apart (see Digest).
const BlockOps = 1 << 16

// Block is a run of consecutive operations of one phase, as columns. Columns
// have one entry for each operation. Due is empty in an unpaced phase;
// ScanLengths, Read and Written may be empty if every entry is 0.
type Block struct {
	// First is the index of the first op over the whole trace, PhaseFirst that
	// over its phase.
	First, PhaseFirst uint64
	Phase             int
	// InsertBase is the key number of the first insert.
	InsertBase uint64
	// VisibleRecords is the number of records that the first op sees: those of the
	// header, the inserts of earlier phases, and of its own those with an index
	// below its own less the header's VisibilityOps. 0 in a load and where
	// VisibilityOps is 0.
	VisibleRecords uint64
	// DeletesBefore is the number of deletes of all ops before the first.
	DeletesBefore uint64

	Kinds         []Kind
	Due           []uint64
	Keys          []uint64
	ScanLengths   []uint32
	Read, Written []FieldSet

	// Ranks are for a Writer alone: the popularity rank of each op whose key has
	// one, by the phase's key map. Without them they are found from the keys,
	// which takes longer, or more room.
	Ranks []uint64
	// Seen is how many more records each op sees than the first; empty if none
	// does. An Encoder needs it; a Reader gives it where keys are stored as ages.
	Seen []uint32
}

// Len returns the number of operations.
func (b *Block) Len() int { return len(b.Kinds) }

// Reset empties the block and keeps its memory.
func (b *Block) Reset() {
	*b = Block{
		Kinds: b.Kinds[:0], Due: b.Due[:0], Keys: b.Keys[:0],
		ScanLengths: b.ScanLengths[:0], Read: b.Read[:0], Written: b.Written[:0],
		Ranks: b.Ranks[:0], Seen: b.Seen[:0],
	}
}

// Op fills op with operation i of the block.
func (b *Block) Op(i int, op *Op) {
	*op = Op{Index: b.First + uint64(i), Phase: b.Phase, Kind: b.Kinds[i], Key: b.Keys[i]}
	if len(b.Due) > 0 {
		op.Due = b.Due[i]
	}
	if len(b.ScanLengths) > 0 {
		op.ScanLength = b.ScanLengths[i]
	}
	if len(b.Read) > 0 {
		op.Read = b.Read[i]
	}
	if len(b.Written) > 0 {
		op.Written = b.Written[i]
	}
}
