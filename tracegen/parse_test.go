package tracegen

import (
	"io/fs"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pianola/traces"
	"pianola/traces/payload"
)

// quietSpec is a spec of which there is nothing to say. Cases add their lines
// from line 5 on.
const quietSpec = "workload=core\nrecordcount=1000\noperationcount=1000\ntarget=1000\n"

// inputOf makes an input of a text: lines that begin with -p or -- are the
// command line's, the others those of a file called f behind quietSpec. A line
// of = signs begins another file, g.
func inputOf(text string) Input {
	in := Input{Sources: []Source{{Name: "f", Text: []byte(quietSpec)}}}
	flags := map[string]**string{
		"--seed": &in.Flags.Seed, "--records": &in.Flags.Records, "--ops": &in.Flags.Ops,
		"--duration": &in.Flags.Duration, "--rate": &in.Flags.Rate, "--arrivals": &in.Flags.Arrivals,
	}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "-p":
			in.Overrides = append(in.Overrides, rest)
		case flags[word] != nil:
			*flags[word] = &rest
		case strings.HasPrefix(word, "==="):
			in.Sources = append(in.Sources, Source{Name: "g"})
		default:
			s := &in.Sources[len(in.Sources)-1]
			s.Text = append(s.Text, line...)
		}
	}
	in.ReadFile = readHistogram
	return in
}

// histograms are the files that specs may name.
var histograms = map[string]string{
	"hist.txt":     "BlockSize\t10\n0\t5\n1\t3\n2\t2\n",
	"crlf.txt":     "BlockSize 100\r\n0 0\r\n1 7\r\n2 1\r\n3 0\r\n\r\n",
	"one.txt":      "BlockSize\t10\n0\t0\n1\t1\n",
	"empty.txt":    "",
	"headless.txt": "0\t5\n1\t3\n",
	"bare.txt":     "BlockSize\t10\n",
	"gap.txt":      "BlockSize\t10\n0\t5\n\n2\t3\n",
	"minus.txt":    "BlockSize\t10\n0\t-5\n",
	"zeros.txt":    "BlockSize\t10\n0\t0\n",
	"block.txt":    "BlockSize\t268435457\n0\t1\n",
	"long.txt":     "BlockSize\t268435456\n0\t1\n1\t1\n",
}

func readHistogram(source, name string) ([]byte, error) {
	if text, ok := histograms[name]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: source + "'s " + name, Err: fs.ErrNotExist}
}

func noteLines(notes []Note) []string {
	var lines []string
	for _, n := range notes {
		lines = append(lines, n.String())
	}
	return lines
}

