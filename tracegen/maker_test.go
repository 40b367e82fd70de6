package tracegen

import (
	"testing"

	"pianola/traces"
)

// maker makes the blocks of a phase one after another, without a trace.
type maker struct {
	run *phaseRun
	workspace
	// at is the mark in front of block k, end that behind the last one made.
	at, end mark
	k       uint64
}

func newMaker(s *phaseSource) *maker { return &maker{run: s.start(mark{}, 1)} }

// next makes the next block, or none behind the last.
func (m *maker) next() (*traces.Block, error) {
	m.block.Reset()
	if m.k*traces.BlockOps >= m.run.ops {
		return &m.block, nil
	}
	sum := m.run.sketch(&m.workspace, m.k)
	m.run.begin(m.k, m.at)
	var err error
	if m.end, err = m.run.finish(&m.workspace, m.at); err != nil {
		return nil, err
	}
	m.at = m.at.after(sum)
	m.k++
	return &m.block, nil
}

// mustNext makes the next block, beginning again behind the last.
func (m *maker) mustNext(t testing.TB) *traces.Block {
	t.Helper()
	b, err := m.next()
	if err == nil && b.Len() == 0 {
		m.k, m.at = 0, mark{}
		b, err = m.next()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// runOf is phase run of a spec.
func runOf(t testing.TB, spec *Spec) *phaseSource {
	t.Helper()
	g := mustGenerator(t, spec)
	return g.phases[len(g.phases)-1]
}

// opsMade makes the operations of every phase, without a trace.
func opsMade(t testing.TB, g *Generator) map[string][]traces.Op {
	t.Helper()
	out := map[string][]traces.Op{}
	var begins mark
	var op traces.Op
	for i, s := range g.phases {
		run := s.start(begins, 1)
		m := &maker{run: run, at: run.begins}
		m.run.phase = i
		for {
			b, err := m.next()
			if err != nil {
				t.Fatal(err)
			}
			if b.Len() == 0 {
				break
			}
			for i := range b.Len() {
				b.Op(i, &op)
				out[s.name] = append(out[s.name], op)
			}
			begins = m.end
		}
	}
	return out
}
