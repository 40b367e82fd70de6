package tracegen

import (
	"slices"
	"strings"

	"pianola/tracegen/spelling"
)

// propertyUse says what becomes of a property.
type propertyUse string

const (
	// used properties make the trace.
	used propertyUse = "used"
	// unused ones belong to CoreWorkload and have no effect on a trace.
	unused propertyUse = "unused"
	// notYet ones are refused unless they say what holds anyway.
	notYet propertyUse = "not yet"
	// hint properties are kept in the header for the client or the binding.
	hint propertyUse = "hint"
	// noted ones belong to YCSB's client and are named in one note.
	noted propertyUse = "noted"
	// otherClass ones belong to workload classes that are refused.
	otherClass propertyUse = "refused"
	// otherStore ones belong to databases that aren't driven.
	otherStore propertyUse = "left out"
)

// knownProperty is a row of the table of properties.
type knownProperty struct {
	name string
	// fallback is the value that holds where none is given.
	fallback string
	use      propertyUse
	// own marks what YCSB doesn't have.
	own bool
}

// knownProperties is every property known by its full name: those of YCSB's
// CoreWorkload and client, of go-ycsb's client, our own, and those of bindings
// whose names have no dot.
var knownProperties = []knownProperty{
	{name: "workload", fallback: "site.ycsb.workloads.CoreWorkload", use: used},
	{name: "table", fallback: "usertable", use: used},
	{name: "recordcount", fallback: "0", use: used},
	{name: "operationcount", fallback: "0", use: used},
	{name: "fieldcount", fallback: "10", use: used},
	{name: "fieldnameprefix", fallback: "field", use: used},
	{name: "fieldlength", fallback: "100", use: used},
	{name: "readallfields", fallback: "true", use: used},
	{name: "writeallfields", fallback: "false", use: used},
	{name: "readproportion", fallback: "0.95", use: used},
	{name: "updateproportion", fallback: "0.05", use: used},
	{name: "insertproportion", fallback: "0", use: used},
	{name: "scanproportion", fallback: "0", use: used},
	{name: "readmodifywriteproportion", fallback: "0", use: used},
	{name: "requestdistribution", fallback: "uniform", use: used},
	{name: "minscanlength", fallback: "1", use: used},
	{name: "maxscanlength", fallback: "1000", use: used},
	{name: "insertorder", fallback: "hashed", use: used},
	{name: "zeropadding", fallback: "1", use: used},
	{name: "target", fallback: "0", use: used},
	{name: "maxexecutiontime", fallback: "0", use: used},

	{name: "keyprefix", fallback: "user", use: used, own: true},
	{name: "zipfian.theta", fallback: "0.99", use: used, own: true},
	{name: "zipfian.range", fallback: "ycsb", use: used, own: true},
	{name: "arrivals", fallback: "constant", use: used, own: true},
	{name: "load.rate", fallback: "0", use: used, own: true},
	{name: "insert.visibility", fallback: "100ms", use: used, own: true},

	{name: "insertstart", fallback: "0", use: used},
	{name: "insertcount", fallback: "recordcount", use: used},
	{name: "minfieldlength", fallback: "1", use: used},
	{name: "fieldlengthdistribution", fallback: "constant", use: used},
	{name: "fieldlengthhistogram", fallback: "hist.txt", use: used},
	{name: "dataintegrity", fallback: "false", use: used},
	{name: "scanlengthdistribution", fallback: "uniform", use: used},
	{name: "hotspotdatafraction", fallback: "0.2", use: used},
	{name: "hotspotopnfraction", fallback: "0.8", use: used},
	{name: "exponential.percentile", fallback: "95", use: used},
	{name: "exponential.frac", fallback: "0.8571428571", use: used},
	{name: "warmuptime", fallback: "0", use: used},
	{name: "batch.size", fallback: "1", use: notYet},
	{name: "deleteproportion", fallback: "0", use: used, own: true},
	{name: "warmup", fallback: "0", use: used, own: true},
	{name: "value.compressibility", use: used, own: true},
	{name: "fieldlength.histogram", use: used, own: true},
	{name: "insert.from", fallback: "recordcount", use: used, own: true},

	{name: "readallfieldsbyname", fallback: "false", use: unused},
	{name: "core_workload_insertion_retry_limit", fallback: "0", use: unused},
	{name: "core_workload_insertion_retry_interval", fallback: "3", use: unused},
	{name: "core_workload_insertion_keep_going_on_error", fallback: "false", use: unused},

	{name: "threadcount", fallback: "1", use: hint},
	{name: "db", fallback: "site.ycsb.BasicDB", use: hint},
	{name: "hosts", use: hint},
	{name: "port", use: hint},
	{name: "ports", use: hint},
	{name: "columnfamily", use: hint},
	{name: "clientbuffering", use: hint},
	{name: "writebuffersize", use: hint},
	{name: "durability", use: hint},
	{name: "principal", use: hint},
	{name: "keytab", use: hint},
	{name: "batchsize", use: hint},
	{name: "debug", use: hint},
	{name: "service", use: hint, own: true},
	{name: "stall", use: hint, own: true},
	{name: "fail", use: hint, own: true},

	{name: "dotransactions", fallback: "true", use: noted},
	{name: "status", fallback: "false", use: noted},
	{name: "status.interval", fallback: "10", use: noted},
	{name: "label", use: noted},
	{name: "exporter", fallback: "site.ycsb.measurements.exporter.TextMeasurementsExporter", use: noted},
	{name: "exportfile", use: noted},
	{name: "spin.sleep", fallback: "false", use: noted},
	{name: "measurementtype", fallback: "hdrhistogram", use: noted},
	{name: "measurement.interval", fallback: "op", use: noted},
	{name: "measurement.trackjvm", fallback: "false", use: noted},
	{name: "measurement.histogram.verbose", fallback: "false", use: noted},
	{name: "measurement.raw.output_file", use: noted},
	{name: "measurement.raw.no_summary", fallback: "false", use: noted},
	{name: "hdrhistogram.percentiles", fallback: "50,95,99", use: noted},
	{name: "hdrhistogram.fileoutput", fallback: "false", use: noted},
	{name: "hdrhistogram.output.path", use: noted},
	{name: "histogram.buckets", fallback: "1000", use: noted},
	{name: "timeseries.granularity", fallback: "1000", use: noted},
	{name: "reportlatencyforeacherror", fallback: "false", use: noted},
	{name: "latencytrackederrors", use: noted},
	{name: "maxscanrate", use: noted},
	{name: "scanoptimelimit", use: noted},
	{name: "discardscannedrecord", use: noted},
	{name: "dropdata", fallback: "false", use: noted},
	{name: "verbose", fallback: "false", use: noted},
	{name: "silence", fallback: "true", use: noted},
	{name: "outputstyle", fallback: "plain", use: noted},
	{name: "measurement.output_file", use: noted},
	{name: "histogram.percentiles.export", fallback: "false", use: noted},
	{name: "histogram.percentiles.export.filepath", fallback: "./", use: noted},
	{name: "debug.pprof", fallback: ":6060", use: noted},

	{name: "disksize", use: otherClass},
	{name: "storageages", use: otherClass},
	{name: "occupancy", use: otherClass},
	{name: "tagcount", use: otherClass},
	{name: "tagcardinality", use: otherClass},
	{name: "tagkeylength", use: otherClass},
	{name: "tagvaluelength", use: otherClass},
	{name: "tagpairdelimiter", use: otherClass},
	{name: "sparsity", use: otherClass},
	{name: "delayedseries", use: otherClass},
	{name: "delayedSeries", use: otherClass},
	{name: "delayedintervals", use: otherClass},
	{name: "delayedIntervals", use: otherClass},
	{name: "timestampunits", use: otherClass},
	{name: "timestampinterval", use: otherClass},
	{name: "querytimespan", use: otherClass},
	{name: "queryrandomtimespan", use: otherClass},
	{name: "querytimespandelimiter", use: otherClass},
	{name: "deletedelimiter", use: otherClass},
	{name: "valuetype", use: otherClass},
	{name: "groupbyfunction", use: otherClass},
	{name: "groupbykey", use: otherClass},
	{name: "groupbykeys", use: otherClass},
	{name: "downsamplingkey", use: otherClass},
	{name: "downsamplingfunction", use: otherClass},
	{name: "downsamplinginterval", use: otherClass},
	{name: "randomtimeseriesorder", use: otherClass},
	{name: "randomwritetimestamporder", use: otherClass},
}

