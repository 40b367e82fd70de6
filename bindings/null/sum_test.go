package null

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pianola/bindings"
	"pianola/traces"
)

func sumOf(ops ...*bindings.Op) uint64 {
	var t Total
	for _, op := range ops {
		t.Add(op)
	}
	return t.Sum
}

func write(kind traces.Kind, key string, values ...string) *bindings.Op {
	op := &bindings.Op{Kind: kind, Key: []byte(key)}
	for i, v := range values {
		op.Write = append(op.Write, bindings.Field{Name: fmt.Sprint("field", i), Value: []byte(v)})
	}
	return op
}

func TestTheSumIsFreeOfOrder(t *testing.T) {
	a, b, c := write(traces.Read, "a"), write(traces.Update, "b", "1"), write(traces.Insert, "c", "2", "3")
	if sumOf(a, b, c) != sumOf(c, a, b) {
		t.Error("the order changes the sum")
	}
}

func TestEveryByteIsInTheSum(t *testing.T) {
	key, value := "user6284781860667377211", "0123456789abcdef0123456789abcdef012"
	whole := sumOf(write(traces.Insert, key, value, value))
	for i := range key {
		changed := []byte(key)
		changed[i] ^= 1
		if sumOf(write(traces.Insert, string(changed), value, value)) == whole {
			t.Errorf("byte %d of the key is not in the sum", i)
		}
	}
	for i := range value {
		changed := []byte(value)
		changed[i] ^= 1
		if sumOf(write(traces.Insert, key, string(changed), value)) == whole || sumOf(write(traces.Insert, key, value, string(changed))) == whole {
			t.Errorf("byte %d of a value is not in the sum", i)
		}
	}
	if sumOf(write(traces.Update, key, value, value)) == whole {
		t.Error("the kind is not in the sum")
	}
	if sumOf(write(traces.Insert, key, value)) == whole {
		t.Error("a value left out does not change the sum")
	}
}

func TestTheSumTellsWhatBelongsTogether(t *testing.T) {
	if sumOf(write(traces.Insert, "a", "1"), write(traces.Insert, "b", "2")) == sumOf(write(traces.Insert, "a", "2"), write(traces.Insert, "b", "1")) {
		t.Error("values swapped between two keys give the same sum")
	}
	if sumOf(write(traces.Insert, "a", "1", "2")) == sumOf(write(traces.Insert, "a", "2", "1")) {
		t.Error("values swapped between two fields give the same sum")
	}
}

func TestCountersPass32Bits(t *testing.T) {
	total := Total{Ops: math.MaxUint32, Bytes: math.MaxUint32}
	total.Add(write(traces.Update, "key", "1234567"))
	if total.Ops != 1<<32 || total.Bytes != 1<<32+9 {
		t.Errorf("totals are %d operations and %d bytes", total.Ops, total.Bytes)
	}
}

func TestFactsAddUpAllSessions(t *testing.T) {
	b := configured(t, nil)
	b.openOn(newBubbleClock(), 4)
	pipeline, _ := b.Pipeline(context.Background(), ignore{})
	var want Total
	for i := range 40 {
		op := write(traces.Update, fmt.Sprint("user", i), "some value")
		want.Add(op)
		if i%4 == 0 {
			pipeline.Issue(op)
			continue
		}
		s, _ := b.Session(context.Background())
		if err := s.Do(context.Background(), op); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	facts := fmt.Sprint(b.Facts())
	if facts != fmt.Sprintf("[{operations 40} {bytes %d} {sum %016x}]", want.Bytes, want.Sum) {
		t.Errorf("facts are %s, want %+v", facts, want)
	}
}
