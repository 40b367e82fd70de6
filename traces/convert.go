package traces

import (
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
	"pianola/traces/payload"
)

// valueScheme is the only way of building values so far.
const valueScheme = payload.Printable

// encodeHeader returns h as the field `header` of a Trace.
func encodeHeader(h *Header) ([]byte, error) {
	order := tracev1.KeyOrder_KEY_ORDER_HASHED
	if h.Keys.Order == payload.Ordered {
		order = tracev1.KeyOrder_KEY_ORDER_ORDERED
	}
	msg := &tracev1.Header{
		FormatVersion: FormatVersion,
		ToolVersion:   h.ToolVersion,
		Spec:          h.Spec,
		Seed:          h.Seed,
		Generator:     h.Generator,
		TickNs:        uint64(h.Tick),
		Keys:          &tracev1.KeyScheme{Prefix: h.Keys.Prefix, ZeroPadding: uint32(h.Keys.Padding), Order: order},
		Fields: &tracev1.FieldScheme{
			Count: uint32(h.Fields.Count), NamePrefix: h.Fields.Prefix, Length: h.Fields.Length.String(), Values: valueScheme,
		},
		Table:       h.Table,
		FirstKey:    h.FirstKey,
		RecordCount: h.Records,
	}
	for i := range h.Phases {
		p := &h.Phases[i]
		phase := &tracev1.Phase{
			Name: p.Name, Paced: p.Paced, KeyLaw: p.KeyLaw, ScanLaw: p.ScanLaw, Arrivals: p.Arrivals,
			RateNumerator: p.Rate.Numerator, RateDenominator: p.Rate.Denominator, VisibilityOps: p.VisibilityOps,
		}
		for _, s := range p.Mix {
			phase.Mix = append(phase.Mix, &tracev1.Share{Kind: tracev1.Kind(s.Kind), Share: s.Share})
		}
		msg.Phases = append(msg.Phases, phase)
	}
	for _, hint := range h.Hints {
		msg.Hints = append(msg.Hints, &tracev1.Hint{Name: hint.Name, Value: hint.Value})
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(&tracev1.Trace{Header: msg})
}

// decodeHeader reads the field `header` of a Trace and checks it.
func decodeHeader(field []byte) (*Header, error) {
	body, err := unwrap(field, traceHeader)
	if err != nil {
		return nil, err
	}
	var msg tracev1.Header
	if err := proto.Unmarshal(body, &msg); err != nil {
		return nil, broken(invHeader, "malformed header: %v", err)
	}
	if msg.FormatVersion > FormatVersion {
		return nil, fmt.Errorf("%w: %d; this program reads versions up to %d", ErrVersion, msg.FormatVersion, FormatVersion)
	}
	if len(msg.ProtoReflect().GetUnknown()) > 0 {
		return nil, broken(invHeader, "unknown fields in the header")
	}
	h := &Header{
		FormatVersion: int(msg.FormatVersion),
		ToolVersion:   msg.ToolVersion,
		Spec:          msg.Spec,
		Seed:          msg.Seed,
		Generator:     msg.Generator,
		Table:         msg.Table,
		FirstKey:      msg.FirstKey,
		Records:       msg.RecordCount,
	}
	if msg.TickNs > math.MaxInt64 {
		return nil, broken(invHeader, "tick of %d ns", msg.TickNs)
	}
	h.Tick = time.Duration(msg.TickNs)
	if err := decodeSchemes(&msg, h); err != nil {
		return nil, err
	}
	for _, p := range msg.Phases {
		phase := Phase{
			Name: p.Name, Paced: p.Paced, KeyLaw: p.KeyLaw, ScanLaw: p.ScanLaw, Arrivals: p.Arrivals,
			Rate: Rate{p.RateNumerator, p.RateDenominator}, VisibilityOps: p.VisibilityOps,
		}
		for _, s := range p.Mix {
			if s.Kind < 0 || s.Kind >= tracev1.Kind(KindLimit) {
				return nil, broken(invHeader, "unknown kind %d in the mix", s.Kind)
			}
			phase.Mix = append(phase.Mix, Share{Kind(s.Kind), s.Share})
		}
		h.Phases = append(h.Phases, phase)
	}
	for _, hint := range msg.Hints {
		h.Hints = append(h.Hints, Hint{hint.Name, hint.Value})
	}
	return h, h.check()
}

func decodeSchemes(msg *tracev1.Header, h *Header) error {
	keys, fields := msg.GetKeys(), msg.GetFields()
	switch keys.GetOrder() {
	case tracev1.KeyOrder_KEY_ORDER_HASHED:
		h.Keys.Order = payload.Hashed
	case tracev1.KeyOrder_KEY_ORDER_ORDERED:
		h.Keys.Order = payload.Ordered
	default:
		return broken(invHeader, "unknown key order %d", keys.GetOrder())
	}
	if fields.GetValues() != valueScheme {
		return broken(invHeader, "unknown way of building values %q", fields.GetValues())
	}
	length, err := payload.ParseLength(fields.GetLength())
	if err != nil {
		return broken(invHeader, "%v", err)
	}
	if keys.GetZeroPadding() > payload.MaxPadding || fields.GetCount() > payload.MaxFields {
		return broken(invHeader, "zero padding of %d digits, %d fields", keys.GetZeroPadding(), fields.GetCount())
	}
	h.Keys.Prefix, h.Keys.Padding = keys.GetPrefix(), int(keys.GetZeroPadding())
	h.Fields = payload.Fields{Count: int(fields.GetCount()), Prefix: fields.GetNamePrefix(), Length: length}
	return nil
}

// phasesMax bounds the number of phases.
const phasesMax = 1 << 10

// check checks what both a Writer and a Reader require of a header.
func (h *Header) check() error {
	switch {
	case h.Tick < 1:
		return broken(invHeader, "tick of %d ns", h.Tick)
	case h.Keys.Padding < 0 || h.Keys.Padding > payload.MaxPadding:
		return broken(invHeader, "zero padding of %d digits", h.Keys.Padding)
	case h.Fields.Count < 1 || h.Fields.Count > payload.MaxFields:
		return broken(invHeader, "%d fields", h.Fields.Count)
	case h.Fields.Length.Constant < 0 || h.Fields.Length.Constant > payload.MaxValueBytes:
		return broken(invHeader, "values of %d bytes", h.Fields.Length.Constant)
	case len(h.Phases) == 0 || len(h.Phases) > phasesMax:
		return broken(invHeader, "%d phases", len(h.Phases))
	case h.FirstKey > maxKey || h.Records > maxKey-h.FirstKey:
		return broken(invHeader, "%d records from key number %d on", h.Records, h.FirstKey)
	}
	seen := map[string]bool{}
	for i := range h.Phases {
		p := &h.Phases[i]
		if p.Name == "" || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || seen[p.Name] {
			return broken(invHeader, "phase name %q is not a new word of a-z, 0-9 and -", p.Name)
		}
		seen[p.Name] = true
		if p.Rate.Denominator == 0 && p.Rate.Numerator != 0 {
			return broken(invHeader, "rate %d/0", p.Rate.Numerator)
		}
	}
	return nil
}

// footer is the footer of a file as it is used here.
type footer struct {
	headerCRC uint32
	blocks    []blockEntry
	totals    Totals
}

// blockEntry locates a block.
type blockEntry struct {
	offset  int64
	size    uint32
	crc     uint32
	first   uint64
	phase   int
	firstAt uint64
}

// encodeFooter returns f as the field `footer` of a Trace.
func encodeFooter(f *footer) ([]byte, error) {
	msg := &tracev1.Footer{HeaderCrc32C: f.headerCRC, FirstFreeKey: f.totals.FirstFreeKey, Digest: f.totals.Digest[:]}
	for _, b := range f.blocks {
		msg.Blocks = append(msg.Blocks, &tracev1.BlockEntry{
			Offset: uint64(b.offset), Size: b.size, Crc32C: b.crc, FirstOp: b.first, Phase: uint32(b.phase), FirstTick: b.firstAt,
		})
	}
	for i := range f.totals.Phases {
		p := &f.totals.Phases[i]
		total := &tracev1.PhaseTotal{LastTick: p.LastDue, Digest: p.Digest[:]}
		for k, ops := range p.Ops {
			if ops > 0 {
				total.Kinds = append(total.Kinds, &tracev1.KindTotal{Kind: tracev1.Kind(k), Ops: ops})
			}
		}
		for j := range p.Chunks {
			total.ChunkDigests = append(total.ChunkDigests, p.Chunks[j][:]...)
		}
		msg.Phases = append(msg.Phases, total)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(&tracev1.Trace{Footer: msg})
}

// decodeFooter reads the field `footer` of a Trace.
func decodeFooter(field []byte, h *Header) (*footer, error) {
	body, err := unwrap(field, traceFooter)
	if err != nil {
		return nil, err
	}
	var msg tracev1.Footer
	if err := proto.Unmarshal(body, &msg); err != nil {
		return nil, broken(invFooter, "malformed footer: %v", err)
	}
	if len(msg.ProtoReflect().GetUnknown()) > 0 || len(msg.Digest) != 32 || len(msg.Phases) != len(h.Phases) {
		return nil, broken(invFooter, "footer with %d bytes of digest and %d phases, or with unknown fields", len(msg.Digest), len(msg.Phases))
	}
	f := &footer{headerCRC: msg.HeaderCrc32C, totals: Totals{FirstFreeKey: msg.FirstFreeKey, Digest: [32]byte(msg.Digest)}}
	for _, b := range msg.Blocks {
		if b.Offset > math.MaxInt64 || b.Phase >= uint32(len(h.Phases)) {
			return nil, broken(invFooter, "block at offset %d of phase %d", b.Offset, b.Phase)
		}
		f.blocks = append(f.blocks, blockEntry{int64(b.Offset), b.Size, b.Crc32C, b.FirstOp, int(b.Phase), b.FirstTick})
	}
	for _, p := range msg.Phases {
		total := PhaseTotal{LastDue: p.LastTick}
		for _, k := range p.Kinds {
			if k.Kind <= 0 || k.Kind >= tracev1.Kind(KindLimit) || total.Ops[k.Kind] != 0 || k.Ops == 0 || k.Ops > maxKey {
				return nil, broken(invFooter, "total of %d ops of kind %d", k.Ops, k.Kind)
			}
			total.Ops[k.Kind] = k.Ops
		}
		count := total.Count()
		if len(p.Digest) != 32 || uint64(len(p.ChunkDigests)) != (count+BlockOps-1)/BlockOps*32 {
			return nil, broken(invFooter, "digests of %d and %d bytes for %d ops", len(p.Digest), len(p.ChunkDigests), count)
		}
		total.Digest = [32]byte(p.Digest)
		for c := p.ChunkDigests; len(c) > 0; c = c[32:] {
			total.Chunks = append(total.Chunks, [32]byte(c))
		}
		f.totals.Phases = append(f.totals.Phases, total)
	}
	return f, nil
}