// propertyFamilies says what becomes of the dotted names that begin with a
// word and are not in knownProperties. A family of `used` properties is one of
// ours: its unknown members are errors.
var propertyFamilies = map[string]propertyUse{
	"zipfian": used, "load": used, "insert": used, "value": used, "arrivals": used,
	"warmup": used, "exponential": used, "fieldlength": used,

	"badger": hint, "bbolt": hint, "sqlite": hint,
	"cassandra": hint, "db": hint, "hbase": hint, "ignite": hint, "jdbc": hint,
	"mariadb": hint, "mongodb": hint, "mysql": hint, "pebble": hint, "pg": hint,
	"postgres": hint, "postgresql": hint, "redis": hint,

	"htrace": noted, "status": noted, "measurement": noted, "hdrhistogram": noted,
	"histogram": noted, "timeseries": noted, "basicdb": noted, "gbudb": noted,
}

// flagProperties says which flag people mean who write its name as a property.
var flagProperties = map[string]string{
	"records": "the property is recordcount, the flag --records",
	"ops":     "the property is operationcount, the flag --ops",
	"rate":    "the property is target, the flag --rate",
	"threads": "the property is threadcount",

	"duration": "the property is maxexecutiontime, in seconds, the flag --duration",
	"seed":     "the seed is no part of a spec: give --seed N",
}

