package tracegen

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pianola/traces"
	"pianola/traces/payload"
)

func TestCanonicalTextOfASpec(t *testing.T) {
	spec, _, err := Parse(inputOf(strings.Join([]string{
		"readproportion=0.25", "updateproportion=0.25", "insertproportion=0.25", "scanproportion=0.125", "readmodifywriteproportion=0.125",
		"requestdistribution=zipfian", "keyprefix=käse", "maxexecutiontime=1.000000001", "redis.host=h", "--seed 7",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `arrivals=constant
fieldcount=10
fieldlength=100
fieldnameprefix=field
insert.visibility=100ms
insertorder=hashed
insertproportion=0.25
keyprefix=k\u00E4se
load.rate=0
maxexecutiontime=1.000000001
maxscanlength=1000
minscanlength=1
operationcount=1000
readallfields=true
readmodifywriteproportion=0.125
readproportion=0.25
recordcount=1000
requestdistribution=zipfian
scanproportion=0.125
table=usertable
target=1000
updateproportion=0.25
workload=site.ycsb.workloads.CoreWorkload
writeallfields=false
zeropadding=1
zipfian.range=ycsb
zipfian.theta=0.99
`
	if got := spec.Canonical(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRandomSpecsSurviveTheirCanonicalText(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 2000 {
		spec := randomSpec(r)
		text := spec.Canonical()
		again, _, err := Parse(Input{Sources: []Source{{"canonical", []byte(text)}}})
		if err != nil {
			t.Fatalf("seed %d, spec %d: %v of\n%s", seed, i, err, text)
		}
		if !sameSpec(spec, again) {
			t.Fatalf("seed %d, spec %d:\n%+v\nbecame\n%+v\nthrough\n%s", seed, i, spec, again, text)
		}
	}
}

// randomSpec makes a spec that Parse could have returned, with the parts that
// the canonical text leaves out at their defaults.
func randomSpec(r *rand.Rand) *Spec {
	s := &Spec{
		Table:   "t" + randomText(r),
		Keys:    payload.Keys{Prefix: randomText(r), Padding: 1 + r.IntN(payload.MaxPadding), Order: payload.Order(r.IntN(2))},
		Fields:  payload.Fields{Count: 1 + r.IntN(payload.MaxFields), Prefix: randomText(r)},
		Records: 1 + r.Uint64N(1<<r.IntN(60)), Ops: 1 + r.Uint64N(1<<r.IntN(40)),
		Rate: randomRate(r), RateStated: true, Arrivals: Constant,
		KeyLaw: Uniform, Theta: defaultTheta, ScanLaw: ScanUniform, ScanMin: defaultScanMin, ScanMax: defaultScanMax,
		HotData: big.NewRat(2, 10), HotOps: big.NewRat(8, 10), NewestOps: big.NewRat(95, 100), NewestData: big.NewRat(8571428571, 1e10),
		ReadAllFields: true, Visibility: defaultVisibility, Seed: 1,
	}
	randomValues(r, s)
	switch r.IntN(3) {
	case 0:
		s.Arrivals = Poisson
	case 1:
		s.Arrivals = []Arrivals{"step:10s@1000,20s@5000.5", "ramp:0..5000/1m0s", "sine:1000+-500/1m0s", "burst:1000,2s@10000/1m0s"}[r.IntN(4)]
		s.Rate, s.RateStated = traces.Rate{}, false
	}
	if r.IntN(2) == 0 {
		s.Duration = time.Duration(1 + r.Int64N(int64(time.Hour)))
	}
	if r.IntN(2) == 0 {
		s.LoadRate = traces.Rate{Numerator: 2*maxRate - 1, Denominator: 2}
	}
	for kind := range s.Weights {
		s.Weights[kind] = new(big.Rat)
	}
	for _, p := range proportions {
		if r.IntN(2) == 0 {
			s.Weights[p.kind] = big.NewRat(r.Int64N(1e9), 1e9)
		}
	}
	switch r.IntN(3) {
	case 0:
		s.WarmupOps = 1 + r.Uint64N(1<<30)
	case 1:
		s.WarmupDuration = time.Duration(1 + r.Int64N(int64(time.Hour)))
	}
	s.Weights[proportions[r.IntN(len(proportions))].kind] = big.NewRat(1+r.Int64N(1e9), 1e9)
	randomLaws(r, s)
	if r.IntN(2) == 0 {
		s.FirstKey = 1 + r.Uint64N(1<<60)
	}
	s.InsertFrom = s.FirstKey + s.Records
	if s.picks(traces.Insert) && r.IntN(2) == 0 {
		s.InsertFrom += r.Uint64N(1 << 60)
	}
	return s
}

// randomValues sets a law of lengths and a way of building values.
func randomValues(r *rand.Rand, s *Spec) {
	least := r.IntN(1000)
	var err error
	switch l := &s.Fields.Length; r.IntN(4) {
	case 0:
		*l = payload.Length{Constant: r.IntN(payload.MaxValueBytes + 1)}
	case 1:
		*l, err = payload.UniformLength(least, least+1+r.IntN(payload.MaxValueBytes-1000))
	case 2:
		*l, err = payload.ZipfianLength(least, least+1+r.IntN(payload.MaxValueBytes-1000))
	case 3:
		*l, err = payload.HistogramLength(1+least, []uint64{1 + r.Uint64N(9), 0, r.Uint64() >> 2, 1})
	}
	if err != nil {
		panic(err)
	}
	switch v := &s.Fields.Values; r.IntN(3) {
	case 0:
		*v = payload.Values{Scheme: payload.Compressible, Saving: payload.MinSaving + r.IntN(payload.MaxSaving-payload.MinSaving+1)}
	case 1:
		s.Fields.Length = payload.Length{Constant: least}
		s.Fields.Prefix, s.Keys.Prefix = "f", "k"
		*v = payload.Values{Scheme: payload.YCSBIntegrity, Keys: s.Keys}
	}
}

// randomLaws sets what has an effect under the spec's mix.
func randomLaws(r *rand.Rand, s *Spec) {
	if s.picksKeys() {
		s.KeyLaw = []KeyLaw{Uniform, ZipfianYCSB, ZipfianExact, Latest, Hotspot, Sequential, Exponential}[r.IntN(7)]
		switch s.KeyLaw {
		case ZipfianYCSB, ZipfianExact, Latest:
			s.Theta = float64(1+r.IntN(2_000_000)) / 1e6
		case Hotspot:
			s.HotData, s.HotOps = big.NewRat(r.Int64N(1001), 1000), big.NewRat(r.Int64N(1e9), 1e9)
		case Exponential:
			s.NewestOps, s.NewestData = big.NewRat(1+r.Int64N(999_999), 1e6), big.NewRat(1+r.Int64N(1e11), 1e9)
		}
		if s.picks(traces.Insert) {
			s.Visibility = time.Duration(r.Int64N(int64(time.Minute)))
		}
	}
	if s.picks(traces.Scan) {
		s.ScanMin = 1 + r.Uint32N(1000)
		s.ScanMax = s.ScanMin + r.Uint32N(1000)
		if r.IntN(2) == 0 {
			s.ScanLaw = ScanZipfian
		}
	}
	if s.picks(traces.Read, traces.Scan, traces.ReadModifyWrite) {
		s.ReadAllFields = r.IntN(2) == 0
	}
	if s.picks(traces.Update, traces.ReadModifyWrite) {
		s.WriteAllFields = r.IntN(2) == 0
	}
}

func randomRate(r *rand.Rand) traces.Rate {
	rate := big.NewRat(1+r.Int64N(maxRate*1000), 1000)
	if rate.Cmp(big.NewRat(maxRate, 1)) > 0 {
		rate.SetInt64(maxRate)
	}
	return traces.Rate{Numerator: rate.Num().Uint64(), Denominator: rate.Denom().Uint64()}
}

func randomText(r *rand.Rand) string {
	letters := []rune("ab1 =:#!\\\u00e9\u00a0\u20ac\U0001f600")
	text := make([]rune, r.IntN(8))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	if remarkInText.MatchString(string(text)) {
		return "x"
	}
	return string(text)
}
