// Package arrival computes when operations are due. It is arithmetic without a
// clock: due times count from the start of the phase, and nothing is summed up
// from rounded floats.
//
// # Constant
//
// The due time of operation n is floor(n·10^9/rate) ns for an exact rate, found
// from n alone. A generator calls Due for any n in any order.
//
// # Profiles
//
// Steps, ramps, bursts and sines are Profiles, made by ParseProfile. The due time
// of operation n is found from n alone, in whole numbers of up to 192 bits.
//
// # Poisson
//
// Gaps are whole ticks, independent of one another and unbiased: their mean is
// 1/rate exactly, up to the rounding of a few floats (below one part in 2^45).
// The due time of an operation is the sum of the gaps up to and including its
// own, so operation 0 is due after the first gap.
//
// A generator that works on blocks of operations in parallel fills the columns
// of all blocks apart, and starts a block where the one before it ends:
//
//	schedule.Fill(due, first)            // any blocks in any order
//	start[block+1] = start[block] + due[len(due)-1]
//
// and an operation is due at start[block] + due[i]. Only that prefix sum has an
// order; it is one addition for each block. As a gap is found by the index of
// its operation, the result depends neither on the number of workers nor on
// their speed. Schedule is the interface of all arrival models, of those without
// random gaps too.
//
// The sums fit in 64 bits as long as a Constant of the same rate has its last
// operation due well before MaxDue; beyond it they stay at MaxDue.
package arrival
