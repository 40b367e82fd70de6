//go:build !amd64

package keymap

// mapOnce does no numbers together on this processor.
func (s *Scramble) mapOnce(images, numbers []uint64) int { return 0 }
