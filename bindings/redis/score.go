package redis

import (
	"unicode/utf8"
)

// score returns what YCSB's index sorts a key by: Java's hash of a string,
// h = 31 h + unit over its UTF-16 units, in 32 bits with sign.
func score(key []byte) int32 {
	var h uint32
	for len(key) > 0 {
		r, n := utf8.DecodeRune(key)
		key = key[n:]
		if r < 1<<16 {
			h = 31*h + uint32(r)
			continue
		}
		r -= 1 << 16
		h = 31*h + uint32(0xd800+r>>10)
		h = 31*h + uint32(0xdc00+r&0x3ff)
	}
	return int32(h)
}
