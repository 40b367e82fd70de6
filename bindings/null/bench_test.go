package null

import (
	"context"
	"testing"

	"pianola/bindings"
	"pianola/traces"
)

type ignore struct{}

func (ignore) Done(*bindings.Op, error) {}

// BenchmarkIssue is what the tool's own path adds for each operation: a read
// and an update of one field of 100 bytes by turns.
func BenchmarkIssue(b *testing.B) {
	binding, err := Driver.New(bindings.Properties{"service": "0", "fail": "0"})
	if err != nil {
		b.Fatal(err)
	}
	if err := binding.Open(context.Background(), bindings.Config{Slots: 1}); err != nil {
		b.Fatal(err)
	}
	pipeline, err := binding.(bindings.Pipeliner).Pipeline(context.Background(), ignore{})
	if err != nil {
		b.Fatal(err)
	}
	ops := [2]bindings.Op{
		{Kind: traces.Read, Key: []byte("user6284781860667377211")},
		{Kind: traces.Update, Key: []byte("user6284781860667377211"), Write: []bindings.Field{{Name: "field0", Value: make([]byte, 100)}}},
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		pipeline.Issue(&ops[i&1])
	}
}
