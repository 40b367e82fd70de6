package hbase

import (
	"bytes"
	"errors"
	"slices"

	"pianola/bindings"
	"pianola/bindings/hbase/rpc"
	"pianola/bindings/hbase/wire"
)

// scanning is a scan under way. It asks for all rows at once. What an answer
// leaves out is asked for by a scanner that stays open.
type scanning struct {
	request wire.Scan
	// left is how many rows are still wanted.
	left int
	// start is the memory of request.Start.
	start []byte
	// last is the last row that was given, behind which a scan goes on. inside is
	// set if more of it is to come.
	last   []byte
	inside bool
}

func (s *scanning) begin(o *operation, keep *kept) {
	s.left, s.inside = o.op.ScanLength, false
	if s.left <= 0 {
		o.finish(nil)
		return
	}
	s.start = append(s.start[:0], o.op.Key...)
	s.last = s.last[:0]
	s.request = wire.Scan{
		Start: s.start, Family: o.binding.settings.family, Columns: o.op.Read, MaxBytes: o.binding.settings.maxResult, Close: true,
	}
	s.next(o, keep)
}

// rowsMax bounds what is asked for in a call; MaxBytes bounds it before.
const rowsMax = 1 << 30

// next asks for the next rows.
func (s *scanning) next(o *operation, keep *kept) {
	s.request.Rows = uint32(min(max(s.left, 1), rowsMax))
	o.stage, o.call.Request = scanningRows, &s.request
	if s.request.Scanner != 0 {
		s.request.Limit = 0
		conn := o.region.Server.Conn(o.op.Slot)
		if conn == nil || !o.sendTo(o.region, conn, nil) {
			o.finish(errScanner)
		}
		return
	}
	s.request.Limit = s.request.Rows
	o.send(s.request.Start, keep)
}

var errScanner = &bindings.Error{Class: bindings.Unavailable, Err: errors.New("the connection broke in the middle of a scan")}

// restart begins a scan again behind the last row given; false if a part of it
// is still to come, which no new scanner can give.
func (s *scanning) restart() bool {
	if s.inside {
		return false
	}
	if len(s.last) > 0 {
		s.start = append(s.start[:0], s.last...)
		s.request.Start, s.request.Behind = s.start, true
	}
	s.request.Scanner, s.request.Sequence = 0, 0
	s.request.Rows = uint32(min(s.left, rowsMax))
	s.request.Limit = s.request.Rows
	return true
}

// lost names the exceptions of a scanner that is no more.
var lost = []string{"UnknownScannerException", "OutOfOrderScannerNextException", "ScannerResetException"}

// resume opens a new scanner where one was lost.
func (s *scanning) resume(o *operation, remote *rpc.RemoteError) bool {
	if remote == nil || !slices.Contains(lost, remote.Name) || s.request.Scanner == 0 || !s.restart() {
		return false
	}
	o.binding.scanners.Add(1)
	s.next(o, nil)
	return true
}

// answered gives the rows of an answer and decides how to go on.
func (s *scanning) answered(o *operation, r *wire.Response) {
	rows := &o.rows
	err := rows.ParseScan(r)
	// A part of a row in the answer that ended its scanner is worth nothing:
	// the row is read again.
	whole := rows.Results
	if rows.Partial && s.request.Close {
		whole--
	}
	if err == nil {
		err = s.give(o, whole)
	}
	if err != nil {
		o.finish(rpc.Classed(err))
		return
	}
	opened := s.request.Scanner != 0
	if !opened && !s.request.Close {
		s.request.Scanner, s.request.Sequence = rows.Scanner, 0
	} else if opened {
		s.request.Sequence++
	}
	switch {
	case s.left == 0 && !s.inside:
		s.end(o, rows.More && rows.MoreInRegion)
	case rows.MoreInRegion:
		s.goOn(o)
	case len(o.region.End) == 0:
		o.finish(nil)
	default:
		s.start = append(s.start[:0], o.region.End...)
		s.last = s.last[:0]
		s.request.Start, s.request.Behind, s.request.Scanner, s.request.Close = s.start, false, 0, true
		s.next(o, nil)
	}
}

// goOn asks for more of the region.
func (s *scanning) goOn(o *operation) {
	if s.request.Close {
		s.request.Close = false
		s.restart()
	}
	s.next(o, nil)
}

// end closes a scanner that has more to give.
func (s *scanning) end(o *operation, more bool) {
	if s.request.Scanner == 0 || !more {
		o.finish(nil)
		return
	}
	s.request.Rows, s.request.Limit, s.request.Close = 0, 0, true
	o.stage = closingScanner
	conn := o.region.Server.Conn(o.op.Slot)
	if conn == nil || !o.sendTo(o.region, conn, nil) {
		o.finish(nil) // the scanner went with its connection, or expires
	}
}

// give hands over as many results of an answer as are whole, or parts of rows
// that go on.
func (s *scanning) give(o *operation, whole int) error {
	rows, cell, out := &o.rows, &o.cell, o.op.Rows
	results := 0
	for {
		first, ok, err := rows.Next(cell)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if first {
			results++
		}
		if results > whole {
			continue
		}
		if first && !(s.inside && bytes.Equal(cell.Row, s.last)) {
			if s.left == 0 {
				return errTooMany
			}
			s.left--
			s.last = append(s.last[:0], cell.Row...)
			if out != nil {
				out.Row(cell.Row)
			}
		}
		s.inside = false
		if out != nil {
			out.Field(o.binding.name(cell.Qualifier), cell.Value)
		}
	}
	s.inside = rows.Partial && whole == rows.Results
	return nil
}

var errTooMany = errors.New("a scan gave more rows than were asked for")
