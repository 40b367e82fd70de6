//go:build !amd64

package keymap

// hashTogether hashes no numbers together on this processor.
func hashTogether(hashes, numbers []uint64) int { return 0 }

// mapOnce does no numbers together on this processor.
func (s *Scramble) mapOnce(images, numbers []uint64) int { return 0 }
