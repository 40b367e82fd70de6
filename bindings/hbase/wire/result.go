package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Row is what a Get has read.
type Row struct {
	// Cells is how many there are. They lie in a block, or each as a message.
	Cells int
	// Exists answers a Get with ExistenceOnly.
	Exists bool

	block, result []byte
}

var errCells = errors.New("the number of cells is not the one stated")

// ParseGet sets row to the answer of a Get.
func (row *Row) ParseGet(r *Response) error {
	*row = Row{}
	f := fields{rest: r.Message}
	for f.next() {
		if f.is(1, protowire.BytesType) {
			row.result = f.bytes
		}
	}
	if f.err != nil {
		return fmt.Errorf("answer of Get: %w", f.err)
	}
	inBlock, inMessage := uint64(0), 0
	f = fields{rest: row.result}
	for f.next() {
		switch {
		case f.is(1, protowire.BytesType):
			inMessage++
		case f.is(2, protowire.VarintType):
			inBlock = f.value
		case f.is(3, protowire.VarintType):
			row.Exists = f.value != 0
		}
	}
	switch {
	case f.err != nil:
		return fmt.Errorf("answer of Get: %w", f.err)
	case inBlock > uint64(len(r.Cells)/cellHead), inBlock == 0 != (len(r.Cells) == 0), inBlock > 0 && inMessage > 0:
		return fmt.Errorf("answer of Get: %d cells in %d bytes, %d in the message: %w", inBlock, len(r.Cells), inMessage, errCells)
	}
	row.Cells, row.block = inMessage+int(inBlock), r.Cells
	return nil
}

// Next sets c to the next cell of the row; false behind the last.
func (row *Row) Next(c *Cell) (bool, error) {
	if row.Cells == 0 {
		if len(row.block) > 0 {
			return false, errCells
		}
		return false, nil
	}
	row.Cells--
	if len(row.block) > 0 {
		var err error
		row.block, err = c.Cut(row.block)
		return err == nil, err
	}
	f := fields{rest: row.result}
	for f.next() {
		if f.is(1, protowire.BytesType) {
			row.result = f.rest
			err := c.parse(f.bytes)
			return err == nil, err
		}
	}
	return false, errCells
}

// ParseMutate returns whether the change was made: it isn't if a condition did
// not hold.
func ParseMutate(r *Response) (processed bool, err error) {
	f := fields{rest: r.Message}
	for f.next() {
		if f.is(2, protowire.VarintType) {
			processed = f.value != 0
		}
	}
	if f.err != nil {
		return false, fmt.Errorf("answer of Mutate: %w", f.err)
	}
	return processed, nil
}

// Rows is what a Scan has read.
type Rows struct {
	Scanner uint64
	// More is set if the scanner has more rows to give, MoreInRegion if its
	// region may have some.
	More, MoreInRegion bool
	// Partial is set if the last result is a part of a row, and more of it comes.
	Partial bool
	// Results is how many there are.
	Results int

	// counts and partials are as in the message: each number in a field of its
	// own, or packed, or both.
	message, block []byte
	counts         packed
	left           uint64 // cells of the result that Next is in
}

// packed goes through the numbers of a repeated field of a message.
type packed struct {
	number  protowire.Number
	message fields
	inside  []byte
}

// next returns the next number; false behind the last.
func (p *packed) next() (v uint64, ok bool, err error) {
	for {
		if len(p.inside) > 0 {
			v, n := protowire.ConsumeVarint(p.inside)
			if n < 0 {
				return 0, false, protowire.ParseError(n)
			}
			p.inside = p.inside[n:]
			return v, true, nil
		}
		if !p.message.next() {
			return 0, false, p.message.err
		}
		switch {
		case p.message.is(p.number, protowire.VarintType):
			return p.message.value, true, nil
		case p.message.is(p.number, protowire.BytesType):
			p.inside = p.message.bytes
		}
	}
}

// Fields of a ScanResponse.
const (
	scanCounts, scanScanner, scanMore, scanResult, scanPartials, scanMoreInRegion = 1, 2, 3, 5, 7, 8
)

// ParseScan sets rows to the answer of a Scan.
func (rows *Rows) ParseScan(r *Response) error {
	*rows = Rows{message: r.Message, block: r.Cells}
	results := 0
	f := fields{rest: r.Message}
	for f.next() {
		switch {
		case f.is(scanScanner, protowire.VarintType):
			rows.Scanner = f.value
		case f.is(scanMore, protowire.VarintType):
			rows.More = f.value != 0
		case f.is(scanMoreInRegion, protowire.VarintType):
			rows.MoreInRegion = f.value != 0
		case f.is(scanResult, protowire.BytesType):
			results++
		}
	}
	switch {
	case f.err != nil:
		return fmt.Errorf("answer of Scan: %w", f.err)
	case results > 0:
		return fmt.Errorf("answer of Scan: %d rows in the message, which were to come as a block of cells", results)
	}
	if err := rows.count(); err != nil {
		return fmt.Errorf("answer of Scan: %w", err)
	}
	rows.counts = rows.numbers(scanCounts)
	return nil
}

func (rows *Rows) numbers(number protowire.Number) packed {
	return packed{number: number, message: fields{rest: rows.message}}
}

// count counts results and cells.
func (rows *Rows) count() error {
	counts, cells := rows.numbers(scanCounts), uint64(0)
	for {
		n, ok, err := counts.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if cells += n; n == 0 || n > uint64(len(rows.block)) || cells > uint64(len(rows.block)/cellHead) {
			return errCells
		}
		rows.Results++
	}
	if cells == 0 && len(rows.block) > 0 {
		return errCells
	}
	for partials := rows.numbers(scanPartials); ; {
		partial, ok, err := partials.next()
		if err != nil || !ok {
			return err
		}
		rows.Partial = partial != 0
	}
}

// Next sets c to the next cell, and first to whether it is the first of its
// result; false behind the last.
func (rows *Rows) Next(c *Cell) (first, ok bool, err error) {
	if rows.left == 0 {
		if rows.left, ok, err = rows.counts.next(); err != nil {
			return false, false, err
		}
		if !ok {
			if len(rows.block) > 0 {
				return false, false, errCells
			}
			return false, false, nil
		}
		first = true
	}
	rows.left--
	rows.block, err = c.Cut(rows.block)
	return first, err == nil, err
}
