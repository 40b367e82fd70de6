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
//	stride   = 0xA0761D6478BD642F
//	mix(x)   = the finalizer of splitmix64, payload.Mix
//	key      = the first eight bytes, read as a little-endian number, of
//	           SHA-256(Version ‖ 0 byte ‖ le64(seed) ‖ for each name: le64(len) ‖ name)
//	draw j of index i, both counted from 0
//	         = mix(key + i·stride + (j+1)·golden)        mod 2^64
//
// In words: a source is the generator SplitMix64, and the sources of a stream
// start stride apart on its cycle of 2^64 words. A draw costs one mix wherever
// it is. The first 2^20 draws of the first 2^43 indexes are at different points
// of the cycle.
//
// SplitMix64 is described by Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014. It is no cryptographic
// generator.
package random
