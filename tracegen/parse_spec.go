package tracegen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"pianola/traces"
	"pianola/traces/payload"
)

// build reads every property that makes a Spec. The result is of use only if
// no error was found.
func (r *specReader) build() *Spec {
	s := &Spec{Hints: r.hints}
	r.seed(s)
	r.naming(s)
	r.fields(s)
	r.mix(s)
	r.keyLaw(s)
	r.scans(s)
	r.extent(s)
	r.warmup(s)
	r.visibility(s)
	r.limits(s)
	r.batches()
	r.noteUnused(s)
	return s
}

func (r *specReader) seed(s *Spec) {
	s.Seed = 1
	if g, ok := r.flags["seed"]; ok {
		s.Seed, _ = r.whole(g, 0, 1<<64-1)
	}
}

func (r *specReader) naming(s *Spec) {
	table := r.get("table")
	s.Table, _ = r.freeText(table)
	if table.Value == "" {
		r.fail(table, "empty, expected is the name of a table")
	}
	s.Keys.Prefix, _ = r.freeText(r.get("keyprefix"))
	padding, _ := r.whole(r.get("zeropadding"), 0, payload.MaxPadding)
	s.Keys.Padding = max(1, int(padding)) // a number has a digit anyway
	order, _ := r.word(r.get("insertorder"), []string{payload.Hashed.String(), payload.Ordered.String()}, nil)
	if order == payload.Ordered.String() {
		s.Keys.Order = payload.Ordered
	}
}

func (r *specReader) fields(s *Spec) {
	count, _ := r.whole(r.get("fieldcount"), 1, payload.MaxFields)
	s.Fields.Count = int(count)
	s.Fields.Prefix, _ = r.freeText(r.get("fieldnameprefix"))
	s.Fields.Length = r.lengths()
	s.Fields.Values = r.values(s)
	s.ReadAllFields, _ = r.boolean(r.get("readallfields"))
	s.WriteAllFields, _ = r.boolean(r.get("writeallfields"))
}

// proportions names the weights in the order of kinds.
var proportions = []struct {
	kind traces.Kind
	name string
}{
	{traces.Read, "readproportion"},
	{traces.Update, "updateproportion"},
	{traces.Insert, "insertproportion"},
	{traces.Scan, "scanproportion"},
	{traces.ReadModifyWrite, "readmodifywriteproportion"},
	{traces.Delete, "deleteproportion"},
}

func (r *specReader) mix(s *Spec) {
	for kind := range s.Weights {
		s.Weights[kind] = new(big.Rat)
	}
	sum, sound := new(big.Rat), true
	var last givenProperty
	for _, p := range proportions {
		g := r.get(p.name)
		weight, ok := r.decimal(g, maxDigits)
		if !ok {
			sound = false
			continue
		}
		if g.isGiven() {
			last = g
		}
		s.Weights[p.kind] = weight
		sum.Add(sum, weight)
	}
	switch {
	case !sound:
		r.faulty[mixName] = true
	case sum.Sign() == 0:
		r.faulty[mixName] = true
		r.fail(last, "the proportions sum to 0, at least one must be more")
	case sum.Cmp(big.NewRat(1, 1)) != 0:
		r.noteAll("the proportions sum to %s: %s", decimalText(sum), sharesText(s, sum))
	}
}

// picks reports whether the mix holds one of the kinds.
func (s *Spec) picks(kinds ...traces.Kind) bool {
	return slices.ContainsFunc(kinds, func(k traces.Kind) bool { return s.Weights[k].Sign() > 0 })
}

// picksKeys reports whether the mix has operations on records that exist.
func (s *Spec) picksKeys() bool {
	return s.picks(traces.Read, traces.Update, traces.Scan, traces.ReadModifyWrite)
}

// sharesText prints the shares of a mix for people.
func sharesText(s *Spec, sum *big.Rat) string {
	var shares []string
	for _, p := range proportions {
		if s.picks(p.kind) {
			share, _ := new(big.Rat).Quo(s.Weights[p.kind], sum).Float64()
			shares = append(shares, fmt.Sprintf("%v %.4g %%", p.kind, 100*share))
		}
	}
	return strings.Join(shares, ", ")
}

// mixName stands for all proportions among the faulty properties.
const mixName = "proportions"

// batches refuses batches, which no trace has yet.
func (r *specReader) batches() {
	g := r.get("batch.size")
	if n, ok := r.whole(g, 0, 1<<64-1); ok && n != 1 {
		r.fail(g, "%s, supported is 1", notSupported)
	}
}

// noteWithout notes which of the properties given have no effect without
// something.
func (r *specReader) noteWithout(missing string, names ...string) {
	for _, name := range names {
		if g, ok := r.given[name]; ok {
			r.note(g, "no effect without "+missing)
		}
	}
}

// noteUnlessDefault is noteWithout for what YCSB's template of a workload sets:
// nothing is said of a property that has its default.
func (r *specReader) noteUnlessDefault(missing string, names ...string) {
	for _, name := range names {
		if !isDefault(name, strings.TrimFunc(r.get(name).Value, unicode.IsSpace)) {
			r.noteWithout(missing, name)
		}
	}
}

// isDefault reports whether a value is that of a property that isn't given,
// perhaps as another way of writing a number.
func isDefault(name, value string) bool {
	fallback := fallbackOf(name)
	if value == fallback {
		return true
	}
	want, ok1 := new(big.Rat).SetString(fallback)
	if !ok1 || !decimalNumber.MatchString(value) {
		return false
	}
	got, ok2 := new(big.Rat).SetString(value)
	return ok2 && got.Cmp(want) == 0
}

func fallbackOf(name string) string {
	k, _ := lookUp(name)
	return k.fallback
}

// noteUnused notes what has no effect under the mix, or under any, and sets it
// back to its default.
func (r *specReader) noteUnused(s *Spec) {
	if byName, ok := r.boolean(r.get("readallfieldsbyname")); ok && byName {
		r.note(r.given["readallfieldsbyname"], "no effect on a trace: how all fields are asked for is up to the binding")
	}
	for _, name := range []string{"core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval",
		"core_workload_insertion_keep_going_on_error"} {
		if g, ok := r.given[name]; ok {
			r.note(g, "no effect on a trace: no operation is repeated")
		}
	}
	if !r.sound(mixName, "readallfields", "writeallfields") {
		return
	}
	if !s.ReadAllFields && !s.picks(traces.Read, traces.Scan, traces.ReadModifyWrite) {
		s.ReadAllFields = true
		r.noteWithout("operations that read", "readallfields")
	}
	if s.WriteAllFields && !s.picks(traces.Update, traces.ReadModifyWrite) {
		s.WriteAllFields = false
		r.noteWithout("updates", "writeallfields")
	}
}
