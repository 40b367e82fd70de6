// Package dist samples the laws of a workload: which record an operation
// touches, and how long the random gaps between operations are.
//
// Every law is a table made once, safe for concurrent use, and a Sample method
// that takes its randomness from a random.Source and allocates nothing. A
// sample depends on the law and the source alone and is the same on every
// architecture and under every version of Go: choices are made on integers, the
// elementary functions are the package's own, and each product that is added to
// something is rounded by an explicit conversion, which the language says
// prevents fused multiply-add. Of package math only Floor, Frexp and Ldexp are
// used, which are exact.
//
// # The sampler
//
// Zipf, YCSBZipf and Exponential are laws over integers whose probability falls
// smoothly. They share one method. The integers are put in buckets: each one
// alone while they are small, then 32 buckets to an octave (as in an
// HdrHistogram), or buckets of one width for Exponential. A bucket is drawn
// from an alias table with the weight it would have if all its integers were as
// probable as its first, and an integer in it is drawn uniformly. It is
// accepted with the ratio of its probability to that of the first. The tangent
// to that ratio lies below it and is linear, so nearly all draws are accepted
// by one multiplication, at most 2 in 100 are not. The line from one end of the
// ratio to the other lies above it: most of the others are rejected by a second
// multiplication, and a few in 10,000 need the ratio itself. The table's size
// grows with the logarithm of the range, not with the range.
//
// The sampler is exact but for the rounding of weights and ratios: the sum over
// all integers of the absolute error in probability is below 2^-44.
//
// The alias method is Walker's (1977), its table is built as Vose proposed
// (1991).
package dist

// Version names the samplers, as trace headers hold it. A change of any sample
// of any law needs a new Version.
const Version = "bucket-alias/2"
