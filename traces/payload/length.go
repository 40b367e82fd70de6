package payload

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Length is the law of the value lengths. Its zero value gives empty values.
type Length struct {
	// Constant is the length of each value in bytes, unless UniformLength and
	// the like made the law.
	Constant int
	// law is nil if every value is of the same length.
	law lengthLaw
}

// lengthLaw turns a uniform word into a length in bytes.
type lengthLaw interface {
	of(word uint64) int
	min() int
	max() int
	text() string
}

// of returns the length of the value whose bytes come from state.
func (l *Length) of(state uint64) int {
	if l.law == nil {
		return l.Constant
	}
	return l.law.of(Mix(state))
}

// Min returns the least length in bytes that the law gives.
func (l Length) Min() int {
	if l.law == nil {
		return l.Constant
	}
	return l.law.min()
}

// Max returns the greatest length in bytes that the law gives.
func (l Length) Max() int {
	if l.law == nil {
		return l.Constant
	}
	return l.law.max()
}

// String returns the law as trace headers hold it: "constant 100", "uniform 1
// 100", "zipfian 1 100", or "histogram 10 5 3 2" with the size of a bucket and
// the weights of the buckets.
func (l Length) String() string {
	if l.law == nil {
		return constantWord + " " + strconv.Itoa(l.Constant)
	}
	return l.law.text()
}

const (
	constantWord  = "constant"
	uniformWord   = "uniform"
	zipfianWord   = "zipfian"
	histogramWord = "histogram"
)

func (l Length) check() error {
	if l.Constant < 0 || l.Max() > MaxValueBytes {
		return fmt.Errorf("values of %s bytes, at most %d are possible", l, MaxValueBytes)
	}
	return nil
}

// ParseLength is the inverse of Length.String: it takes what that gives and
// nothing else, so that one law has one text.
func ParseLength(s string) (Length, error) {
	if l, ok := parseLength(s); ok && l.String() == s {
		return l, nil
	}
	return Length{}, fmt.Errorf("unknown law of value lengths %q", shortened(s))
}

// shortened keeps messages readable.
func shortened(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

func parseLength(s string) (Length, bool) {
	word, rest, _ := strings.Cut(s, " ")
	if strings.Count(rest, " ") > MaxBuckets { // the size of a bucket is one more
		return Length{}, false
	}
	var numbers []uint64
	for arg := range strings.SplitSeq(rest, " ") {
		n, err := strconv.ParseUint(arg, 10, 63)
		if err != nil {
			return Length{}, false
		}
		numbers = append(numbers, n)
	}
	if numbers[0] > MaxValueBytes || word != histogramWord && numbers[len(numbers)-1] > MaxValueBytes {
		return Length{}, false
	}
	var l Length
	err := error(nil)
	switch {
	case word == constantWord && len(numbers) == 1:
		l = Length{Constant: int(numbers[0])}
	case word == uniformWord && len(numbers) == 2:
		l, err = UniformLength(int(numbers[0]), int(numbers[1]))
	case word == zipfianWord && len(numbers) == 2:
		l, err = ZipfianLength(int(numbers[0]), int(numbers[1]))
	case word == histogramWord && len(numbers) > 1:
		l, err = HistogramLength(int(numbers[0]), numbers[1:])
	default:
		return Length{}, false
	}
	return l, err == nil
}

// checkRange checks the ends of a law.
func checkRange(least, most int) error {
	if least < 0 || most < least || most > MaxValueBytes {
		return fmt.Errorf("value lengths from %d to %d, possible are 0 to %d", least, most, MaxValueBytes)
	}
	return nil
}

// UniformLength gives each length from least to most equally often, but for a
// part in 2^36.
func UniformLength(least, most int) (Length, error) {
	if err := checkRange(least, most); err != nil {
		return Length{}, err
	}
	if least == most {
		return Length{Constant: least}, nil
	}
	return Length{law: &uniformLength{least, most}}, nil
}

type uniformLength struct{ least, most int }

func (u *uniformLength) of(word uint64) int {
	high, _ := bits.Mul64(word, uint64(u.most-u.least+1))
	return u.least + int(high)
}

func (u *uniformLength) min() int { return u.least }
func (u *uniformLength) max() int { return u.most }

func (u *uniformLength) text() string { return fmt.Sprintf("%s %d %d", uniformWord, u.least, u.most) }

// MaxBuckets bounds the buckets of a histogram of lengths.
const MaxBuckets = 1 << 12

// HistogramLength gives the length (i+1)·bucketBytes in proportion to
// weights[i]. That is what YCSB's HistogramGenerator is meant to do: it never
// gives the size of the last bucket, and counts one draw too many for the first.
func HistogramLength(bucketBytes int, weights []uint64) (Length, error) {
	for len(weights) > 0 && weights[len(weights)-1] == 0 {
		weights = weights[:len(weights)-1]
	}
	switch {
	case len(weights) == 0:
		return Length{}, fmt.Errorf("histogram of value lengths: the weights sum to 0")
	case len(weights) > MaxBuckets:
		return Length{}, fmt.Errorf("histogram of value lengths: %d buckets, at most %d are possible", len(weights), MaxBuckets)
	case bucketBytes < 1 || bucketBytes > MaxValueBytes/len(weights):
		return Length{}, fmt.Errorf("histogram of value lengths: %d buckets of %d bytes, values have 1 to %d bytes", len(weights), bucketBytes, MaxValueBytes)
	}
	h := &histogramLength{bucketBytes: bucketBytes, below: make([]uint64, len(weights))}
	for i, w := range weights {
		if w > math.MaxInt64 || h.total > math.MaxInt64-w {
			return Length{}, fmt.Errorf("histogram of value lengths: the weights sum to 2^63 or more")
		}
		h.total += w
		h.below[i] = h.total
	}
	if first := h.firstBucket(); first == len(weights)-1 {
		return Length{Constant: h.max()}, nil
	}
	return Length{law: h}, nil
}

type histogramLength struct {
	bucketBytes int
	// below[i] is the sum of the weights up to bucket i.
	below []uint64
	total uint64
}

func (h *histogramLength) firstBucket() int {
	return slices.IndexFunc(h.below, func(sum uint64) bool { return sum > 0 })
}

func (h *histogramLength) of(word uint64) int {
	k, _ := bits.Mul64(word, h.total)
	low, high := 0, len(h.below)-1
	for low < high {
		if mid := (low + high) / 2; k < h.below[mid] {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return (low + 1) * h.bucketBytes
}

func (h *histogramLength) min() int { return (h.firstBucket() + 1) * h.bucketBytes }
func (h *histogramLength) max() int { return len(h.below) * h.bucketBytes }

func (h *histogramLength) text() string {
	b := strconv.AppendInt([]byte(histogramWord+" "), int64(h.bucketBytes), 10)
	before := uint64(0)
	for _, sum := range h.below {
		b = strconv.AppendUint(append(b, ' '), sum-before, 10)
		before = sum
	}
	return string(b)
}
