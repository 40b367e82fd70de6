package keymap

import "golang.org/x/sys/cpu"

// has512 says that the processor works on eight 64-bit words at a time.
var has512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

// mapOnce512 goes through the network once for n numbers, a multiple of 8 above
// 0: an image may be s.n or greater. s.a must be below 2^32 and s.h above 0.
//
//go:noescape
func mapOnce512(images, numbers *uint64, n int, s *Scramble)

// hash512 sets hashes[j], j < n, a multiple of 16 above 0, to
// payload.HashNumber of numbers[j].
//
//go:noescape
func hash512(hashes, numbers *uint64, n int)

// hashTogether hashes as many numbers as it can do together, and returns how many
// those are.
func hashTogether(hashes, numbers []uint64) int {
	n := len(numbers) &^ 15
	if n == 0 || !has512 {
		return 0
	}
	hash512(&hashes[:n][0], &numbers[0], n)
	return n
}

// mapOnce goes through the network once for as many numbers as it can do
// together, and returns how many those are.
func (s *Scramble) mapOnce(images, numbers []uint64) int {
	n := len(numbers) &^ 7
	if n == 0 || !has512 || s.a >= 1<<32 || s.h == 0 {
		return 0
	}
	mapOnce512(&images[:n][0], &numbers[0], n, s)
	return n
}
