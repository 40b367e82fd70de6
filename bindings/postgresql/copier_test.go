package postgresql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/bindingtest"
	"pianola/bindings/servers"
	"pianola/replay/checktest"
	"pianola/traces"
)

// copying copies in every phase, so that the suite tries it.
type copying struct{ *binding }

func (c copying) PhaseStarts(string, time.Duration) { c.binding.PhaseStarts(traces.LoadPhase, 0) }

func byCopy(address string) bindings.Properties { return at(address, "postgresql.load", "copy") }

func TestSuiteByCopy(t *testing.T) {
	s := servers.Start(t, "postgresql")
	for columns, limits := range suiteLimits {
		t.Run(columns, func(t *testing.T) {
			bindingtest.Run(t, func(t *testing.T) bindings.Binding {
				tell(t, s.Address, "DROP TABLE IF EXISTS usertable")
				p := byCopy(s.Address)
				p["postgresql.columns"] = columns
				p["db.url"] += "?synchronous_commit=off"
				return copying{configured(t, p)}
			}, limits)
		})
	}
}

// What is loaded by COPY is what is loaded otherwise.
func TestContentsByCopy(t *testing.T) {
	checktest.Run(t, checktest.Database{Driver: &Driver, Properties: byCopy(servers.Start(t, "postgresql").Address)})
}

// loading returns a binding in phase load.
func loading(t *testing.T, address string) *binding {
	t.Helper()
	b := opened(t, byCopy(address))
	b.PhaseStarts(traces.LoadPhase, b.clock.Now())
	return b
}

// insertTogether inserts records by one COPY: those that keep the connections
// busy wait for a lock until all others wait too. It returns their answers.
func insertTogether(t *testing.T, b *binding, ops []*bindings.Op) []error {
	t.Helper()
	answers := make([]error, len(ops))
	sessions := make([]*session, copyConnections+len(ops))
	for i := range sessions {
		sessions[i] = sessionOf(t, b)
	}
	lock(t, b)
	var all sync.WaitGroup
	for i := range copyConnections {
		all.Go(func() {
			if err := sessions[i].Do(t.Context(), whole(traces.Insert, fmt.Sprint("before", i))); err != nil {
				t.Error(err)
			}
		})
		await(t, func() bool { return underWay(t, b) == i+1 })
	}
	for i, op := range ops {
		all.Go(func() { answers[i] = sessions[copyConnections+i].Do(t.Context(), op) })
	}
	await(t, func() bool { return b.waiting() == len(ops) })
	unlock(t, b)
	all.Wait()
	return answers
}

// lock keeps everybody from the table.
func lock(t *testing.T, b *binding) {
	t.Helper()
	if _, err := b.control.Exec(t.Context(), "BEGIN; LOCK TABLE usertable").ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func unlock(t *testing.T, b *binding) {
	t.Helper()
	if _, err := b.control.Exec(t.Context(), "COMMIT").ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("it has not come to that within a minute")
		}
	}
}

