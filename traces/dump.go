package traces

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Dump writes the trace as text: `#` lines for the header and each phase, one
// line for each op, and a last `#` line with the digest.
//
// A header line is "# name=value"; those before "# end of digest header" are
// the header part of the digest, in order. A phase begins with "# phase NAME
// paced" or "# phase NAME unpaced". An op's line has, separated by tabs: its
// index over the trace, its phase, its due time in ns from the phase's start
// ("-" if unpaced), its kind, its key as it is sent, and then name=value pairs:
// n= the key number, fields= the fields written, or read where the op only
// reads ("all" or one name), read= the fields a READMODIFYWRITE reads, len= the
// scan length, bytes= the length of each value written. Backslash, tab, CR and
// LF in names and values are written \\, \t, \r and \n.
//
// With asJSON each line is a JSON object with the same names instead; the keys
// of the fixed columns are index, phase, due, kind and key.
func Dump(w io.Writer, r *Reader, asJSON bool) error {
	d := newDumper(w, r, asJSON)
	if err := d.header(); err != nil {
		return dumpError(err)
	}
	if err := d.ops(r, math.MaxUint64); err != nil {
		return err
	}
	if err := d.phasesTo(len(d.h.Phases) - 1); err != nil {
		return dumpError(err)
	}
	if totals, ok := r.Totals(); ok {
		if err := d.line("digest", hex.EncodeToString(totals.Digest[:])); err != nil {
			return dumpError(err)
		}
	}
	if err := d.out.Flush(); err != nil {
		return dumpError(err)
	}
	return nil
}

// DumpPart writes the header and the next ops of r, at most so many, as Dump
// does. The digest is left out: it is that of the whole trace.
func DumpPart(w io.Writer, r *Reader, asJSON bool, ops uint64) error {
	d := newDumper(w, r, asJSON)
	if err := d.header(); err != nil {
		return dumpError(err)
	}
	if err := d.ops(r, ops); err != nil {
		return err
	}
	if err := d.out.Flush(); err != nil {
		return dumpError(err)
	}
	return nil
}

func newDumper(w io.Writer, r *Reader, asJSON bool) *dumper {
	d := &dumper{h: r.Header(), out: bufio.NewWriterSize(w, 1<<16), phase: -1}
	if asJSON {
		d.enc = json.NewEncoder(d.out)
		d.enc.SetEscapeHTML(false)
	}
	return d
}

// ops writes the next ops, at most so many. What was written before an error of
// the trace is there.
func (d *dumper) ops(r *Reader, most uint64) error {
	for n := uint64(0); n < most && r.Scan(); n++ {
		if err := d.op(r.Op()); err != nil {
			return dumpError(err)
		}
	}
	if err := r.Err(); err != nil {
		d.out.Flush()
		return err
	}
	return nil
}

func dumpError(err error) error { return fmt.Errorf("write dump: %w", err) }

type dumper struct {
	h     *Header
	out   *bufio.Writer
	enc   *json.Encoder
	phase int
	key   []byte
	buf   []byte
	// loadOps is the number of operations of phase load.
	loadOps uint64
	lengths []int
}

var escaper = strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\r", "\\r", "\n", "\\n")

// line writes one `#` line.
func (d *dumper) line(name, value string) error {
	if d.enc != nil {
		return d.enc.Encode(map[string]string{name: value})
	}
	_, err := fmt.Fprintf(d.out, "# %s=%s\n", escaper.Replace(name), escaper.Replace(value))
	return err
}

func (d *dumper) header() error {
	for _, item := range d.h.DigestHeader() {
		if err := d.line(item.Name, item.Value); err != nil {
			return err
		}
	}
	if d.enc == nil {
		if _, err := d.out.WriteString("# end of digest header\n"); err != nil {
			return err
		}
	}
	for _, item := range []Hint{
		{"format", strconv.Itoa(d.h.FormatVersion)},
		{"tool", d.h.ToolVersion},
		{"generator", d.h.Generator},
		{"records", strconv.FormatUint(d.h.Records, 10)},
		{"first_key", strconv.FormatUint(d.h.FirstKey, 10)},
		{"spec", d.h.Spec},
	} {
		if err := d.line(item.Name, item.Value); err != nil {
			return err
		}
	}
	for _, hint := range d.h.Hints {
		if err := d.line("hint "+hint.Name, hint.Value); err != nil {
			return err
		}
	}
	return nil
}