// lookUp returns the row of a property.
func lookUp(name string) (knownProperty, bool) {
	i := slices.IndexFunc(knownProperties, func(k knownProperty) bool { return k.name == name })
	if i < 0 {
		return knownProperty{}, false
	}
	return knownProperties[i], true
}

// useOf says what becomes of a property. Where the name is unknown it says no,
// and what is known instead as the end of a message, and a hint.
func useOf(name string) (use propertyUse, instead, advice string, ok bool) {
	if k, ok := lookUp(name); ok {
		return k.use, "", "", true
	}
	family, rest, dotted := strings.Cut(name, ".")
	use, known := propertyFamilies[family]
	if dotted && rest != "" && known && use != used {
		return use, "", "", true
	}
	nearest, near := spelling.Nearest(name, namesLike(dotted))
	if dotted && rest != "" && family != "" && !known && !near {
		return otherStore, "", "", true
	}
	if near {
		instead = ", the nearest known one is " + nearest
	} else if dotted && known {
		instead = ", known " + listed(familyMembers(family))
	}
	return "", instead, flagProperties[name], false
}

// namesLike lists the names that a misspelt one may stand for. A dotted name
// that is not ours may belong to any store; it is taken for a slip of the pen
// only if it is near to one that makes the trace.
func namesLike(dotted bool) []string {
	var names []string
	for _, k := range knownProperties {
		if !dotted || k.use == used || k.use == notYet {
			names = append(names, k.name)
		}
	}
	return names
}

func familyMembers(family string) []string {
	var names []string
	for _, k := range knownProperties {
		if k.name == family || strings.HasPrefix(k.name, family+".") {
			names = append(names, k.name)
		}
	}
	return names
}
