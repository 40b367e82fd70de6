package tracegen

import (
	"math/big"
	"slices"
	"strings"
	"unicode"

	"pianola/traces"
)

// refuseLater refuses what later versions will do, unless it says what holds
// anyway.
func (r *specReader) refuseLater(s *Spec) {
	r.word(r.get("fieldlengthdistribution"), []string{"constant"}, []string{"uniform", "zipfian", "histogram"})
	r.word(r.get("scanlengthdistribution"), []string{"uniform"}, []string{"zipfian"})
	r.only("dataintegrity", func(g givenProperty) (bool, bool) {
		on, ok := r.boolean(g)
		return !on, ok
	})
	r.only("insertstart", r.isWhole(0))
	if r.sound("recordcount") {
		r.only("insertcount", r.isWhole(s.Records))
	}
	r.only("deleteproportion", r.isDecimal("0"))
	r.only("warmuptime", r.isWhole(0))
	r.only("batch.size", r.isWhole(1))
	r.only("warmup", func(g givenProperty) (bool, bool) {
		d, ok := r.span(g)
		return d == 0, ok
	})
	r.only("value.compressibility", func(g givenProperty) (bool, bool) {
		_, ok := r.scalar(g, "a number")
		return false, ok
	})
	for _, p := range lawParameters {
		r.parameter(p.name, p.law, p.words)
	}
}

// lawParameters are the parameters of the laws that this version doesn't have:
// they belong to one of the words that another property may hold.
var lawParameters = []struct {
	name, law string
	words     []string
}{
	{"hotspotdatafraction", "requestdistribution", []string{"hotspot"}},
	{"hotspotopnfraction", "requestdistribution", []string{"hotspot"}},
	{"exponential.percentile", "requestdistribution", []string{"exponential"}},
	{"exponential.frac", "requestdistribution", []string{"exponential"}},
	{"minfieldlength", "fieldlengthdistribution", []string{"uniform", "zipfian"}},
	{"fieldlengthhistogram", "fieldlengthdistribution", []string{"histogram"}},
}

// parameter refuses a parameter together with its law, and notes it under any
// other law, unless it has its default.
func (r *specReader) parameter(name, law string, words []string) {
	g := r.get(name)
	is := r.isDecimal(r.fallback(name))
	if name == "fieldlengthhistogram" {
		is = func(g givenProperty) (bool, bool) { return g.Value == r.fallback(name), true }
	}
	same, ok := is(g)
	if !ok || same {
		return
	}
	if slices.Contains(words, strings.TrimFunc(r.get(law).Value, unicode.IsSpace)) {
		r.fail(g, "%s", notSupported)
		return
	}
	r.noteWithout(law+"="+strings.Join(words, " or "), name)
}

// only refuses a property unless is says that its value is the supported one.
func (r *specReader) only(name string, is func(givenProperty) (supported, ok bool)) {
	g, ok := r.given[name]
	if !ok {
		return
	}
	supported, ok := is(g)
	if !ok || supported {
		return
	}
	reason := notSupported
	if k := r.fallback(name); k != "" {
		reason += ", supported is " + k
	}
	r.fail(g, "%s", reason)
}

func (r *specReader) isWhole(want uint64) func(givenProperty) (bool, bool) {
	return func(g givenProperty) (bool, bool) {
		n, ok := r.whole(g, 0, 1<<64-1)
		return n == want, ok
	}
}

func (r *specReader) isDecimal(want string) func(givenProperty) (bool, bool) {
	number, _ := new(big.Rat).SetString(want) // a default of the table
	return func(g givenProperty) (bool, bool) {
		n, ok := r.decimal(g, maxDigits)
		return ok && n.Cmp(number) == 0, ok
	}
}

func (r *specReader) fallback(name string) string {
	k, _ := lookUp(name)
	return k.fallback
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
