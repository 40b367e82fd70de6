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
	// numbers 0 <= n < Records.
	Records uint64
	// Weights by kind, none nil, as exact decimals; the shares are the weights
	// divided by their sum, which is above 0.
	Weights [traces.KindLimit]*big.Rat
	// Ops of phase run; 0 where Duration alone ends it, as Duration is 0 where
	// Ops does. Where both are given the earlier ends the phase.
	Ops      uint64
	Duration time.Duration
	// Rate in operations per second, reduced, of a decimal with at most 9 digits
	// behind the point; RateStated is false if it is the default.
	Rate       traces.Rate
	RateStated bool
	// Arrivals is Constant or Poisson.
	Arrivals Arrivals
	// LoadRate paces the load; zero leaves it unpaced.
	LoadRate traces.Rate
	KeyLaw   KeyLaw
	// Theta is the exponent of the zipfian laws, in (0, 2].
	Theta float64
	// Scan lengths are uniform in [ScanMin, ScanMax].
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
)
