package payload

import (
	"fmt"
	"strconv"
)

// Fields is the scheme of a record's fields: their names and how the values
// are built.
type Fields struct {
	// Field i is called Prefix followed by i in decimal, 0 <= i < Count.
	Count  int
	Prefix string
	Length Length
	Values Values
}

// Name returns the name of field i.
func (f *Fields) Name(i int) string { return f.Prefix + strconv.Itoa(i) }

// Check says what is wrong with the scheme of fields of records with these
// keys, if anything is.
func (f *Fields) Check(keys *Keys) error {
	if f.Count < 1 || f.Count > MaxFields {
		return fmt.Errorf("%d fields, possible are 1 to %d", f.Count, MaxFields)
	}
	if err := f.Length.check(); err != nil {
		return err
	}
	return f.Values.check(f, keys)
}

// Append appends the value of one field to dst. It depends on seed, key number,
// field index and version, and on nothing else: f.Length says how long it is,
// f.Values of which bytes. Where the values carry versions, one of MinVersioned
// bytes and more begins with its version as 12 hexadecimal digits and a colon.
//
// What is random comes from a counter of state = Mix(Mix(Mix(seed) ^ key) ^
// (version << 16 ^ field)): the length from Mix(state), the bytes from those
// behind it.
func (f *Fields) Append(dst []byte, seed, key uint64, field int, version uint64) []byte {
	if f.Values.Scheme == YCSBIntegrity {
		return f.Values.appendIntegrity(dst, f, key, field)
	}
	state := valueState(seed, key, field, version)
	n, head := f.Length.of(state), 0
	if n >= MinVersioned {
		dst, head = appendVersion(dst, version), VersionBytes
	}
	if f.Values.Scheme == Compressible {
		return f.Values.appendCompressible(dst, state, n-head, head)
	}
	return appendPrintable(dst, state, n-head)
}

func valueState(seed, key uint64, field int, version uint64) uint64 {
	return Mix(Mix(Mix(seed)^key) ^ (version<<16 ^ uint64(field)))
}

// ValueBytes returns the length of the value that Append builds.
func (f *Fields) ValueBytes(seed, key uint64, field int, version uint64) int {
	if f.Length.law == nil {
		return f.Length.Constant
	}
	return f.Length.of(valueState(seed, key, field, version))
}

// Version reads the version that a value carries. It reports false if it
// carries none.
func (f *Fields) Version(value []byte) (uint64, bool) {
	if f.Values.Scheme == YCSBIntegrity {
		return 0, false
	}
	return Version(value)
}

// Versioned reports whether every value carries its version.
func (f *Fields) Versioned() bool {
	return f.Values.Scheme != YCSBIntegrity && f.Length.Min() >= MinVersioned
}

// Unchanging reports whether a value is the same in every version.
func (f *Fields) Unchanging() bool {
	return f.Values.Scheme == YCSBIntegrity || f.Length.Max() == 0
}
