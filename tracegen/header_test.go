package tracegen

import (
	"reflect"
	"testing"
	"time"

	"pianola/traces"
)

// TestHeaderRegeneratesItsTrace parses the spec that a header holds and makes
// the trace again.
func TestHeaderRegeneratesItsTrace(t *testing.T) {
	for name, spec := range variedSpecs(t) {
		spec.Seed = 1 << 63
		g := mustGenerator(t, spec)
		h := g.Header()
		again, _, err := Parse(Input{Sources: []Source{{"header", []byte(h.Spec)}}})
		if err != nil {
			t.Errorf("%s: %v of\n%s", name, err, h.Spec)
			continue
		}
		again.Seed, again.RateStated = h.Seed, spec.RateStated
		if !sameSpec(spec, again) {
			t.Errorf("%s:\n%+v\nbecame\n%+v", name, spec, again)
		}
		g2 := mustGenerator(t, again)
		if !reflect.DeepEqual(g2.Header(), h) {
			t.Errorf("%s: header\n%+v\nbecame\n%+v", name, h, g2.Header())
		}
		if first, second := write(t, g).totals.Digest, write(t, g2).totals.Digest; first != second {
			t.Errorf("%s: digest %x became %x", name, first, second)
		}
	}
}

func TestHeader(t *testing.T) {
	spec := readySpec(t, "workloade", "table=t", "keyprefix=k", "insertorder=ordered", "zeropadding=9", "fieldcount=3",
		"fieldnameprefix=f", "fieldlength=7", "redis.host=db1")
	spec.Seed = 42
	h := mustGenerator(t, spec).Header()
	want := &traces.Header{
		FormatVersion: traces.FormatVersion,
		ToolVersion:   "test",
		Spec:          spec.Canonical(),
		Seed:          42,
		Generator:     "generator/1 splitmix64/2 bucket-alias/2",
		Tick:          time.Nanosecond,
		Keys:          spec.Keys,
		Fields:        spec.Fields,
		Table:         "t",
		Records:       1000,
		InsertFrom:    1000,
		Phases: []traces.Phase{
			{
				Name:   traces.LoadPhase,
				Mix:    []traces.Share{{Kind: traces.Insert, Share: "1"}},
				KeyLaw: "every record once, in the order of key numbers 0 to 999",
			},
			{
				Name:          "run",
				Paced:         true,
				Mix:           []traces.Share{{Kind: traces.Insert, Share: "0.05"}, {Kind: traces.Scan, Share: "0.95"}},
				KeyLaw:        "zipfian: YCSB's formula of theta 0.99 over 10^10 + 1 ranks, folded by YCSB's hash modulo 1101, redrawn until visible",
				ScanLaw:       "uniform 1 to 100",
				Arrivals:      "constant 1000 op/s",
				Rate:          traces.Rate{Numerator: 1000, Denominator: 1},
				VisibilityOps: 100,
				KeyMap:        traces.KeyMap{Code: traces.CodeFolded, Items: 1101},
			},
		},
		Hints: []traces.Hint{{Name: "redis.host", Value: "db1"}},
	}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("got\n%+v\nwant\n%+v", h, want)
	}
	if !reflect.DeepEqual(spec.Keys.Append(nil, 5), []byte("k000000005")) {
		t.Errorf("key 5 is %s", spec.Keys.Append(nil, 5))
	}
}

// TestHeaderWords lists what headers call each law.
func TestHeaderWords(t *testing.T) {
	const exact = "zipfian.range=exact"
	for _, c := range []struct {
		properties              []string
		mix, keys, scan, arrive string
	}{
		{nil, "READ 1", "uniform over the 1000 records loaded", "", "constant 1000 op/s"},
		{[]string{"requestdistribution=latest", "arrivals=poisson", "target=0.125"},
			"READ 1", "latest: exact zipf of theta 0.99 over the age of the visible records", "", "poisson 0.125 op/s"},
		{[]string{"requestdistribution=latest", "zipfian.theta=1.5", "insertproportion=2"},
			"READ 1/3, INSERT 2/3", "latest: exact zipf of theta 1.5 over the age of the visible records", "", "constant 1000 op/s"},
		{[]string{"requestdistribution=zipfian", exact, "zipfian.theta=1"},
			"READ 1", "zipfian: exact zipf of theta 1 over 1000 keys, scrambled", "", "constant 1000 op/s"},
		{[]string{"requestdistribution=zipfian", exact, "insertproportion=1"},
			"READ 0.5, INSERT 0.5", "zipfian: exact zipf of theta 0.99 over 1500 keys, scrambled, redrawn until visible",
			"", "constant 1000 op/s"},
		{[]string{"requestdistribution=zipfian"},
			"READ 1", "zipfian: YCSB's formula of theta 0.99 over 10^10 + 1 ranks, folded by YCSB's hash modulo 1001, redrawn beyond the records",
			"", "constant 1000 op/s"},
		{[]string{"requestdistribution=zipfian", "zipfian.theta=0.5", "scanproportion=1", "minscanlength=5", "maxscanlength=6"},
			"READ 0.5, SCAN 0.5", "zipfian: exact zipf of theta 0.5 over 10^10 + 1 ranks, folded by YCSB's hash modulo 1001, redrawn beyond the records",
			"uniform 5 to 6", "constant 1000 op/s"},
		{[]string{"readproportion=0", "insertproportion=1", "requestdistribution=zipfian"},
			"INSERT 1", "inserts alone, from key number 1000 on", "", "constant 1000 op/s"},
		{[]string{"updateproportion=0.000000000000000001", "readproportion=0.999999999999999999", "readmodifywriteproportion=1"},
			"READ 999999999999999999/2000000000000000000, UPDATE 1/2000000000000000000, READMODIFYWRITE 0.5",
			"uniform over the 1000 records loaded", "", "constant 1000 op/s"},
	} {
		p := mustGenerator(t, mixSpec(t, c.properties...)).Header().Phases[1]
		mix := ""
		for _, share := range p.Mix {
			if mix != "" {
				mix += ", "
			}
			mix += share.Kind.String() + " " + share.Share
		}
		if mix != c.mix || p.KeyLaw != c.keys || p.ScanLaw != c.scan || p.Arrivals != c.arrive {
			t.Errorf("%v:\ngot  %s | %s | %s | %s\nwant %s | %s | %s | %s", c.properties, mix, p.KeyLaw, p.ScanLaw, p.Arrivals,
				c.mix, c.keys, c.scan, c.arrive)
		}
	}
}