// phasesTo begins phases up to the given one.
func (d *dumper) phasesTo(phase int) error {
	for d.phase < phase {
		d.phase++
		if err := d.phaseLine(); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumper) phaseLine() error {
	p := &d.h.Phases[d.phase]
	pace := "unpaced"
	if p.Paced {
		pace = "paced"
	}
	if d.enc != nil {
		return d.enc.Encode(map[string]string{"phase": p.Name, "pace": pace, "keys": p.KeyLaw, "arrivals": p.Arrivals})
	}
	_, err := fmt.Fprintf(d.out, "# phase %s %s keys=%s arrivals=%s\n", p.Name, pace, escaper.Replace(p.KeyLaw), escaper.Replace(p.Arrivals))
	return err
}

// opJSON is an op's line as an object.
type opJSON struct {
	Index  uint64  `json:"index"`
	Phase  string  `json:"phase"`
	Due    *uint64 `json:"due"`
	Kind   string  `json:"kind"`
	Key    string  `json:"key"`
	N      uint64  `json:"n"`
	Fields string  `json:"fields,omitempty"`
	Read   string  `json:"read,omitempty"`
	Len    uint32  `json:"len,omitempty"`
	// Bytes is a number where all values have one length, else a list.
	Bytes any `json:"bytes,omitempty"`
}

func (d *dumper) op(op *Op) error {
	if err := d.phasesTo(op.Phase); err != nil {
		return err
	}
	p := &d.h.Phases[op.Phase]
	if p.Name == LoadPhase {
		d.loadOps = op.Index + 1
	}
	d.key = d.h.Keys.Append(d.key[:0], op.Key)
	if d.enc != nil {
		return d.opObject(op, p)
	}
	b := strconv.AppendUint(d.buf[:0], op.Index, 10)
	b = append(append(b, '\t'), p.Name...)
	b = append(b, '\t')
	if due, ok := d.due(op, p); ok {
		b = strconv.AppendUint(b, due, 10)
	} else {
		b = append(b, '-')
	}
	b = append(append(b, '\t'), op.Kind.String()...)
	b = append(append(b, '\t'), escaper.Replace(string(d.key))...)
	b = strconv.AppendUint(append(b, "\tn="...), op.Key, 10)
	switch {
	case op.Kind.Writes():
		b = append(append(b, "\tfields="...), escaper.Replace(d.fields(op.Written))...)
	case op.Kind.Reads():
		b = append(append(b, "\tfields="...), escaper.Replace(d.fields(op.Read))...)
	}
	if op.Kind == ReadModifyWrite {
		b = append(append(b, "\tread="...), escaper.Replace(d.fields(op.Read))...)
	}
	if op.Kind == Scan {
		b = strconv.AppendUint(append(b, "\tlen="...), uint64(op.ScanLength), 10)
	}
	if op.Kind.Writes() {
		b = append(b, "\tbytes="...)
		for i, n := range d.valueBytes(op) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	d.buf = append(b, '\n')
	_, err := d.out.Write(d.buf)
	return err
}

func (d *dumper) opObject(op *Op, p *Phase) error {
	line := opJSON{Index: op.Index, Phase: p.Name, Kind: op.Kind.String(), Key: string(d.key), N: op.Key, Len: op.ScanLength}
	if due, ok := d.due(op, p); ok {
		line.Due = &due
	}
	switch {
	case op.Kind.Writes():
		line.Fields = d.fields(op.Written)
		if n := d.valueBytes(op); d.constant() {
			line.Bytes = n[0]
		} else {
			line.Bytes = n
		}
	case op.Kind.Reads():
		line.Fields = d.fields(op.Read)
	}
	if op.Kind == ReadModifyWrite {
		line.Read = d.fields(op.Read)
	}
	return d.enc.Encode(line)
}

// constant reports whether all values have one length.
func (d *dumper) constant() bool { return d.h.Fields.Length.Min() == d.h.Fields.Length.Max() }

// valueBytes returns the length of each value that op writes, in the order of
// fields, or the one length that all have.
func (d *dumper) valueBytes(op *Op) []int {
	fields := &d.h.Fields
	d.lengths = d.lengths[:0]
	if d.constant() {
		return append(d.lengths, fields.Length.Max())
	}
	first, limit := 0, fields.Count
	if i, one := op.Written.Index(); one {
		first, limit = i, i+1
	}
	for i := first; i < limit; i++ {
		d.lengths = append(d.lengths, fields.ValueBytes(d.h.Seed, op.Key, i, d.version(op)))
	}
	return d.lengths
}

// version returns the version of the values that op writes.
func (d *dumper) version(op *Op) uint64 {
	if d.h.Phases[op.Phase].Name == LoadPhase {
		return 0
	}
	return 1 + op.Index - d.loadOps
}

// due returns the due time in ns, false if the phase is unpaced.
func (d *dumper) due(op *Op, p *Phase) (uint64, bool) {
	return op.Due * uint64(d.h.Tick), p.Paced // at most dueNsMax
}

func (d *dumper) fields(s FieldSet) string {
	if i, one := s.Index(); one {
		return d.h.Fields.Name(i)
	}
	return "all"
}
