// Package random gives named streams of random numbers that can be entered at
// any index.
//
// A stream is made from a seed and a list of names. It holds one sequence of
// draws for each 64-bit index, and a sequence is found without the ones before
// it, so blocks of operations can be generated in any order and in parallel.
// Streams don't share state: a new stream shifts no other one, and a law that
// takes more draws at one index shifts no other index.
//
// # Algorithm
//
// Version names it. It is part of what makes an old trace regenerate: a change
// of any number that is drawn needs a new Version.
//
//	golden   = 0x9E3779B97F4A7C15
//	mix(x)   = the finalizer of splitmix64, payload.Mix
//	key      = the first eight bytes, read as a little-endian number, of
//	           SHA-256(Version ‖ 0 byte ‖ le64(seed) ‖ for each name: le64(len) ‖ name)
//	state(i) = mix(key + (i+1)·golden)                   mod 2^64
//	draw j of index i, j counted from 0
//	         = mix(state(i) + (j+1)·golden)              mod 2^64
//
// In words: the source of index i is the generator SplitMix64 seeded with
// output i of another SplitMix64 that is seeded with key. The outer mix makes
// the sequences of neighbouring indexes start at unrelated points of
// SplitMix64's cycle, so that none is a shifted copy of the next.
//
// SplitMix64 is described by Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014. It is no cryptographic
// generator.
package random
