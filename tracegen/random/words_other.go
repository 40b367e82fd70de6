//go:build !amd64

package random

// mixed sets out[j] to payload.Mix(state + j · stride).
func mixed(out []uint64, state uint64) { mixedOneByOne(out, state) }