func TestDefaultsAreYCSBs(t *testing.T) {
	got, notes, err := Parse(Input{Sources: []Source{{"f", []byte("recordcount=5\noperationcount=7")}}})
	if err != nil {
		t.Fatal(err)
	}
	weights := [traces.KindLimit]*big.Rat{}
	for kind := range weights {
		weights[kind] = new(big.Rat)
	}
	weights[traces.Read], weights[traces.Update] = big.NewRat(95, 100), big.NewRat(5, 100)
	want := &Spec{
		Table: "usertable", Keys: payload.Keys{Prefix: "user", Padding: 1, Order: payload.Hashed},
		Fields:  payload.Fields{Count: 10, Prefix: "field", Length: payload.Length{Constant: 100}},
		Records: 5, InsertFrom: 5, Ops: 7, Weights: weights, Rate: traces.Rate{Numerator: 1000, Denominator: 1},
		Arrivals: Constant, KeyLaw: Uniform, Theta: 0.99, ScanLaw: ScanUniform, ScanMin: 1, ScanMax: 1000,
		HotData: big.NewRat(2, 10), HotOps: big.NewRat(8, 10), NewestOps: big.NewRat(95, 100), NewestData: big.NewRat(8571428571, 1e10),
		ReadAllFields: true, Visibility: 100 * time.Millisecond, Seed: 1,
	}
	if !sameSpec(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	wantNotes := []string{"no workload given: CoreWorkload is assumed", "no rate given: 1000 op/s"}
	if !slices.Equal(noteLines(notes), wantNotes) {
		t.Errorf("notes %q, want %q", noteLines(notes), wantNotes)
	}
}

// sameSpec compares two specs, decimals by value.
func sameSpec(a, b *Spec) bool {
	x, y := *a, *b
	for _, pair := range [][2]**big.Rat{
		{&x.HotData, &y.HotData}, {&x.HotOps, &y.HotOps}, {&x.NewestOps, &y.NewestOps}, {&x.NewestData, &y.NewestData},
	} {
		if (*pair[0]).Cmp(*pair[1]) != 0 {
			return false
		}
		*pair[0], *pair[1] = nil, nil
	}
	for kind := range x.Weights {
		if x.Weights[kind].Cmp(y.Weights[kind]) != 0 {
			return false
		}
	}
	x.Weights, y.Weights = [traces.KindLimit]*big.Rat{}, [traces.KindLimit]*big.Rat{}
	return reflect.DeepEqual(x, y)
}

func TestQuietSpecIsQuiet(t *testing.T) {
	spec, notes, err := Parse(inputOf(""))
	if err != nil || len(notes) > 0 || !spec.RateStated {
		t.Errorf("%+v, %q, %v", spec, noteLines(notes), err)
	}
}

// accepted are texts, the lines of the canonical text that quietSpec doesn't
// have ("-name" for one that it has alone), and the notes, cut by "|".
var accepted = []struct {
	text  string
	lines string
	notes string
}{
	// Words, numbers and free text.
	{"table=orders", "table=orders", ""},
	{"table=caf\u00e9 \u20ac\U0001f600", `table=caf\u00E9 \u20AC\uD83D\uDE00`, ""},
	{`table=\ a\\b`, `table=\ a\\b`, ""},
	{"table=a ", "table=a ", "f:5: table: ends in a blank, which is kept"},
	{"keyprefix=", "keyprefix=", ""},
	{"keyprefix=user#", "keyprefix=user#", ""},
	{"keyprefix=http://x/", "keyprefix=http://x/", ""},
	{"fieldnameprefix=f_", "fieldnameprefix=f_", ""},
	{"fieldcount=32768\nfieldlength=268435456", "fieldcount=32768\nfieldlength=268435456", ""},
	{"fieldcount=1\nfieldlength=0", "fieldcount=1\nfieldlength=0", ""},
	{"fieldcount=+007", "fieldcount=7", ""},
	{"fieldcount=7 \t", "fieldcount=7", "f:5: fieldcount: blanks around the value dropped"},
	{"-p fieldcount= 7", "fieldcount=7", "-p fieldcount: blanks around the value dropped"},
	{"insertorder=ordered ", "insertorder=ordered", "f:5: insertorder: blanks around the value dropped"},
	{"writeallfields=TRUE ", "writeallfields=true", "f:5: writeallfields: blanks around the value dropped"},
	{"readallfields=False", "readallfields=false", ""},
	{"insertorder=ordered\nzeropadding=1000", "insertorder=ordered\nzeropadding=1000", ""},
	{"zeropadding=0", "", ""},

	// Sizes beyond 32 bits, rates.
	{"-p recordcount=5000000000", "recordcount=5000000000", ""},
	{"recordcount=4611686018427387903\noperationcount=0\nmaxexecutiontime=0.000000001\nreadproportion=1\nupdateproportion=0\ntarget=0.5",
		"recordcount=4611686018427387903\noperationcount=0\nmaxexecutiontime=0.000000001\nreadproportion=1\nupdateproportion=0\ntarget=0.5\n-writeallfields",
		"f:5: recordcount: given on line 2 and on line 5, the last one counts|" +
			"f:6: operationcount: given on line 3 and on line 6, the last one counts|" +
			"f:10: target: given on line 4 and on line 10, the last one counts"},
	{"--ops 281474976710655\n--rate 1e6", "operationcount=281474976710655\ntarget=1000000", ""},
	{"-p target=0.000000001\n--ops 4", "target=0.000000001\noperationcount=4", ""},
	{"-p target=1000000000", "target=1000000000", ""},
	{"-p target=33.30", "target=33.3", ""},
	{"-p target=1e3", "", ""},
	{"-p target=0", "", "no rate given: 1000 op/s"},
	{"load.rate=2500.5", "load.rate=2500.5", ""},
	{"load.rate=0", "", ""},
	{"arrivals=poisson", "arrivals=poisson", ""},

	// The end of phase run.
	{"maxexecutiontime=60\n-p operationcount=0", "maxexecutiontime=60\noperationcount=0", ""},
	{"maxexecutiontime=1", "maxexecutiontime=1", ""},
	{"maxexecutiontime=0", "", ""},
	{"maxexecutiontime=0.25", "maxexecutiontime=0.25", "f:5: maxexecutiontime: phase run ends after its duration of 250ms, before its 1000 operations"},
	{"--duration 1m", "maxexecutiontime=60", "f:3: operationcount: phase run ends after 1000 operations, about 1s, before its duration of 1m0s"},
	{"--duration 1m\n--ops 59999", "maxexecutiontime=60\noperationcount=59999", "--ops: phase run ends after 59999 operations, about 1m0s, before its duration of 1m0s"},
	{"--duration 90s\n--ops 100000", "maxexecutiontime=90\noperationcount=100000", "--duration: phase run ends after its duration of 1m30s, before its 100000 operations"},

	// Mix.
	{"readproportion=.5\nupdateproportion=5e-1", "readproportion=0.5\nupdateproportion=0.5", ""},
	{"readproportion=1.\nupdateproportion=0.000", "readproportion=1\nupdateproportion=0\n-writeallfields", ""},
	{"readproportion=95\nupdateproportion=5", "readproportion=95\nupdateproportion=5",
		"the proportions sum to 100: READ 95 %, UPDATE 5 %"},
	{"insertproportion=1", "insertproportion=1\ninsert.visibility=100ms",
		"the proportions sum to 2: READ 47.5 %, UPDATE 2.5 %, INSERT 50 %"},
	{"readproportion=0.999999999999999999\nupdateproportion=0.000000000000000001",
		"readproportion=0.999999999999999999\nupdateproportion=0.000000000000000001", ""},

	// Laws.
	{"requestdistribution=zipfian", "requestdistribution=zipfian\nzipfian.range=ycsb\nzipfian.theta=0.99", ""},
	{"requestdistribution=zipfian\nzipfian.range=exact\nzipfian.theta=2", "requestdistribution=zipfian\nzipfian.range=exact\nzipfian.theta=2", ""},
	{"requestdistribution=zipfian\nzipfian.theta=0.000000000000000001", "requestdistribution=zipfian\nzipfian.range=ycsb\nzipfian.theta=0.000000000000000001", ""},
	{"requestdistribution=latest\nzipfian.theta=1", "requestdistribution=latest\nzipfian.theta=1", ""},
	{"requestdistribution=latest\nzipfian.range=exact", "requestdistribution=latest\nzipfian.theta=0.99",
		"f:6: zipfian.range: no effect without requestdistribution=zipfian"},
	{"zipfian.theta=1\nzipfian.range=ycsb", "",
		"f:5: zipfian.theta: no effect without requestdistribution=zipfian or latest|f:6: zipfian.range: no effect without requestdistribution=zipfian"},
	{"hotspotdatafraction=0.3\nhotspotopnfraction=0.8", "", "f:5: hotspotdatafraction: no effect without requestdistribution=hotspot"},
	{"exponential.percentile=95.0\nexponential.frac=0.5", "", "f:6: exponential.frac: no effect without requestdistribution=exponential"},

	// Scans.
	{"scanproportion=1\nreadproportion=0\nupdateproportion=0\nminscanlength=5\nmaxscanlength=5",
		"scanproportion=1\nreadproportion=0\nupdateproportion=0\nminscanlength=5\nmaxscanlength=5\n-writeallfields", ""},
	{"scanproportion=1\nreadproportion=0\nupdateproportion=0\nmaxscanlength=2147483647",
		"scanproportion=1\nreadproportion=0\nupdateproportion=0\nminscanlength=1\nmaxscanlength=2147483647\n-writeallfields", ""},
	{"maxscanlength=100\nscanlengthdistribution=uniform", "", "f:5: maxscanlength: no effect without scans"},
	{"minscanlength=2000", "", "f:5: minscanlength: no effect without scans"},
	{"scanlengthdistribution=zipfian", "", "f:5: scanlengthdistribution: no effect without scans"},
	{"scanproportion=1\nreadproportion=0\nupdateproportion=0\nmaxscanlength=100\nscanlengthdistribution=zipfian",
		"scanproportion=1\nreadproportion=0\nupdateproportion=0\nminscanlength=1\nmaxscanlength=100\nscanlengthdistribution=zipfian\n-writeallfields", ""},

	// Visibility.
	{"insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=1.5s", "insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=1.5s", ""},
	{"insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=0s", "insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=0s", ""},
	{"insert.visibility=1s", "", "f:5: insert.visibility: no effect without inserts and operations that choose a key"},
	{"insertproportion=0.05\nreadproportion=0.9\n--rate 1000000000", "insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=100ms\ntarget=1000000000",
		"insert.visibility: 100ms are more than 16777216 operations at the highest rate; an insert of that many operations ago is visible"},
	{"insertproportion=1\nreadproportion=0\nupdateproportion=0\nrequestdistribution=latest\ninsert.visibility=1s\nreadallfields=false\nwriteallfields=true",
		"insertproportion=1\nreadproportion=0\nupdateproportion=0\n-requestdistribution\n-readallfields\n-writeallfields",
		"f:8: requestdistribution: no effect without operations that choose a key|" +
			"f:9: insert.visibility: no effect without inserts and operations that choose a key|" +
			"f:10: readallfields: no effect without operations that read|" +
			"f:11: writeallfields: no effect without updates"},

	{"requestdistribution=hotspot", "requestdistribution=hotspot\nhotspotdatafraction=0.2\nhotspotopnfraction=0.8", ""},
	{"requestdistribution=hotspot\nhotspotdatafraction=1\nhotspotopnfraction=1.0", "requestdistribution=hotspot\nhotspotdatafraction=1\nhotspotopnfraction=1", ""},
	{"requestdistribution=hotspot\nhotspotdatafraction=0\nhotspotopnfraction=0", "requestdistribution=hotspot\nhotspotdatafraction=0\nhotspotopnfraction=0", ""},
	{"requestdistribution=hotspot\nhotspotdatafraction=0.0009", "requestdistribution=hotspot\nhotspotdatafraction=0.0009\nhotspotopnfraction=0.8",
		"f:6: hotspotdatafraction: none of 1000 records is hot: all are drawn equally often"},
	{"requestdistribution=hotspot\n-p hotspotdatafraction=1", "requestdistribution=hotspot\nhotspotdatafraction=1\nhotspotopnfraction=0.8",
		"-p hotspotdatafraction: all of 1000 records are hot: all are drawn equally often"},
	{"requestdistribution=sequential", "requestdistribution=sequential", ""},
	{"requestdistribution=sequential\nzipfian.theta=1\nhotspotopnfraction=0.5", "requestdistribution=sequential",
		"f:6: zipfian.theta: no effect without requestdistribution=zipfian or latest|f:7: hotspotopnfraction: no effect without requestdistribution=hotspot"},
	{"requestdistribution=exponential", "requestdistribution=exponential\nexponential.percentile=95\nexponential.frac=0.8571428571", ""},
	{"requestdistribution=exponential\nexponential.percentile=99.9\nexponential.frac=1e-3",
		"requestdistribution=exponential\nexponential.percentile=99.9\nexponential.frac=0.001", ""},
	{"hotspotdatafraction=.20\nhotspotopnfraction=8e-1\nexponential.percentile=95\nexponential.frac=0.8571428571", "", ""},

	// Slices.
	{"insertstart=0\ninsertcount=1000", "", ""},
	{"insertstart=200", "insertstart=200\ninsertcount=800", ""},
	{"insertstart=200\ninsertcount=300", "recordcount=500\ninsertstart=200\ninsertcount=300", ""},
	{"insertcount=300", "recordcount=300", ""},
	{"--records 7\ninsertcount=7", "recordcount=7", ""},
	{"--records 5000000000\ninsertstart=3000000000", "recordcount=5000000000\ninsertstart=3000000000\ninsertcount=2000000000", ""},
	{"insert.from=2000", "", "f:5: insert.from: no effect without inserts"},
	{"insertproportion=0.05\nreadproportion=0.9\ninsert.from=1000", "insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=100ms", ""},
	{"insertproportion=0.05\nreadproportion=0.9\ninsert.from=1050", "insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=100ms\ninsert.from=1050", ""},
	{"insertproportion=0.05\nreadproportion=0.9\ninsertstart=500\ninsertcount=200",
		"insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=100ms\nrecordcount=700\ninsertstart=500\ninsertcount=200\ninsert.from=1000",
		"f:8: insertcount: inserts begin at recordcount=1000, and so do those of every other slice unless it has an insert.from of its own"},
	{"insertproportion=0.05\nreadproportion=0.9\ninsertstart=500",
		"insertproportion=0.05\nreadproportion=0.9\ninsert.visibility=100ms\ninsertstart=500\ninsertcount=500",
		"f:7: insertstart: inserts begin at recordcount=1000, and so do those of every other slice unless it has an insert.from of its own"},

	// Deletes and warmup.
	{"deleteproportion=0.0", "", ""},
	{"deleteproportion=0.1\nreadproportion=0.85", "deleteproportion=0.1\nreadproportion=0.85", ""},
	{"deleteproportion=1\nreadproportion=0\nupdateproportion=0\nrequestdistribution=latest\nhotspotopnfraction=0.5",
		"deleteproportion=1\nreadproportion=0\nupdateproportion=0\n-requestdistribution\n-readallfields\n-writeallfields",
		"f:8: requestdistribution: no effect without operations that choose a key|f:9: hotspotopnfraction: no effect without operations that choose a key"},
	{"warmup=0", "", ""},
	{"warmup=0s\nwarmuptime=0", "", ""},
	{"warmup=10000", "warmup=10000", ""},
	{"warmup=30s", "warmup=30s", ""},
	{"warmup=1h30m ", "warmup=1h30m0s", "f:5: warmup: blanks around the value dropped"},
	{"warmuptime=90", "warmup=1m30s", ""},
	{"warmuptime=90\nwarmup=1.5m", "warmup=1m30s", ""},

	// Values.
	{"fieldlengthdistribution=uniform", "fieldlengthdistribution=uniform\nminfieldlength=1", ""},
	{"fieldlengthdistribution=zipfian\nminfieldlength=10\nfieldlength=200", "fieldlengthdistribution=zipfian\nminfieldlength=10\nfieldlength=200", ""},
	{"fieldlengthdistribution=uniform\nminfieldlength=100", "", ""},
	{"fieldlengthdistribution=histogram", "fieldlengthdistribution=histogram\nfieldlength.histogram=10 5 3 2\n-fieldlength", ""},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=crlf.txt", "fieldlengthdistribution=histogram\nfieldlength.histogram=100 0 7 1\n-fieldlength", ""},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=one.txt", "fieldlength=20", ""},
	{"fieldlengthdistribution=histogram\nfieldlength.histogram= 10  5\t3 0", "fieldlengthdistribution=histogram\nfieldlength.histogram=10 5 3\n-fieldlength", ""},
	{"fieldlengthdistribution=histogram\nfieldlength=50\nminfieldlength=2", "fieldlengthdistribution=histogram\nfieldlength.histogram=10 5 3 2\n-fieldlength",
		"f:6: fieldlength: no effect without fieldlengthdistribution=constant, uniform or zipfian|" +
			"f:7: minfieldlength: no effect without fieldlengthdistribution=uniform or zipfian"},
	{"minfieldlength=2\nfieldlengthhistogram=lengths.txt\nfieldlength.histogram=1 2", "",
		"f:5: minfieldlength: no effect without fieldlengthdistribution=uniform or zipfian|" +
			"f:6: fieldlengthhistogram: no effect without fieldlengthdistribution=histogram|" +
			"f:7: fieldlength.histogram: no effect without fieldlengthdistribution=histogram"},
	{"minfieldlength=01\nfieldlengthhistogram=hist.txt\nfieldlengthdistribution=constant\ndataintegrity=FALSE\nbatch.size=1", "", ""},
	{"dataintegrity=true", "dataintegrity=true", ""},
	{"dataintegrity=true\nfieldlengthdistribution=uniform\nminfieldlength=100", "dataintegrity=true", ""},
	{"value.compressibility=.50", "value.compressibility=0.5", ""},
	{"value.compressibility=0.25", "value.compressibility=0.25", ""},
	{"value.compressibility=0.9\nfieldlengthdistribution=uniform", "value.compressibility=0.9\nfieldlengthdistribution=uniform\nminfieldlength=1", ""},

	// What YCSB's template of a workload sets.
	{"-p recordcount=1000000\n-p operationcount=3000000\ninsertstart=0\nfieldcount=10\nfieldlength=100\nreadallfields=true\nwriteallfields=false\n" +
		"fieldlengthdistribution=constant\nreadproportion=0.95\nupdateproportion=0.05\ninsertproportion=0\nreadmodifywriteproportion=0\n" +
		"scanproportion=0\nmaxscanlength=1000\nscanlengthdistribution=uniform\ninsertorder=hashed\nrequestdistribution=zipfian\n" +
		"hotspotdatafraction=0.2\nhotspotopnfraction=0.8\ntable=usertable\nmeasurementtype=histogram\nhistogram.buckets=1000\n" +
		"timeseries.granularity=1000\nmaxscanrate=0\nscanoptimelimit=0\ndiscardscannedrecord=false",
		"recordcount=1000000\noperationcount=3000000\nrequestdistribution=zipfian\nzipfian.range=ycsb\nzipfian.theta=0.99",
		"f:16: maxscanlength: no effect without scans|" +
			"f:23: measurementtype, histogram.buckets, timeseries.granularity, maxscanrate, scanoptimelimit, discardscannedrecord: no part of a trace, ignored"},

	// Without effect on a trace.
	{"readallfieldsbyname=true", "", "f:5: readallfieldsbyname: no effect on a trace: how all fields are asked for is up to the binding"},
	{"readallfieldsbyname=false", "", ""},
	{"core_workload_insertion_retry_limit=3", "", "f:5: core_workload_insertion_retry_limit: no effect on a trace: no operation is repeated"},
	{"status=true\nmeasurementtype=raw\nhtrace.sampler=x\nexportfile=out.txt", "", "f:5: status, measurementtype, htrace.sampler, exportfile: no part of a trace, ignored"},
	{"aerospike.host=a\nrocksdb.dir=/tmp", "", "f:5: aerospike.host, rocksdb.dir: of a store that is not driven, ignored"},

	// Sources, overrides and flags.
	{"table=a\ntable=b", "table=b", "f:6: table: given on line 5 and on line 6, the last one counts"},
	{"table=a\n===\ntable=b", "table=b", ""},
	{"table=a\n===\ntable=b\n-p table=c", "table=c", ""},
	{"-p table=a\n-p table=b=c", "table=b=c", "-p table: given more than once, the last one counts"},
	{"--records 5\n--ops 6\n--rate 2.5\n--arrivals poisson\n--seed 18446744073709551615",
		"recordcount=5\noperationcount=6\ntarget=2.5\narrivals=poisson", ""},
	{"--records 5\n-p recordcount=05", "recordcount=5", ""},
	{"--duration 1500ms\n-p maxexecutiontime=1.50\n--ops 0\n-p operationcount=0", "maxexecutiontime=1.5\noperationcount=0", ""},
	{"--rate 1e3\n-p target=1000.0", "", ""},
	{"--records 5\n===\nrecordcount=many", "recordcount=5", ""},
	{"workload=site.ycsb.workloads.CoreWorkload ", "", "f:5: workload: given on line 1 and on line 5, the last one counts|f:5: workload: blanks around the value dropped"},
	{"-p workload=com.yahoo.ycsb.workloads.CoreWorkload", "", ""},
}

func TestAcceptedSpecs(t *testing.T) {
	quiet, _, err := Parse(inputOf(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range accepted {
		spec, notes, err := Parse(inputOf(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := strings.Join(noteLines(notes), "|"); got != c.notes {
			t.Errorf("%q: notes\n%s\nwant\n%s", c.text, got, c.notes)
		}
		if got := changedLines(quiet.Canonical(), spec.Canonical()); got != sortedLines(c.lines) {
			t.Errorf("%q: canonical lines\n%s\nwant\n%s", c.text, got, sortedLines(c.lines))
		}
	}
}

// changedLines lists the lines of b that are not in a, and as "-name" the
// properties of a that b lacks.
func changedLines(a, b string) string {
	var changed []string
	for line := range strings.Lines(b) {
		if !strings.Contains("\n"+a, "\n"+line) {
			changed = append(changed, strings.TrimSuffix(line, "\n"))
		}
	}
	for line := range strings.Lines(a) {
		name, _, _ := strings.Cut(line, "=")
		if !strings.Contains("\n"+b, "\n"+name+"=") {
			changed = append(changed, "-"+name)
		}
	}
	return sortedLines(strings.Join(changed, "\n"))
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
