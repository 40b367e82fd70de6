package tracegen

import (
	"math/big"
	"time"

	"pianola/traces"
	"pianola/traces/payload"
)

// Spec is a workload, checked: what a stream of operations is generated from.
// Parse makes one; docs/ycsb.md has the properties behind the fields. What has
// no effect on the operations, such as scan lengths without scans, is at its
// default, so that specs of equal streams are equal.
type Spec struct {
	Table  string
	Keys   payload.Keys
	Fields payload.Fields
	// Records is the number of records that the load writes, with the key
	// numbers FirstKey <= n < FirstKey+Records: a slice of the whole table where
	// several machines load it together.
	FirstKey, Records uint64
	// InsertFrom is the key number of the first insert of the phases behind the
	// load, FirstKey+Records or more.
	InsertFrom uint64
	// Weights by kind, none nil, as exact decimals; the shares are the weights
	// divided by their sum, which is above 0.
	Weights [traces.KindLimit]*big.Rat
	// Phase warmup comes before phase run and has the same laws; it ends after
	// WarmupOps or WarmupDuration, whichever is not 0. Without either there is none.
	WarmupOps      uint64
	WarmupDuration time.Duration
	// Ops of phase run; 0 where Duration alone ends it, as Duration is 0 where
	// Ops does. Where both are given the earlier ends the phase.
	Ops      uint64
	Duration time.Duration
	// Rate in operations per second, reduced, of a decimal with at most 9 digits
	// behind the point; RateStated is false if it is the default. Zero where
	// Arrivals is a profile, which states its rates.
	Rate       traces.Rate
	RateStated bool
	// Arrivals is Constant, Poisson, or the text of an arrival.Profile.
	Arrivals Arrivals
	// LoadRate paces the load; zero leaves it unpaced.
	LoadRate traces.Rate
	KeyLaw   KeyLaw
	// Theta is the exponent of the zipfian laws, in (0, 2].
	Theta float64
	// HotData is the share of the records that are hot, HotOps that of the
	// operations that go to them, both in [0, 1]: for Hotspot.
	HotData, HotOps *big.Rat
	// For Exponential: NewestOps of the operations, in (0, 1), go to the newest
	// NewestData of the records, above 0.
	NewestOps, NewestData *big.Rat
	// Scan lengths in [ScanMin, ScanMax], by ScanLaw.
	ScanLaw          ScanLaw
	ScanMin, ScanMax uint32
	// ReadAllFields and WriteAllFields choose all fields, else one at random.
	ReadAllFields, WriteAllFields bool
	// Visibility is how old an insert must be to be read, in schedule time.
	Visibility time.Duration
	Seed       uint64
	// Hints are the properties of the client and the bindings, without secrets,
	// sorted by name.
	Hints []traces.Hint
}

// Arrivals says how due times follow one another.
type Arrivals string

const (
	Constant Arrivals = "constant"
	Poisson  Arrivals = "poisson"
)

// KeyLaw says how the keys of reads and updates are chosen.
type KeyLaw string

const (
	// Uniform over the records loaded.
	Uniform KeyLaw = "uniform"
	// ZipfianYCSB is YCSB's folded law over 10^10 + 1 ranks.
	ZipfianYCSB KeyLaw = "zipfian"
	// ZipfianExact is zipf over the records themselves, through a scramble.
	ZipfianExact KeyLaw = "zipfian.exact"
	// Latest is zipf over the age of the records, the newest first.
	Latest KeyLaw = "latest"
	// Hotspot is uniform over the hot records, or over the others.
	Hotspot KeyLaw = "hotspot"
	// Sequential takes the records in the order of their key numbers, again and
	// again.
	Sequential KeyLaw = "sequential"
	// Exponential falls exponentially with the age of the records.
	Exponential KeyLaw = "exponential"
)

// ScanLaw says how long scans are.
type ScanLaw string

const (
	// ScanUniform takes each length equally often.
	ScanUniform ScanLaw = "uniform"
	// ScanZipfian takes the shortest most often.
	ScanZipfian ScanLaw = "zipfian"
)
