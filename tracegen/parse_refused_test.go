package tracegen

import (
	"errors"
	"strings"
	"testing"
)

// withHints prints an error of Parse with the hints on lines of their own.
func withHints(err error) string {
	var lines []string
	for _, e := range SpecErrors(err) {
		lines = append(lines, e.Error())
		if e.Hint != "" {
			lines = append(lines, "hint: "+e.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// refused are texts for inputOf and all of the error, with its hints.
var refused = []struct{ text, want string }{
	// Names.
	{"insertpromotion=0.5", `f:5: insertpromotion="0.5": unknown property, the nearest known one is insertproportion`},
	{"RecordCount=5", `f:5: RecordCount="5": unknown property, the nearest known one is recordcount`},
	{"widgets=5", `f:5: widgets="5": unknown property`},
	{"zipfian.skew=1", `f:5: zipfian.skew="1": unknown property, known are zipfian.theta, zipfian.range`},
	{"zipfain.theta=1", `f:5: zipfain.theta="1": unknown property, the nearest known one is zipfian.theta`},
	{"insert.visibilty=1s", `f:5: insert.visibilty="1s": unknown property, the nearest known one is insert.visibility`},
	{"warmup.ops=7", `f:5: warmup.ops="7": unknown property, known is warmup`},
	{"zipfian.=1", `f:5: zipfian.="1": unknown property, known are zipfian.theta, zipfian.range`},
	{".=1", `f:5: .="1": unknown property`},
	{"-p records=5", `-p records="5": unknown property` + "\nhint: the property is recordcount, the flag --records"},
	{"-p ops=5", `-p ops="5": unknown property` + "\nhint: the property is operationcount, the flag --ops"},
	{"-p rate=5", `-p rate="5": unknown property` + "\nhint: the property is target, the flag --rate"},
	{"-p seed=5", `-p seed="5": unknown property` + "\nhint: the seed is no part of a spec: give --seed N"},
	{"-p recordcount", `-p: "recordcount" is not of the form name=value`},
	{"-p =5", `-p: "=5" is not of the form name=value`},
	{"-p redis.password", `-p: a secret is not of the form name=value`},
	{"-p table=\xff", `-p table="\xff": not UTF-8`},
	{"tagcount=4", `f:5: tagcount="4": a property of another workload class, known is CoreWorkload alone`},

	// The workload class.
	{"-p workload=site.ycsb.workloads.TimeSeriesWorkload", `-p workload="site.ycsb.workloads.TimeSeriesWorkload": TimeSeriesWorkload is not supported, known is CoreWorkload alone`},
	{"tagcount=4\n-p workload=site.ycsb.workloads.TimeSeriesWorkload", `-p workload="site.ycsb.workloads.TimeSeriesWorkload": TimeSeriesWorkload is not supported, known is CoreWorkload alone`},
	{"-p workload=com.yahoo.ycsb.workloads.RestWorkload", `-p workload="com.yahoo.ycsb.workloads.RestWorkload": RestWorkload is not supported, known is CoreWorkload alone`},
	{"-p workload=site.ycsb.workloads.ConstantOccupancyWorkload", `-p workload="site.ycsb.workloads.ConstantOccupancyWorkload": ConstantOccupancyWorkload is not supported, known is CoreWorkload alone`},
	{"-p workload=workloada", `-p workload="workloada": unknown workload class, known is site.ycsb.workloads.CoreWorkload` +
		"\nhint: a ready spec or a file is chosen with -w, the class with workload=site.ycsb.workloads.CoreWorkload"},
	{"-p workload=", `-p workload="": empty, expected is the name of a workload class`},

	// Whole numbers.
	{"-p recordcount=", `-p recordcount="": empty, expected is a whole number`},
	{"-p recordcount=1k", `-p recordcount="1k": not a whole number, known are digits alone`},
	{"-p recordcount=5e9", `-p recordcount="5e9": not a whole number, known are digits alone`},
	{"-p recordcount=1,000", `-p recordcount="1,000": not a whole number, known are digits alone`},
	{"-p recordcount=1_000", `-p recordcount="1_000": not a whole number, known are digits alone`},
	{"-p recordcount=10.0", `-p recordcount="10.0": not a whole number, known are digits alone`},
	{"-p recordcount=0x10", `-p recordcount="0x10": not a whole number, known are digits alone`},
	{"-p recordcount=-1", `-p recordcount="-1": out of range, possible are 0 to 4611686018427387903`},
	{"-p recordcount=4611686018427387904", `-p recordcount="4611686018427387904": out of range, possible are 0 to 4611686018427387903`},
	{"-p recordcount=18446744073709551617", `-p recordcount="18446744073709551617": out of range, possible are 0 to 4611686018427387903`},
	{"-p recordcount=0", `-p recordcount="0": a trace needs records` + "\nhint: give recordcount=N or --records N"},
	{"--records 0", `--records "0": a trace needs records` + "\nhint: give recordcount=N or --records N"},
	{"--records many", `--records "many": not a whole number, known are digits alone`},
	{"-p operationcount=281474976710656", `-p operationcount="281474976710656": out of range, possible are 0 to 281474976710655`},
	{"-p operationcount=0", `-p operationcount="0": phase run has no end` +
		"\nhint: give operationcount=N or --ops N, or maxexecutiontime=SECONDS or --duration D"},
	{"fieldcount=0", `f:5: fieldcount="0": out of range, possible are 1 to 32768`},
	{"fieldcount=32769", `f:5: fieldcount="32769": out of range, possible are 1 to 32768`},
	{"fieldlength=268435457", `f:5: fieldlength="268435457": out of range, possible are 0 to 268435456`},
	{"zeropadding=1001", `f:5: zeropadding="1001": out of range, possible are 0 to 1000`},
	{"threadcount=0", `f:5: threadcount="0": out of range, possible are 1 to 2147483647`},
	{"--seed -1", `--seed "-1": out of range, possible are 0 to 18446744073709551615`},
	{"--seed 0x1", `--seed "0x1": not a whole number, known are digits alone`},

	// Remarks and placeholders.
	{"-p recordcount=1000 # records", `-p recordcount="1000 # records": a remark behind the value, known are remarks on lines of their own`},
	{"fieldcount=10 // fields", `f:5: fieldcount="10 // fields": a remark behind the value, known are remarks on lines of their own`},
	{"fieldcount=10 (fields)", `f:5: fieldcount="10 (fields)": a remark behind the value, known are remarks on lines of their own`},
	{"fieldcount=10[fields]", `f:5: fieldcount="10[fields]": a remark behind the value, known are remarks on lines of their own`},
	{"insertorder=hashed {default}", `f:5: insertorder="hashed {default}": a remark behind the value, known are remarks on lines of their own`},
	{"readallfields=true #yes", `f:5: readallfields="true #yes": a remark behind the value, known are remarks on lines of their own`},
	{"table=usertable # the table", `f:5: table="usertable # the table": a remark behind the value, known are remarks on lines of their own`},
	{"fieldcount=${FIELDS}", `f:5: fieldcount="${FIELDS}": a placeholder left unexpanded, expected is a whole number`},
	{"fieldcount=<fields>", `f:5: fieldcount="<fields>": a placeholder left unexpanded, expected is a whole number`},
	{"fieldcount=%FIELDS%", `f:5: fieldcount="%FIELDS%": a placeholder left unexpanded, expected is a whole number`},
	{"insertorder={{ order }}", `f:5: insertorder="{{ order }}": a placeholder left unexpanded, expected is one of hashed, ordered`},
	{"table=t_${N}", `f:5: table="t_${N}": a placeholder left unexpanded`},
	{"keyprefix={{p}}", `f:5: keyprefix="{{p}}": a placeholder left unexpanded`},
	{"hosts=<hosts>", `f:5: hosts="<hosts>": a placeholder left unexpanded`},
	{"cassandra.keyspace=ks_${N}", `f:5: cassandra.keyspace="ks_${N}": a placeholder left unexpanded`},
	{"status=%STATUS%", `f:5: status="%STATUS%": a placeholder left unexpanded`},

	// Booleans, words, free text.
	{"readallfields=yes", `f:5: readallfields="yes": neither true nor false`},
	{"writeallfields=", `f:5: writeallfields="": empty, expected is true or false`},
	{"insertorder=sorted", `f:5: insertorder="sorted": unknown, known are hashed, ordered`},
	{"insertorder=order", `f:5: insertorder="order": unknown, known are hashed, ordered, the nearest is ordered`},
	{"requestdistribution=zipf", `f:5: requestdistribution="zipf": unknown, known are uniform, zipfian, latest, hotspot, sequential, exponential`},
	{"requestdistribution=Zipfian", `f:5: requestdistribution="Zipfian": unknown, known are uniform, zipfian, latest, hotspot, sequential, exponential, the nearest is zipfian`},
	{"zipfian.range=full", `f:5: zipfian.range="full": unknown, known are ycsb, exact`},
	{"arrivals=uniform", `f:5: arrivals="uniform": unknown, known are constant, poisson, step, ramp, sine, burst`},
	{"table=", `f:5: table="": empty, expected is the name of a table`},
	{`table=a\tb`, `f:5: table="a\tb": holds a control character`},
	{"keyprefix=" + strings.Repeat("k", 1025), `f:5: keyprefix="` + strings.Repeat("k", 80) + `"...: 1025 bytes long, at most 1024 are possible`},

	// Decimals, rates, durations.
	{"readproportion=-0.1", `f:5: readproportion="-0.1": negative, known are numbers from 0 on`},
	{"readproportion=half", `f:5: readproportion="half": not a decimal number, known are digits with a point among them`},
	{"readproportion=50%", `f:5: readproportion="50%": not a decimal number, known are digits with a point among them`},
	{"readproportion=.", `f:5: readproportion=".": not a decimal number, known are digits with a point among them`},
	{"readproportion=NaN", `f:5: readproportion="NaN": not a decimal number, known are digits with a point among them`},
	{"readproportion=0.5d", `f:5: readproportion="0.5d": not a decimal number, known are digits with a point among them`},
	{"readproportion=0,5", `f:5: readproportion="0,5": not a decimal number, known are digits with a point among them`},
	{"readproportion=0.1234567890123456789", `f:5: readproportion="0.1234567890123456789": more than 18 digits`},
	{"readproportion=1e18", `f:5: readproportion="1e18": more than 18 digits`},
	{"readproportion=1e-19", `f:5: readproportion="1e-19": more than 18 digits`},
	{"readproportion=1e999", `f:5: readproportion="1e999": more than 18 digits`},
	{"readproportion=0\nupdateproportion=0", `f:6: updateproportion="0": the proportions sum to 0, at least one must be more`},
	{"zipfian.theta=0", `f:5: zipfian.theta="0": out of range, possible are numbers above 0 and up to 2`},
	{"zipfian.theta=2.1", `f:5: zipfian.theta="2.1": out of range, possible are numbers above 0 and up to 2`},
	{"-p target=1000000000.1", `-p target="1000000000.1": out of range, at most 1000000000 operations per second are possible`},
	{"-p target=0.0000000001", `-p target="0.0000000001": more than 9 digits behind the point`},
	{"-p target=1000/s", `-p target="1000/s": not a decimal number, known are digits with a point among them`},
	{"--rate 0", `--rate "0": must be more than 0`},
	{"load.rate=-1", `f:5: load.rate="-1": negative, known are numbers from 0 on`},
	{"maxexecutiontime=60s", `f:5: maxexecutiontime="60s": not a decimal number, known are digits with a point among them`},
	{"maxexecutiontime=4611686019", `f:5: maxexecutiontime="4611686019": out of range, at most 4611686018 seconds are possible`},
	{"--duration 60", `--duration "60": a duration without its unit, known are ns, us, ms, s, m, h` + "\nhint: write 60ms or 60s"},
	{"--duration soon", `--duration "soon": not a duration, known are numbers with a unit like 100ms, 1.5s or 1h30m`},
	{"--duration 0s", `--duration "0s": must be more than 0`},
	{"--duration -1s", `--duration "-1s": negative, known are durations from 0 on`},
	{"--duration 2000000h", `--duration "2000000h": out of range, at most 146 years are possible`},
	{"insert.visibility=100", `f:5: insert.visibility="100": a duration without its unit, known are ns, us, ms, s, m, h` + "\nhint: write 100ms or 100s"},

	// What doesn't fit together.
	{"minscanlength=200\nmaxscanlength=100", `f:6: maxscanlength="100": less than minscanlength=200`},
	{"scanproportion=0.95\nreadproportion=0\nminscanlength=2000", `f:7: minscanlength="2000": more than maxscanlength=1000, its default`},
	{"minscanlength=0", `f:5: minscanlength="0": out of range, possible are 1 to 2147483647`},
	{"maxscanlength=2147483648", `f:5: maxscanlength="2147483648": out of range, possible are 1 to 2147483647`},
	{"--records 5\n-p recordcount=6", `--records "5": disagrees with -p recordcount="6"`},
	{"--ops 5\n-p operationcount=6", `--ops "5": disagrees with -p operationcount="6"`},
	{"--rate 5\n-p target=0", `--rate "5": disagrees with -p target="0"`},
	{"--duration 5s\n-p maxexecutiontime=6", `--duration "5s": disagrees with -p maxexecutiontime="6"`},
	{"--arrivals poisson\n-p arrivals=constant", `--arrivals "poisson": disagrees with -p arrivals="constant"`},
	{"--records 5\n-p recordcount=many", `-p recordcount="many": not a whole number, known are digits alone`},
	{"--rate 0.00000001\n--ops 1000", `--rate "0.00000001": phase run would last longer than 146 years`},
	{"load.rate=0.00000001", `f:5: load.rate="0.00000001": phase load would last longer than 146 years`},
	{"--ops 0\n--duration 1000h\n--rate 1e9", `--duration "1000h": phase run would have more than 281474976710655 operations`},
	{"--ops 0\n--duration 281474976710655ns\n--rate 1e9\n--arrivals poisson", `--duration "281474976710655ns": phase run would have more than 281474976710655 operations`},
	{"insertproportion=0.05\n--records 4611686018427387903", `--records "4611686018427387903": records and inserts together could be 2^62 keys or more`},
	{"insertproportion=999999999999999999\nrequestdistribution=zipfian", `f:2: recordcount="1000": records and inserts together could be 2^62 keys or more`},

	// Laws of keys and of scans.
	{"hotspotopnfraction=most", `f:5: hotspotopnfraction="most": not a decimal number, known are digits with a point among them`},
	{"requestdistribution=hotspot\nhotspotdatafraction=1.1\nhotspotopnfraction=-1", `f:6: hotspotdatafraction="1.1": out of range, possible are numbers from 0 to 1` +
		"\n" + `f:7: hotspotopnfraction="-1": negative, known are numbers from 0 on`},
	{"hotspotdatafraction=20", `f:5: hotspotdatafraction="20": out of range, possible are numbers from 0 to 1`},
	{"requestdistribution=exponential\nexponential.percentile=100", `f:6: exponential.percentile="100": out of range, possible are numbers above 0 and below 100`},
	{"exponential.percentile=0", `f:5: exponential.percentile="0": out of range, possible are numbers above 0 and below 100`},
	{"exponential.frac=0", `f:5: exponential.frac="0": out of range, possible are numbers above 0 and up to 100`},
	{"exponential.frac=101", `f:5: exponential.frac="101": out of range, possible are numbers above 0 and up to 100`},
	{"exponential.fraction=1", `f:5: exponential.fraction="1": unknown property, known are exponential.percentile, exponential.frac`},
	{"scanlengthdistribution=constant", `f:5: scanlengthdistribution="constant": unknown, known are uniform, zipfian`},

	// Slices.
	{"insertstart=1000", `f:5: insertstart="1000": not below recordcount=1000: no record is left for the slice`},
	{"insertstart=5000\ninsertcount=10", `f:5: insertstart="5000": not below recordcount=1000: no record is left for the slice`},
	{"insertstart=10\ninsertcount=995", `f:6: insertcount="995": insertstart=10 and insertcount=995 reach beyond recordcount=1000`},
	{"--records 5\ninsertcount=6", `f:5: insertcount="6": insertstart=0 and insertcount=6 reach beyond recordcount=5`},
	{"insertcount=0", `f:5: insertcount="0": out of range, possible are 1 to 4611686018427387903`},
	{"insertcount=recordcount", `f:5: insertcount="recordcount": not a whole number, known are digits alone`},
	{"insertstart=-1", `f:5: insertstart="-1": out of range, possible are 0 to 4611686018427387903`},
	{"insertproportion=0.05\ninsert.from=999", `f:6: insert.from="999": below recordcount=1000: the load of this or another slice writes that key number`},
	{"insertproportion=0.05\ninsert.from=4611686018427387903", `f:6: insert.from="4611686018427387903": records and inserts together could be 2^62 keys or more`},

	// Warmup and deletes.
	{"warmup=soon", `f:5: warmup="soon": not a duration, known are numbers with a unit like 100ms, 1.5s or 1h30m`},
	{"warmup=1.5", `f:5: warmup="1.5": neither a whole number of operations nor a duration with its unit`},
	{"warmup=", `f:5: warmup="": empty, expected is a number of operations or a duration`},
	{"warmup=-5s", `f:5: warmup="-5s": negative, known are durations from 0 on`},
	{"warmup=30s\nwarmuptime=31", `f:6: warmuptime="31": disagrees with warmup="30s"`},
	{"warmup=3000\nwarmuptime=3", `f:6: warmuptime="3": disagrees with warmup="3000"`},
	{"warmup=281474976710655\n--rate 1e6", `f:5: warmup="281474976710655": phases warmup and run would have more than 281474976710655 operations together`},
	{"warmuptime=4000000000\n--rate 1000000", `f:5: warmuptime="4000000000": phases warmup and run would have more than 281474976710655 operations together`},
	{"warmup=1000\n--rate 0.00000001\n--ops 1", `f:5: warmup="1000": phase warmup would last longer than 146 years`},
	{"deleteproportion=-1", `f:5: deleteproportion="-1": negative, known are numbers from 0 on`},
	{"readproportion=0\nupdateproportion=0\ndeleteproportion=0", `f:7: deleteproportion="0": the proportions sum to 0, at least one must be more`},

	// Values.
	{"fieldlengthdistribution=normal", `f:5: fieldlengthdistribution="normal": unknown, known are constant, uniform, zipfian, histogram`},
	{"fieldlengthdistribution=uniform\nminfieldlength=101", `f:6: minfieldlength="101": more than fieldlength=100`},
	{"fieldlengthdistribution=zipfian\nfieldlength=0", `f:6: fieldlength="0": less than minfieldlength=1, its default`},
	{"minfieldlength=-1", `f:5: minfieldlength="-1": out of range, possible are 0 to 268435456`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=gone.txt", `f:6: fieldlengthhistogram="gone.txt": read histogram: open f's gone.txt: file does not exist` +
		"\nhint: a name without / at its head counts from the directory of the spec that holds it"},
	{"fieldlengthdistribution=histogram\n-p fieldlengthhistogram=gone.txt", `-p fieldlengthhistogram="gone.txt": read histogram: open -p's gone.txt: file does not exist` +
		"\nhint: a name without / at its head counts from the directory of the spec that holds it"},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=", `f:6: fieldlengthhistogram="": empty, expected is the name of a file`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=empty.txt", `f:6: fieldlengthhistogram="empty.txt": line 1 of the file: the file ends before the first bucket`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=headless.txt",
		`f:6: fieldlengthhistogram="headless.txt": line 1 of the file: "0\t5", expected is "BlockSize", a tab and a whole number`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=bare.txt", `f:6: fieldlengthhistogram="bare.txt": line 2 of the file: the file ends before the first bucket`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=gap.txt", `f:6: fieldlengthhistogram="gap.txt": line 4 of the file: "2\t3", expected is "1", a tab and a whole number`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=minus.txt", `f:6: fieldlengthhistogram="minus.txt": line 2 of the file: "-5" is not a whole number below 2^63`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=zeros.txt", `f:6: fieldlengthhistogram="zeros.txt": histogram of value lengths: the weights sum to 0`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=block.txt",
		`f:6: fieldlengthhistogram="block.txt": line 1 of the file: buckets of 268435457 bytes, values have at most 268435456`},
	{"fieldlengthdistribution=histogram\nfieldlengthhistogram=long.txt",
		`f:6: fieldlengthhistogram="long.txt": histogram of value lengths: 2 buckets of 268435456 bytes, values have 1 to 268435456 bytes`},
	{"fieldlengthdistribution=histogram\nfieldlength.histogram=10", `f:6: fieldlength.histogram="10": only one number, expected is the size of a bucket and the weights of the buckets`},
	{"fieldlengthdistribution=histogram\nfieldlength.histogram=10 5 x",
		`f:6: fieldlength.histogram="10 5 x": number 3 is no size or weight, or one too many: known are the size of a bucket in bytes, at most 268435456, and the weights of up to 4096 buckets`},
	{"fieldlengthdistribution=histogram\nfieldlength.histogram=10 0 0", `f:6: fieldlength.histogram="10 0 0": histogram of value lengths: the weights sum to 0`},
	{"fieldlengthdistribution=histogram\nfieldlength.histogram=10 5\nfieldlengthhistogram=hist.txt",
		`f:6: fieldlength.histogram="10 5": the histogram is given by fieldlengthhistogram="hist.txt" as well`},
	{"dataintegrity=yes", `f:5: dataintegrity="yes": neither true nor false`},
	{"dataintegrity=true\nfieldlengthdistribution=uniform", `f:5: dataintegrity="true": needs values of one length, as in YCSB: fieldlengthdistribution=uniform`},
	{"dataintegrity=true\nvalue.compressibility=0.5", `f:6: value.compressibility="0.5": contradicts dataintegrity=true, whose values are YCSB's own`},
	{"dataintegrity=true\nkeyprefix=k\u00e4se", `f:5: dataintegrity="true": YCSB's values for dataintegrity=true need one length and names of ASCII alone`},
	{"value.compressibility=0.2", `f:5: value.compressibility="0.2": out of range, possible are shares from 0.25 to 0.9: printable values shrink by a quarter at least`},
	{"value.compressibility=2", `f:5: value.compressibility="2": out of range, possible are shares from 0.25 to 0.9: printable values shrink by a quarter at least`},
	{"value.compressibility=0.5001", `f:5: value.compressibility="0.5001": more than 3 digits behind the point`},
	{"value.compressibility=50%", `f:5: value.compressibility="50%": not a decimal number, known are digits with a point among them`},

	// Later versions.
	{"batch.size=5", `f:5: batch.size="5": not supported by this version yet, supported is 1`},
	{"arrivals=ramp", `f:5: arrivals="ramp": no colon behind the word
hint: for example ramp:1000..5000/60s`},
	{"arrivals=ramp:5..0/1s", `f:5: arrivals="ramp:5..0/1s": the ramp ends without operations, and its last rate stays
hint: for example ramp:1000..5000/60s`},
	{"arrivals=step:10s@5 # slow", `f:5: arrivals="step:10s@5 # slow": a remark behind the value, known are remarks on lines of their own`},
	{"arrivals=step:10s@5,1s@7\ntarget=5", `f:6: target="5": contradicts arrivals=step:10s@5,1s@7, which states its rates
hint: leave one of them out`},
	{"arrivals=step:10s@5,1s@7\n--rate 5", `--rate "5": contradicts arrivals=step:10s@5,1s@7, which states its rates
hint: leave one of them out`},
	{"target=0\noperationcount=10000\narrivals=step:1h@1,1s@0.000000001", `f:6: operationcount="10000": phase run would last longer than 146 years`},
}

func TestRefusedSpecs(t *testing.T) {
	for _, c := range refused {
		spec, _, err := Parse(inputOf(c.text))
		if got := withHints(err); got != c.want || spec != nil {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

func TestEveryErrorOfAllSourcesIsReportedInOrder(t *testing.T) {
	records := "few"
	_, _, err := Parse(Input{
		Sources: []Source{
			{"one", []byte("recordcount=lots\nfieldcount=0\nb\xe9=1\nreadproportion=-1\n")},
			{"two", []byte("tabel=x\n\ndataintegrity=maybe")},
		},
		Overrides: []string{"insertorder=random", "operationcount"},
		Flags:     Flags{Records: &records},
	})
	want := `one:2: fieldcount="0": out of range, possible are 1 to 32768
one:3: byte 0xE9 is not UTF-8: save the file as UTF-8 or write the character as \uXXXX
one:4: readproportion="-1": negative, known are numbers from 0 on
two:1: tabel="x": unknown property, the nearest known one is table
two:3: dataintegrity="maybe": neither true nor false
-p insertorder="random": unknown, known are hashed, ordered
-p: "operationcount" is not of the form name=value
--records "few": not a whole number, known are digits alone
operationcount: not given, phase run has no end
hint: give operationcount=N or --ops N, or maxexecutiontime=SECONDS or --duration D`
	if got := withHints(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if lines := strings.Count(err.Error(), "\n"); lines != 8 {
		t.Errorf("%d line ends between 9 errors:\n%v", lines, err)
	}
	faults := SpecErrors(err)
	if len(faults) != 9 {
		t.Fatalf("%d faults, want 9", len(faults))
	}
	for i, f := range []SpecError{
		{File: "one", Line: 2, Name: "fieldcount", Value: "0", Reason: "out of range, possible are 1 to 32768"},
		{File: "one", Line: 3, Reason: `byte 0xE9 is not UTF-8: save the file as UTF-8 or write the character as \uXXXX`},
	} {
		if *faults[i] != f {
			t.Errorf("fault %d is %+v, want %+v", i, *faults[i], f)
		}
	}
	if faults[8].Hint == "" || len(SpecErrors(errors.New("torn"))) > 0 || len(SpecErrors(nil)) > 0 {
		t.Errorf("last fault is %+v", faults[8])
	}
}

func TestAnEmptyInputSaysWhatIsMissing(t *testing.T) {
	_, _, err := Parse(Input{})
	want := `recordcount: not given, a trace needs records
hint: give recordcount=N or --records N
operationcount: not given, phase run has no end
hint: give operationcount=N or --ops N, or maxexecutiontime=SECONDS or --duration D`
	if got := withHints(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
