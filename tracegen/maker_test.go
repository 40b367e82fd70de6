package tracegen

import (
	"testing"

	"pianola/traces"
)

// maker makes the blocks of a phase one after another, without a trace.
type maker struct {
	run *phaseRun
	workspace
	at mark
	k  uint64
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
	if _, err := m.run.finish(&m.workspace, m.at); err != nil {
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
