package bindingtest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pianola/traces"
)

// randomValue returns n bytes of any value, or printable ones.
func (l *Limits) randomValue(random *rand.Rand, n int) string {
	value := make([]byte, n)
	for i := range value {
		if value[i] = byte(random.Uint32()); l.TextOnly {
			value[i] = ' ' + value[i]%95
		}
	}
	return string(value)
}

func testValueSizes(t *testing.T, s *suite) {
	db := s.database(t, header(2, "user"))
	c := db.client()
	random := rand.New(rand.NewPCG(7, 7))
	for i, size := range []int{1, 2, 100, 4095, 4096, 65535, 65536, 1 << 20, 0} {
		if limit := s.limits.MaxValueBytes; limit > 0 && size > limit {
			continue
		}
		large := record{"field0": s.limits.randomValue(random, size), "field1": "beside it"}
		c.mustInsert(db.key(i), large)
		c.mustRead(db.key(i), large)
		if !s.limits.can(traces.Update) {
			continue
		}
		change := record{"field0": "small"}
		c.mustUpdate(db.key(i), change)
		c.mustRead(db.key(i), large.with(change))
		change = record{"field1": s.limits.randomValue(random, size)}
		c.mustUpdate(db.key(i), change)
		c.mustRead(db.key(i), record{"field0": "small"}.with(change))
	}
}

func testEveryByte(t *testing.T, s *suite) {
	db := s.database(t, header(2, "user"))
	c := db.client()
	first, last := 0, 255
	if s.limits.TextOnly {
		first, last = ' ', '~'
	}
	var all []byte
	for b := first; b <= last; b++ {
		all = append(all, byte(b))
		alone := record{"field0": string([]byte{byte(b)}), "field1": strings.Repeat(string([]byte{byte(b)}), 9)}
		c.mustInsert(db.key(b), alone)
		c.mustRead(db.key(b), alone)
	}
	c.mustInsert(db.key(1000), record{"field0": string(all), "field1": ""})
	c.mustRead(db.key(1000), record{"field0": string(all), "field1": ""})
}

func testManyFields(t *testing.T, s *suite) {
	n := 1000
	if limit := s.limits.MaxFields; limit > 0 {
		n = min(n, limit)
	}
	db := s.database(t, header(n, "user"))
	c := db.client()
	want := db.record("first")
	c.mustInsert(db.key(1), want)
	c.mustRead(db.key(1), want)
	last := db.header.Fields.Name(n - 1)
	c.mustRead(db.key(1), want.only(last), last)
	var names []string
	for i := range n {
		names = append(names, db.header.Fields.Name(i))
	}
	c.mustRead(db.key(1), want, names...)
	if !s.limits.can(traces.Update) {
		return
	}
	for _, change := range []record{{last: "changed"}, db.record("all")} {
		c.mustUpdate(db.key(1), change)
		want = want.with(change)
		c.mustRead(db.key(1), want)
	}
}

func testUnicodeKeys(t *testing.T, s *suite) {
	for _, prefix := range []string{"ключ-", "鍵", "clé é🎹 "} {
		db := s.database(t, header(3, prefix))
		c := db.client()
		spread(c, 20)
		for i := range 20 {
			c.mustRead(db.key(2*i), db.record(db.key(2*i)))
			c.mustMiss(db.key(2*i + 1))
		}
		if s.limits.can(traces.Scan) {
			checkScan(t, c, 7, 5, 20)
		}
	}
}
