package thin

import (
	"encoding/binary"
	"unicode/utf8"
)

// HashString returns Java's String.hashCode: over UTF-16 units u, h = 31 h + u.
func HashString[T string | []byte](s T) int32 {
	var h uint32
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return hashRunes(string(s))
		}
		h = 31*h + uint32(s[i])
	}
	return int32(h)
}

func hashRunes(s string) int32 {
	var h uint32
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + uint32(0xd800+r>>10)
			h = 31*h + uint32(0xdc00+r&0x3ff)
			continue
		}
		h = 31*h + uint32(r)
	}
	return int32(h)
}

// hashBytes returns Java's Arrays.hashCode of a byte array, h = 31 h + b from 1
// on. It takes eight bytes in a step, by the powers of 31, since every object
// that is sent is hashed and each multiplication would wait for the one before.
func hashBytes(b []byte) int32 {
	const (
		p1 = 31
		p2 = p1 * p1 % (1 << 32)
		p3 = p2 * p1 % (1 << 32)
		p4 = p3 * p1 % (1 << 32)
		p5 = p4 * p1 % (1 << 32)
		p6 = p5 * p1 % (1 << 32)
		p7 = p6 * p1 % (1 << 32)
		p8 = p7 * p1 % (1 << 32)
	)
	h := uint32(1)
	for ; len(b) >= 8; b = b[8:] {
		h = h*p8 + uint32(int8(b[0]))*p7 + uint32(int8(b[1]))*p6 + uint32(int8(b[2]))*p5 + uint32(int8(b[3]))*p4 +
			uint32(int8(b[4]))*p3 + uint32(int8(b[5]))*p2 + uint32(int8(b[6]))*p1 + uint32(int8(b[7]))
	}
	for _, v := range b {
		h = 31*h + uint32(int8(v))
	}
	return int32(h)
}

// keyHash returns the hash by which a key's partition is found; false for types
// whose hash is not known here. key is an object as it is sent.
func keyHash(key []byte) (int32, bool) {
	if len(key) < 5 {
		return 0, false
	}
	body := key[1:]
	switch key[0] {
	case typeInt:
		return int32(binary.LittleEndian.Uint32(body)), true
	case typeLong:
		if len(body) < 8 {
			return 0, false
		}
		v := binary.LittleEndian.Uint64(body)
		return int32(v ^ v>>32), true
	case typeString:
		return HashString(body[4:]), true
	case typeBytes:
		return hashBytes(body[4:]), true
	case typeUUID:
		if len(body) < 16 {
			return 0, false
		}
		v := binary.LittleEndian.Uint64(body) ^ binary.LittleEndian.Uint64(body[8:])
		return int32(v ^ v>>32), true
	case typeObject:
		if len(key) < objectHeader {
			return 0, false
		}
		return int32(binary.LittleEndian.Uint32(key[hashAt:])), true
	}
	return 0, false
}

// partitionOf is RendezvousAffinityFunction's partition of a hash.
func partitionOf(hash int32, partitions int) int {
	if partitions&(partitions-1) == 0 {
		return int(uint32(hash)^uint32(hash)>>16) & (partitions - 1)
	}
	p := int(hash) % partitions
	return max(p, -p)
}
