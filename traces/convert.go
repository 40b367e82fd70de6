package traces

import (
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	tracev1 "pianola/proto/trace/v1"
	"pianola/traces/keymap"
	"pianola/traces/payload"
)

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
			Count: uint32(h.Fields.Count), NamePrefix: h.Fields.Prefix, Length: h.Fields.Length.String(), Values: h.Fields.Values.String(),
		},
		Table:       h.Table,
		FirstKey:    h.FirstKey,
		RecordCount: h.Records,
	}
	if h.InsertFrom != h.FirstKey+h.Records {
		msg.InsertFrom = h.InsertFrom
	}
	if h.Victims != nil {
		msg.Victims = h.Victims[:]
	}
	for i := range h.Phases {
		p := &h.Phases[i]
		phase := &tracev1.Phase{
			Name: p.Name, Paced: p.Paced, KeyLaw: p.KeyLaw, ScanLaw: p.ScanLaw, Arrivals: p.Arrivals,
			RateNumerator: p.Rate.Numerator, RateDenominator: p.Rate.Denominator, VisibilityOps: p.VisibilityOps,
			KeyMap: encodeKeyMap(&p.KeyMap),
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
	// A later version may mean anything by the rest.
	if v := versionOf(body); v != FormatVersion {
		return nil, fmt.Errorf("%w: %d; this program reads version %d", ErrVersion, v, FormatVersion)
	}
	if err := checkHeaderCounts(body); err != nil {
		return nil, err
	}
	var msg tracev1.Header
	if err := unmarshal(body, &msg); err != nil {
		return nil, broken(invHeader, "malformed header: %v", err)
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
		InsertFrom:    msg.InsertFrom,
	}
	switch len(msg.Victims) {
	case 0:
	case keymap.Rounds:
		h.Victims = (*[keymap.Rounds]uint64)(msg.Victims)
	default:
		return nil, broken(invHeader, "%d round keys of the deletes", len(msg.Victims))
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
		if phase.KeyMap, err = decodeKeyMap(p.KeyMap, p.Name); err != nil {
			return nil, err
		}
		for _, s := range p.Mix {
			if s.Kind <= 0 || s.Kind >= tracev1.Kind(KindLimit) {
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

func encodeKeyMap(m *KeyMap) *tracev1.KeyMap {
	msg := &tracev1.KeyMap{Code: tracev1.KeyCode(m.Code) + 1, Items: m.Items}
	if m.Code == CodeScrambled {
		msg.RoundKeys = m.RoundKeys[:]
	}
	return msg
}

func decodeKeyMap(msg *tracev1.KeyMap, phase string) (KeyMap, error) {
	code := msg.GetCode() - 1
	if code < 0 || code >= tracev1.KeyCode(keyCodeLimit) {
		return KeyMap{}, broken(invHeader, "unknown key code %d of phase %q", msg.GetCode(), phase)
	}
	m := KeyMap{Code: KeyCode(code), Items: msg.GetItems()}
	keys := 0
	if m.Code == CodeScrambled {
		keys = keymap.Rounds
	}
	if len(msg.GetRoundKeys()) != keys {
		return m, broken(invHeader, "%d round keys of phase %q where %d are due", len(msg.GetRoundKeys()), phase, keys)
	}
	copy(m.RoundKeys[:], msg.GetRoundKeys())
	return m, nil
}

// checkHeaderCounts counts what a header repeats before it is decoded: each
// repeat takes far more memory than its two bytes or more.
func checkHeaderCounts(body []byte) error {
	if phases, hints := repeats(body, headerPhases), repeats(body, headerHints); phases > phasesMax || hints > hintsMax {
		return broken(invHeader, "%d phases and %d hints", phases, hints)
	}
	if n := repeats(body, headerVictims); n > keymap.Rounds {
		return broken(invHeader, "%d lists of round keys", n)
	}
	for phase := range messages(body, headerPhases) {
		if n := repeats(phase, phaseMix); n >= int(KindLimit) {
			return broken(invHeader, "mix of %d kinds", n)
		}
	}
	return nil
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
	length, err := payload.ParseLength(fields.GetLength())
	if err != nil {
		return broken(invHeader, "%v", err)
	}
	if keys.GetZeroPadding() > payload.MaxPadding || fields.GetCount() > payload.MaxFields {
		return broken(invHeader, "zero padding of %d digits, %d fields", keys.GetZeroPadding(), fields.GetCount())
	}
	h.Keys.Prefix, h.Keys.Padding = keys.GetPrefix(), int(keys.GetZeroPadding())
	values, err := payload.ParseValues(fields.GetValues(), h.Keys)
	if err != nil {
		return broken(invHeader, "%v", err)
	}
	h.Fields = payload.Fields{Count: int(fields.GetCount()), Prefix: fields.GetNamePrefix(), Length: length, Values: values}
	return nil
}

// check checks what both a Writer and a Reader require of a header.
func (h *Header) check() error {
	switch {
	case h.Tick < 1 || h.Tick > dueNsMax:
		return broken(invHeader, "tick of %d ns", h.Tick)
	case h.Keys.Padding < 0 || h.Keys.Padding > payload.MaxPadding:
		return broken(invHeader, "zero padding of %d digits", h.Keys.Padding)
	case h.Keys.Order > payload.Ordered:
		return broken(invHeader, "unknown key order %d", h.Keys.Order)
	case len(h.Phases) == 0 || len(h.Phases) > phasesMax:
		return broken(invHeader, "%d phases", len(h.Phases))
	case len(h.Hints) > hintsMax:
		return broken(invHeader, "%d hints", len(h.Hints))
	case h.FirstKey > keyMax || h.Records > keyMax-h.FirstKey:
		return broken(invHeader, "%d records from key number %d on", h.Records, h.FirstKey)
	case h.InsertFrom != 0 && (h.InsertFrom < h.FirstKey+h.Records || h.InsertFrom > keyMax):
		return broken(invHeader, "inserts from key number %d on, with %d records from %d on", h.InsertFrom, h.Records, h.FirstKey)
	case h.Victims != nil && (h.Records < 1 || h.Records > keymap.MaxItems):
		return broken(invHeader, "an order of deletes of %d records", h.Records)
	}
	if err := h.Fields.Check(&h.Keys); err != nil {
		return broken(invHeader, "%v", err)
	}
	seen := map[string]bool{}
	for i := range h.Phases {
		p := &h.Phases[i]
		if p.Name == "" || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || seen[p.Name] {
			return broken(invHeader, "phase name %q is not a new word of a-z, 0-9 and -", p.Name)
		}
		seen[p.Name] = true
		if p.Name == LoadPhase && i > 0 {
			return broken(invHeader, "phase %s behind phase %s", LoadPhase, h.Phases[0].Name)
		}
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Phase) check() error {
	switch {
	case (p.Rate.Numerator == 0) != (p.Rate.Denominator == 0):
		return broken(invHeader, "rate %d/%d of phase %s", p.Rate.Numerator, p.Rate.Denominator, p.Name)
	case !p.Paced && (p.Rate != Rate{} || p.Arrivals != ""):
		return broken(invHeader, "phase %s is unpaced and has arrivals %q of rate %d/%d", p.Name, p.Arrivals, p.Rate.Numerator, p.Rate.Denominator)
	case p.VisibilityOps > visibilityMax:
		return broken(invHeader, "phase %s shows inserts %d ops later", p.Name, p.VisibilityOps)
	case p.KeyMap.Code == CodeAge && p.VisibilityOps == 0:
		return broken(invHeader, "phase %s has ages of records and does not say which are visible", p.Name)
	}
	if err := p.KeyMap.check(p.Name); err != nil {
		return err
	}
	last := Kind(0)
	for _, s := range p.Mix {
		if !s.Kind.Valid() || s.Kind <= last {
			return broken(invHeader, "%v behind %v in the mix of phase %s", s.Kind, last, p.Name)
		}
		last = s.Kind
	}
	return nil
}
