package tracegen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strconv"
	"strings"

	"pianola/traces/payload"
)

// lengths reads the law of value lengths. Its parameters belong to one of the
// words that fieldlengthdistribution may hold.
func (r *specReader) lengths() payload.Length {
	word, ok := r.word(r.get("fieldlengthdistribution"), []string{"constant", "uniform", "zipfian", "histogram"}, nil)
	low, high := r.get("minfieldlength"), r.get("fieldlength")
	least, ok1 := r.whole(low, 0, payload.MaxValueBytes)
	most, ok2 := r.whole(high, 0, payload.MaxValueBytes)
	if !ok {
		return payload.Length{}
	}
	if word == "histogram" {
		const other = "fieldlengthdistribution=constant, uniform or zipfian"
		r.noteUnlessDefault(other, "fieldlength")
		r.noteUnlessDefault("fieldlengthdistribution=uniform or zipfian", "minfieldlength")
		return r.histogram()
	}
	r.noteUnlessDefault("fieldlengthdistribution=histogram", "fieldlengthhistogram")
	r.noteWithout("fieldlengthdistribution=histogram", "fieldlength.histogram")
	if word == "constant" {
		r.noteUnlessDefault("fieldlengthdistribution=uniform or zipfian", "minfieldlength")
		return payload.Length{Constant: int(most)}
	}
	if !ok1 || !ok2 {
		return payload.Length{}
	}
	if least > most {
		if low.isGiven() {
			r.fail(low, "more than fieldlength=%d", most)
		} else {
			r.fail(high, "less than minfieldlength=%d, its default", least)
		}
		return payload.Length{}
	}
	law := payload.UniformLength
	if word == "zipfian" {
		law = payload.ZipfianLength
	}
	l, err := law(int(least), int(most))
	if err != nil {
		r.fail(high, "%v", err)
	}
	return l
}

// histogram reads the law of lengths from a file of YCSB's, or from
// fieldlength.histogram, which canonical specs hold.
func (r *specReader) histogram() payload.Length {
	file, inline := r.get("fieldlengthhistogram"), r.get("fieldlength.histogram")
	var buckets []uint64
	g, ok := inline, false
	switch {
	case inline.isGiven() && file.isGiven():
		r.fail(inline, "the histogram is given by fieldlengthhistogram=%s as well", quoted(file.Value))
	case inline.isGiven():
		buckets, ok = r.inlineHistogram(inline)
	default:
		g = file
		buckets, ok = r.histogramFile(file)
	}
	if !ok {
		return payload.Length{}
	}
	l, err := payload.HistogramLength(int(buckets[0]), buckets[1:])
	if err != nil {
		r.fail(g, "%v", err)
	}
	return l
}

// inlineHistogram reads the size of a bucket and the weights of the buckets.
func (r *specReader) inlineHistogram(g givenProperty) ([]uint64, bool) {
	text, ok := r.scalar(g, "the size of a bucket and the weights of the buckets")
	if !ok {
		return nil, false
	}
	var buckets []uint64
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseUint(word, 10, 63)
		if err != nil || len(buckets) == 0 && n > payload.MaxValueBytes || len(buckets) > payload.MaxBuckets {
			r.fail(g, "number %d is no size or weight, or one too many: known are the size of a bucket in bytes, at most %d, and the weights of up to %d buckets",
				len(buckets)+1, payload.MaxValueBytes, payload.MaxBuckets)
			return nil, false
		}
		buckets = append(buckets, n)
	}
	if len(buckets) < 2 {
		r.fail(g, "only one number, expected is the size of a bucket and the weights of the buckets")
		return nil, false
	}
	return buckets, true
}

// maxHistogramBytes bounds a file with a histogram.
const maxHistogramBytes = 1 << 20

