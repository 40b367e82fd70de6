package tracegen

import (
	"math"
	"math/big"
	"testing"

	"pianola/tracegen/chisquare"
	"pianola/traces"
)

// parameterLaw is a law with parameters, and the weights that its draws are to
// have: by record, or by age if aged is set.
type parameterLaw struct {
	name    string
	set     func(s *Spec)
	aged    bool
	weights func(n uint64) []float64
}

func hotspot(data, ops string) parameterLaw {
	d, _ := new(big.Rat).SetString(data)
	o, _ := new(big.Rat).SetString(ops)
	return parameterLaw{"hotspot of " + data + " and " + ops, func(s *Spec) { s.KeyLaw, s.HotData, s.HotOps = Hotspot, d, o }, false,
		func(n uint64) []float64 {
			share, _ := d.Float64()
			of, _ := o.Float64()
			hot := uint64(share * float64(n))
			switch {
			case hot == 0:
				of = 0
			case hot == n:
				of = 1
			}
			out := make([]float64, n)
			for i := range out {
				if uint64(i) < hot {
					out[i] = of / float64(hot)
				} else {
					out[i] = (1 - of) / float64(n-hot)
				}
			}
			return out
		}}
}

// exponential weights fall so that the share ops of them, before any are cut
// off, are below the age data·records.
func exponential(ops, data string, records float64) parameterLaw {
	o, _ := new(big.Rat).SetString(ops)
	d, _ := new(big.Rat).SetString(data)
	return parameterLaw{"exponential of " + ops + " and " + data, func(s *Spec) { s.KeyLaw, s.NewestOps, s.NewestData = Exponential, o, d }, true,
		func(n uint64) []float64 {
			share, _ := o.Float64()
			part, _ := d.Float64()
			gamma := -math.Log(1-share) / (records * part)
			out := make([]float64, n)
			for k := range out {
				out[k] = math.Exp(-gamma * float64(k))
			}
			return out
		}}
}

// The defaults of YCSB's properties.
var (
	ycsbHotspot     = hotspot("0.2", "0.8")
	ycsbExponential = exponential("0.95", "0.8571428571", 1000)
)

// TestParameterLaws compares the keys of whole traces with the formula of their
// law, over 1000 records and over many more than were loaded.
func TestParameterLaws(t *testing.T) {
	for _, law := range []parameterLaw{
		ycsbHotspot, hotspot("0.001", "0.5"), hotspot("0.999", "0.1"), hotspot("0.3337", "1"), hotspot("0.5", "0"),
		// Sides without records: YCSB divides by 0.
		hotspot("0", "0.8"), hotspot("0", "1"), hotspot("0.0009", "1"), hotspot("1", "0.8"), hotspot("1", "0"),
		ycsbExponential, exponential("0.5", "0.001", 1000), exponential("0.99", "1", 1000), exponential("0.999999", "0.00001", 1000),
		// Nearly flat, where most draws of YCSB's would be thrown away.
		exponential("0.01", "0.9", 1000), exponential("0.5", "1000", 1000), exponential("0.000001", "1000000", 1000),
	} {
		for _, properties := range [][]string{nil, {"insertproportion=0.1"}} {
			spec := mixSpec(t, append(properties, "operationcount=300000")...)
			law.set(spec)
			got := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, 100)
			counts, shares := got.keys, []float64(nil)
			if law.aged {
				counts = got.ages
				shares = got.seen.shares(law.weights(uint64(len(counts))))
			} else {
				// Inserts are not seen.
				shares = append(law.weights(1000), make([]float64, len(counts)-1000)...)
			}
			if stat, df, p := chisquare.Fit(counts, shares); p < chisquare.MinP {
				t.Errorf("%s, %v: chi-square %.1f on %d, p = %.3g", law.name, properties, stat, df, p)
			}
		}
	}
}

// TestParameterLawsAgainstYCSB compares the twentieths of the key range with
// those that YCSB read.
func TestParameterLawsAgainstYCSB(t *testing.T) {
	for name, law := range map[string]parameterLaw{"hotspot": ycsbHotspot, "exponential": ycsbExponential} {
		spec := readySpec(t, "workloadc", "operationcount=1000000")
		law.set(spec)
		counts := choicesOf(t, write(t, mustGenerator(t, spec)), spec.Records, 100).keys
		var ours, theirs []uint64
		for _, row := range goldenRows(t, name+"_1000_twentieths.tsv") { // from, to, share, count of each run
			n := uint64(0)
			for _, c := range counts[number(t, row[0]) : number(t, row[1])+1] {
				n += c
			}
			ours, theirs = append(ours, n), append(theirs, sum(t, row[3:]))
		}
		if stat, df, p := chisquare.TwoSamples(ours, theirs); p < chisquare.MinP {
			t.Errorf("%s: chi-square %.1f on %d, p = %.3g", name, stat, df, p)
		}
	}
}

// TestSequential follows the law through inserts, over the end of the records
// and over the ends of blocks.
func TestSequential(t *testing.T) {
	for _, records := range []string{"recordcount=1000", "recordcount=1", "recordcount=65536", "recordcount=100000"} {
		spec := mixSpec(t, records, "insertproportion=0.3", "scanproportion=0.3", "operationcount=200000")
		spec.KeyLaw = Sequential
		next := uint64(0)
		write(t, mustGenerator(t, spec)).ops(t, "run", func(i uint64, op *traces.Op) {
			if op.Kind == traces.Insert {
				return
			}
			if op.Key != next {
				t.Fatalf("%s: op %d chooses key %d, want %d", records, i, op.Key, next)
			}
			next = (next + 1) % spec.Records
		})
	}
}

// TestLawsRefuse gives laws parameters without sense.
func TestLawsRefuse(t *testing.T) {
	half, one, zero, more := big.NewRat(1, 2), big.NewRat(1, 1), new(big.Rat), big.NewRat(3, 2)
	for _, c := range []struct {
		law  KeyLaw
		a, b *big.Rat
		want string
	}{
		{Hotspot, more, half, "requestdistribution: make a hotspot law: share 3/2, want 0 to 1"},
		{Hotspot, half, big.NewRat(-1, 2), "requestdistribution: make a hotspot law: share -1/2, want 0 to 1"},
		{Hotspot, nil, half, "requestdistribution: make a hotspot law: share <nil>, want 0 to 1"},
		{Exponential, one, half, "requestdistribution: make an exponential law: share 1/1 of the operations on 1/2 of the records, want shares above 0, the first below 1"},
		{Exponential, zero, half, "requestdistribution: make an exponential law: share 0/1 of the operations on 1/2 of the records, want shares above 0, the first below 1"},
		{Exponential, half, zero, "requestdistribution: make an exponential law: share 1/2 of the operations on 0/1 of the records, want shares above 0, the first below 1"},
		{Exponential, half, nil, "requestdistribution: make an exponential law: share 1/2 of the operations on <nil> of the records, want shares above 0, the first below 1"},
	} {
		spec := mixSpec(t)
		spec.KeyLaw, spec.HotData, spec.HotOps, spec.NewestOps, spec.NewestData = c.law, c.a, c.b, c.a, c.b
		if _, err := NewGenerator(spec, "test"); err == nil || err.Error() != c.want {
			t.Errorf("%v of %v and %v: error %v, want %s", c.law, c.a, c.b, err, c.want)
		}
	}
}