// underWay returns the number of COPYs that wait for a lock.
func underWay(t *testing.T, b *binding) int {
	t.Helper()
	n, err := strconv.Atoi(tell(t, b.settings.address(), "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND wait_event_type = 'Lock'")[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestARowThatIsRefusedIsNothingToOthers: one COPY holds rows that are written
// and rows that can't be; each has the answer of an INSERT.
func TestARowThatIsRefusedIsNothingToOthers(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	tell(t, s.Address, "INSERT INTO usertable VALUES ('there')")
	zero := whole(traces.Insert, "zero")
	zero.Write[3].Value = []byte("a\x00")
	ops := []*bindings.Op{whole(traces.Insert, "there"), zero, whole(traces.Insert, strings.Repeat("k", 256))}
	for i := range 20 {
		ops = append(ops, whole(traces.Insert, fmt.Sprint("good", i)))
	}
	for i, err := range insertTogether(t, b, ops) {
		want := bindings.OK
		switch i {
		case 0:
			want = bindings.Duplicate
		case 1, 2:
			want = bindings.Invalid
		}
		if bindings.ClassOf(err) != want {
			t.Errorf("row %d: %v, want the class %v", i, err, want)
		}
	}
	if n, err := b.Count(t.Context()); n != 21+copyConnections || err != nil {
		t.Errorf("%d rows, %v, want %d", n, err, 21+copyConnections)
	}
	if n := b.copier.refused.Load(); n != 1 {
		t.Errorf("%d COPYs were refused, want 1", n)
	}
}

// TestTheSameKeyTwiceInOneCopy: one of them is written, the other is a duplicate.
func TestTheSameKeyTwiceInOneCopy(t *testing.T) {
	b := loading(t, servers.Start(t, "postgresql").Address)
	answers := insertTogether(t, b, []*bindings.Op{whole(traces.Insert, "twin"), whole(traces.Insert, "twin")})
	slices.SortFunc(answers, func(a, b error) int { return int(bindings.ClassOf(a)) - int(bindings.ClassOf(b)) })
	if got := []bindings.Class{bindings.ClassOf(answers[0]), bindings.ClassOf(answers[1])}; !slices.Equal(got, []bindings.Class{bindings.OK, bindings.Duplicate}) {
		t.Errorf("the answers are %v", got)
	}
}

func TestRowsThatWaitGoTogether(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	var ops []*bindings.Op
	for i := range 30 {
		ops = append(ops, whole(traces.Insert, fmt.Sprint("k", i)))
	}
	for i, err := range insertTogether(t, b, ops) {
		if err != nil {
			t.Errorf("row %d: %v", i, err)
		}
	}
	if n, rows := b.copier.statements.Load(), b.copier.rows.Load(); n != copyConnections+1 || rows != 30+copyConnections {
		t.Errorf("%d rows by %d COPYs, want %d by %d", rows, n, 30+copyConnections, copyConnections+1)
	}
}

// waiting returns the number of rows that wait for a COPY.
func (b *binding) waiting() int {
	b.copier.mu.Lock()
	defer b.copier.mu.Unlock()
	return len(b.copier.next.rows)
}

// TestDeadlinesOfCopiedRows: a row that is given up answers at its deadline, and
// the answer of its COPY comes to nobody else.
func TestDeadlinesOfCopiedRows(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	session := sessionOf(t, b)
	lock(t, b)
	late := whole(traces.Insert, "late")
	late.Deadline = b.clock.Now() + 50*time.Millisecond
	if err := session.Do(t.Context(), late); bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("behind a lock: %v, want the class %v", err, bindings.Timeout)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := session.Do(ctx, whole(traces.Insert, "cancelled")); bindings.ClassOf(err) != bindings.Timeout {
		t.Errorf("cancelled: %v, want the class %v", err, bindings.Timeout)
	}
	unlock(t, b)
	for range 3 {
		if err := session.Do(t.Context(), whole(traces.Insert, fmt.Sprint("k", b.clock.Now()))); err != nil {
			t.Error(err)
		}
	}
}

// TestRowsGivenUpBeforeTheirCopyAreNotWritten: whoever waits behind others gives
// up at the deadline or when it is cancelled, and its row goes nowhere.
func TestRowsGivenUpBeforeTheirCopyAreNotWritten(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	sessions := make([]*session, copyConnections+3)
	for i := range sessions {
		sessions[i] = sessionOf(t, b)
	}
	lock(t, b)
	var all sync.WaitGroup
	insert := func(i int, key string) {
		all.Go(func() {
			if err := sessions[i].Do(t.Context(), whole(traces.Insert, key)); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	for i := range copyConnections {
		insert(i, fmt.Sprint("before", i))
		await(t, func() bool { return underWay(t, b) == i+1 })
	}
	// The rows given up stand first, between and last.
	giving := sessions[copyConnections+2]
	giveUp := func(waiting int) {
		late := whole(traces.Insert, fmt.Sprint("late", waiting))
		late.Deadline = b.clock.Now() + 50*time.Millisecond
		if err := giving.Do(t.Context(), late); bindings.ClassOf(err) != bindings.Timeout {
			t.Errorf("at its deadline: %v, want the class %v", err, bindings.Timeout)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		answer := make(chan error, 1)
		go func() { answer <- giving.Do(ctx, whole(traces.Insert, fmt.Sprint("cancelled", waiting))) }()
		await(t, func() bool { return b.waiting() == waiting+1 })
		cancel()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if n := b.waiting(); n != waiting {
			t.Errorf("%d rows wait, want %d", n, waiting)
		}
	}
	for i := range 2 {
		giveUp(i)
		insert(copyConnections+i, fmt.Sprint("stays", i))
		await(t, func() bool { return b.waiting() == i+1 })
	}
	giveUp(2)
	unlock(t, b)
	all.Wait()
	want := "before0;before1;stays0;stays1"
	if got := tell(t, s.Address, "SELECT ycsb_key FROM usertable WHERE field9 = repeat('x', 100) ORDER BY 1")[0]; got != want {
		t.Errorf("written is %s, want %s", got, want)
	}
	if n := b.copier.refused.Load(); n != 0 {
		t.Errorf("%d COPYs were refused", n)
	}
}

// TestARowInTheMiddleIsTakenOut: the others' bytes and places stay theirs.
func TestARowInTheMiddleIsTakenOut(t *testing.T) {
	c := new(copier)
	c.filled.L = &c.mu
	answers := make([]chan error, 4)
	op := func(i int) *bindings.Op {
		return &bindings.Op{Key: []byte(strings.Repeat("k", i+1)), Write: []bindings.Field{{Value: []byte{byte(i)}}}}
	}
	for i := range answers {
		answers[i] = make(chan error, 1)
		c.add(op(i), time.Duration(9-i), answers[i])
	}
	c.withdraw(answers[1])
	c.withdraw(answers[0])
	c.withdraw(answers[1])
	c.withdraw(make(chan error, 1))
	want := new(copier)
	want.filled.L = &want.mu
	for _, i := range []int{2, 3} {
		want.add(op(i), time.Duration(9-i), answers[i])
	}
	if !bytes.Equal(c.next.data, want.next.data) || !slices.Equal(c.next.rows, want.next.rows) {
		t.Errorf("what is left is %q %v, want %q %v", c.next.data, c.next.rows, want.next.data, want.next.rows)
	}
	if got := c.next.until(); got != 7 {
		t.Errorf("the latest deadline is %v, want 7ns", got)
	}
}

// TestAPauseInALoad: rows on the way to a paused server are answered when it goes
// on, or at their deadline; behind it the load goes on, and nothing that was
// acknowledged is missing.
func TestAPauseInALoad(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	sessions := make([]*session, 8)
	for i := range sessions {
		sessions[i] = sessionOf(t, b)
	}
	var acknowledged []string
	// round inserts a record by each session, and returns how many were answered
	// with each class.
	round := func(name string, patience time.Duration, meanwhile func()) map[bindings.Class]int {
		answers := make([]error, len(sessions))
		var all sync.WaitGroup
		for i, session := range sessions {
			op := whole(traces.Insert, fmt.Sprint(name, i))
			op.Deadline = b.clock.Now() + patience
			all.Go(func() { answers[i] = session.Do(t.Context(), op) })
		}
		meanwhile()
		all.Wait()
		classes := map[bindings.Class]int{}
		for i, err := range answers {
			classes[bindings.ClassOf(err)]++
			if err == nil {
				acknowledged = append(acknowledged, fmt.Sprint(name, i))
			}
		}
		return classes
	}
	s.Pause()
	got := round("patient", time.Minute, func() {
		time.Sleep(200 * time.Millisecond)
		if n := b.copier.rows.Load(); n != 0 {
			t.Errorf("a paused server has taken %d rows", n)
		}
		s.Resume()
	})
	if got[bindings.OK] != len(sessions) {
		t.Errorf("with time enough: %v", got)
	}
	s.Pause()
	if got := round("late", 100*time.Millisecond, func() {}); got[bindings.Timeout] != len(sessions) {
		t.Errorf("without time enough: %v", got)
	}
	s.Resume()
	if got := round("after", time.Minute, func() {}); got[bindings.OK] != len(sessions) {
		t.Errorf("behind the pause: %v", got)
	}
	there := strings.Split(tell(t, s.Address, "SELECT ycsb_key FROM usertable")[0], ";")
	for _, key := range acknowledged {
		if !slices.Contains(there, key) {
			t.Errorf("%s was acknowledged and is not there", key)
		}
	}
}

// TestALoadWhoseServerDies: no row is acknowledged that is not there behind the
// restart, and the copier goes on.
func TestALoadWhoseServerDies(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	const sessions = 16
	acknowledged := make([][]string, sessions)
	failed := make([]int, sessions)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range sessions {
		session := sessionOf(t, b)
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				op := whole(traces.Insert, fmt.Sprintf("k%d.%d", i, n))
				op.Deadline = b.clock.Now() + 2*time.Second
				if err := session.Do(t.Context(), op); err == nil {
					acknowledged[i] = append(acknowledged[i], string(op.Key))
				} else if c := bindings.ClassOf(err); c != bindings.Unavailable && c != bindings.Timeout {
					t.Errorf("%s: %v", op.Key, err)
				} else {
					failed[i]++
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	s.Kill()
	time.Sleep(200 * time.Millisecond)
	s.Restart()
	time.Sleep(time.Second)
	close(stop)
	all.Wait()
	there := map[string]bool{}
	for key := range strings.SplitSeq(tell(t, s.Address, "SELECT ycsb_key FROM usertable")[0], ";") {
		there[key] = true
	}
	n, down := 0, 0
	for i, keys := range acknowledged {
		down += failed[i]
		for _, key := range keys {
			if n++; !there[key] {
				t.Errorf("%s was acknowledged and is lost", key)
			}
		}
	}
	if b.copier.rows.Load() == 0 || down == 0 || b.reopened.Load() == 0 {
		t.Errorf("%d rows were copied, %d operations failed, %d connections opened again", b.copier.rows.Load(), down, b.reopened.Load())
	}
	t.Logf("%d rows acknowledged, %d there, %d COPYs, %d operations failed", n, len(there), b.copier.statements.Load(), down)
}

// TestOnlyTheLoadIsCopied: other phases insert, and facts count.
func TestOnlyTheLoadIsCopied(t *testing.T) {
	s := servers.Start(t, "postgresql")
	b := loading(t, s.Address)
	session := sessionOf(t, b)
	for i, phase := range []string{traces.LoadPhase, "run"} {
		b.PhaseStarts(phase, b.clock.Now())
		if err := session.Do(t.Context(), whole(traces.Insert, phase)); err != nil {
			t.Fatal(err)
		}
		some := whole(traces.Insert, phase+" in part")
		some.Write = some.Write[:2]
		if err := session.Do(t.Context(), some); err != nil {
			t.Fatal(err)
		}
		if n := b.copier.rows.Load(); n != 1 {
			t.Errorf("phase %d, %s: %d rows were copied, want 1", i, phase, n)
		}
	}
	facts := map[string]string{}
	for _, f := range b.Facts() {
		facts[f.Name] = f.Value
	}
	if facts["COPY statements"] != "1" || facts["rows copied"] != "1" || facts["rows"] != "4" {
		t.Errorf("facts: %v", facts)
	}
}
