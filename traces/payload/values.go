package payload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Scheme says of which bytes values are.
type Scheme uint8

const (
	// Printable values are printable ASCII, each byte one of 64. A compressor
	// saves a quarter of them.
	Printable Scheme = iota
	// Compressible values are runs of such bytes, and of one byte again and again.
	Compressible
	// YCSBIntegrity values are those of YCSB's dataintegrity=true. They depend on
	// key and field, not on seed and version, and carry no version.
	YCSBIntegrity
)

// Values says how the bytes of values are built. Its zero value is Printable.
type Values struct {
	Scheme Scheme
	// Saving is the share of the bytes that a compressor saves, in thousandths,
	// of Compressible values.
	Saving int
	// Keys are the keys that YCSBIntegrity values begin with, those of the records.
	Keys Keys
}

const (
	// MinSaving is what a compressor saves of any printable values, in
	// thousandths: 6 bits of 8 are left.
	MinSaving = 250
	// MaxSaving bounds Values.Saving.
	MaxSaving = 900

	printableName    = "printable/1"
	compressibleName = "compressible/1"
	integrityName    = "ycsb-integrity/1"
)

// String returns the scheme as trace headers hold it, with its version:
// "printable/1", "compressible/1 0.5" with the share that is saved, or
// "ycsb-integrity/1".
func (v Values) String() string {
	switch v.Scheme {
	case Compressible:
		return compressibleName + " " + strconv.FormatFloat(float64(v.Saving)/1000, 'f', -1, 64)
	case YCSBIntegrity:
		return integrityName
	default:
		return printableName
	}
}

// ParseValues is the inverse of Values.String: it takes what that gives and
// nothing else. keys are those of the records.
func ParseValues(s string, keys Keys) (Values, error) {
	var v Values
	name, saving, _ := strings.Cut(s, " ")
	switch name {
	case compressibleName:
		share, err := strconv.ParseFloat(saving, 64)
		if err != nil || !(share >= MinSaving/1000.0 && share <= MaxSaving/1000.0) {
			break
		}
		v = Values{Scheme: Compressible, Saving: int(share*1000 + 0.5)}
	case integrityName:
		v = Values{Scheme: YCSBIntegrity, Keys: keys}
	}
	if v.String() != s {
		return Values{}, fmt.Errorf("unknown way of building values %q", shortened(s))
	}
	return v, nil
}

// ErrIntegrity says that YCSB has no values for such fields with
// dataintegrity=true.
var ErrIntegrity = errors.New("YCSB's values for dataintegrity=true need one length and names of ASCII alone")

func (v *Values) check(f *Fields, keys *Keys) error {
	switch {
	case v.Scheme > YCSBIntegrity:
		return fmt.Errorf("unknown way %d of building values", v.Scheme)
	case v.Scheme == Compressible && (v.Saving < MinSaving || v.Saving > MaxSaving):
		return fmt.Errorf("values of which %d thousandths are saved, possible are %d to %d", v.Saving, MinSaving, MaxSaving)
	case v.Scheme == YCSBIntegrity && v.Keys != *keys:
		return errors.New("values that begin with other keys than those of the records")
	case v.Scheme == YCSBIntegrity && (f.Length.law != nil || !isASCII(keys.Prefix) || !isASCII(f.Prefix)):
		return ErrIntegrity
	}
	return nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > '~' }) < 0
}

// appendIntegrity appends the value that YCSB's CoreWorkload builds with
// dataintegrity=true: key, colon and name of the field, then again and again a
// colon and Java's hash of the text up to it, cut to the length. Java's hash of a
// string s is the sum of s[i]·31^(n-1-i), a signed number of 32 bits.
func (v *Values) appendIntegrity(dst []byte, f *Fields, key uint64, field int) []byte {
	start, n := len(dst), f.Length.Constant
	// What is appended beyond the length is at most a key, a name and a hash.
	dst = append(v.Keys.Append(dst, key), ':')
	dst = strconv.AppendInt(append(dst, f.Prefix...), int64(field), 10)
	hash, hashed := int32(0), start
	for len(dst)-start < n {
		dst = append(dst, ':')
		for ; hashed < len(dst); hashed++ {
			hash = 31*hash + int32(dst[hashed])
		}
		dst = strconv.AppendInt(dst, int64(hash), 10)
	}
	return dst[:start+n]
}

// compressibleChunk is the number of bytes after which a Compressible value
// begins anew: less than what stores compress at once, so that each part of a
// long value shrinks alike.
const compressibleChunk = 256

// fill is the byte that is repeated.
const fill = '='

// What the change from fill to other bytes takes when it is compressed, and what
// the head of a value takes beside it, in bytes of the printable stream.
const (
	runCost  = 3
	headCost = 3
)

// appendCompressible appends n bytes: in each chunk bytes of the printable
// stream, of which 6 bits of 8 are left when they are compressed, then fill, of
// which next to nothing is left. head is the length of what the value begins
// with, which counts as part of its first chunk; 0 if the value is a short one.
func (v *Values) appendCompressible(dst []byte, state uint64, n, head int) []byte {
	cost, next := 0, 0
	if head > 0 {
		cost, next = runCost+headCost, runCost
	}
	for n > 0 {
		chunk := min(n, compressibleChunk-head)
		random := min(max((chunk+head)*(1000-v.Saving)*4/3000-cost, 1), chunk)
		dst = appendPrintable(dst, state, random)
		state += golden * uint64((random+7)/8)
		for range chunk - random {
			dst = append(dst, fill)
		}
		n, head, cost = n-chunk, 0, next
	}
	return dst
}