// histogramFile reads a file with a histogram: a line "BlockSize", a tab and the
// size of a bucket in bytes, then for each bucket, from 0 on, a line with its
// number, a tab and its weight.
func (r *specReader) histogramFile(g givenProperty) ([]uint64, bool) {
	name, ok := r.freeText(g)
	if !ok {
		return nil, false
	}
	if name == "" {
		r.fail(g, "empty, expected is the name of a file")
		return nil, false
	}
	if r.readFile == nil {
		r.fail(g, "read histogram: no files can be read here, give fieldlength.histogram")
		return nil, false
	}
	text, err := r.readFile(g.File, name)
	if err != nil {
		advice := ""
		if errors.Is(err, fs.ErrNotExist) {
			advice = "a name without / at its head counts from the directory of the spec that holds it"
		}
		r.failWith(g, fmt.Sprintf("read histogram: %v", err), advice)
		return nil, false
	}
	if len(text) > maxHistogramBytes {
		r.fail(g, "read histogram: more than %d bytes", maxHistogramBytes)
		return nil, false
	}
	buckets, line, reason := parseHistogram(text)
	if reason != "" {
		r.fail(g, "line %d of the file: %s", line, reason)
		return nil, false
	}
	return buckets, true
}

// parseHistogram returns the size of a bucket and the weights, or what is wrong
// on which line.
func parseHistogram(text []byte) (buckets []uint64, line int, reason string) {
	for raw := range bytes.Lines(text) {
		line++
		cells := strings.Fields(string(raw))
		if len(cells) == 0 {
			continue
		}
		head := "BlockSize"
		if len(buckets) > 0 {
			head = strconv.Itoa(len(buckets) - 1)
		}
		if len(cells) != 2 || cells[0] != head {
			return nil, line, fmt.Sprintf("%s, expected is %q, a tab and a whole number", quoted(strings.TrimSpace(string(raw))), head)
		}
		n, err := strconv.ParseUint(cells[1], 10, 63)
		switch {
		case err != nil:
			return nil, line, fmt.Sprintf("%s is not a whole number below 2^63", quoted(cells[1]))
		case len(buckets) == 0 && n > payload.MaxValueBytes:
			return nil, line, fmt.Sprintf("buckets of %d bytes, values have at most %d", n, payload.MaxValueBytes)
		case len(buckets) > payload.MaxBuckets:
			return nil, line, fmt.Sprintf("more than %d buckets", payload.MaxBuckets)
		}
		buckets = append(buckets, n)
	}
	if len(buckets) < 2 {
		return nil, line + 1, "the file ends before the first bucket"
	}
	return buckets, 0, ""
}

// values reads of which bytes values are.
func (r *specReader) values(s *Spec) payload.Values {
	integrity := r.get("dataintegrity")
	on, ok := r.boolean(integrity)
	saving, compressible, sound := r.saving()
	if !ok || !sound {
		return payload.Values{}
	}
	if !on {
		if compressible {
			return payload.Values{Scheme: payload.Compressible, Saving: saving}
		}
		return payload.Values{}
	}
	if compressible {
		r.fail(r.get("value.compressibility"), "contradicts dataintegrity=true, whose values are YCSB's own")
		return payload.Values{}
	}
	v := payload.Values{Scheme: payload.YCSBIntegrity, Keys: s.Keys}
	if !r.sound("fieldlengthdistribution", "fieldlength", "keyprefix", "fieldnameprefix", "zeropadding", "insertorder", "fieldcount") {
		return v
	}
	if s.Fields.Length.Min() < s.Fields.Length.Max() {
		r.fail(integrity, "needs values of one length, as in YCSB: fieldlengthdistribution=%s", r.get("fieldlengthdistribution").Value)
		return v
	}
	fields := s.Fields
	fields.Values = v
	if err := fields.Check(&s.Keys); err != nil {
		r.fail(integrity, "%v", err)
	}
	return v
}

// saving reads value.compressibility in thousandths.
func (r *specReader) saving() (thousandths int, given, ok bool) {
	g, given := r.given["value.compressibility"]
	if !given {
		return 0, false, true
	}
	n, ok := r.decimal(g, 3)
	if !ok {
		return 0, true, false
	}
	n.Mul(n, big.NewRat(1000, 1))
	if n.Cmp(big.NewRat(payload.MinSaving, 1)) < 0 || n.Cmp(big.NewRat(payload.MaxSaving, 1)) > 0 {
		r.fail(g, "out of range, possible are shares from %s to %s: printable values shrink by a quarter at least",
			decimalText(big.NewRat(payload.MinSaving, 1000)), decimalText(big.NewRat(payload.MaxSaving, 1000)))
		return 0, true, false
	}
	return int(n.Num().Int64()), true, true
}
