package bindingtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pianola/bindings"
	"pianola/traces"
)

// together runs work once for each of n clients, all at a time.
func (db *database) together(n int, work func(c *client, i int) error) {
	db.t.Helper()
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = db.client()
	}
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			if err := work(c, i); err != nil {
				db.t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// conflict reports whether an operation was given up since another one was on
// its key, where the database does that.
func (s *suite) conflict(err error) bool {
	return s.limits.Conflicts && bindings.ClassOf(err) == bindings.Other
}

// testCrowd runs every kind of operation from all slots on shared keys; it is
// for the race detector, and nothing must be answered with anything but success
// or a miss.
func testCrowd(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	db.together(slots, func(c *client, i int) error {
		for n := range 30 {
			for _, op := range db.everyKind((i + n) % 20) {
				kind := op.Kind
				err := c.do(t.Context(), op)
				switch class := bindings.ClassOf(err); {
				case class == bindings.OK, class == bindings.NotFound, class == bindings.Duplicate:
				case s.conflict(err):
				default:
					return fmt.Errorf("%v: %w", kind, err)
				}
			}
		}
		return nil
	})
}

func testEachSeesTheOther(t *testing.T, s *suite) {
	db := s.database(t, header(3, "user"))
	a, b := db.client(), db.client()
	a.mustInsert(db.key(1), db.record("by a"))
	b.mustRead(db.key(1), db.record("by a"))
	if s.limits.can(traces.Update) {
		b.mustUpdate(db.key(1), db.record("by b"))
		a.mustRead(db.key(1), db.record("by b"))
	}
	if s.limits.can(traces.Scan) {
		b.mustInsert(db.key(2), db.record("by b"))
		if got, err := a.scan(db.key(2), 1); err != nil || len(got.keys) != 1 || got.keys[0] != db.key(2) {
			t.Errorf("SCAN by the other session gave %q, %v", got.keys, err)
		}
	}
	if s.limits.can(traces.Delete) {
		if err := a.remove(db.key(1)); err != nil {
			t.Fatalf("DELETE: %v", err)
		}
		b.mustMiss(db.key(1))
	}
}

// testNoUpdateIsLost: clients that change different fields of one record at a
// time don't undo each other's changes. Where they may, each field is still one
// that was written, by the client that writes it.
func testNoUpdateIsLost(t *testing.T, s *suite) {
	const clients, rounds = 8, 100
	if !s.limits.can(traces.Update) {
		return
	}
	db := s.database(t, header(clients, "user"))
	c := db.client()
	c.mustInsert(db.key(1), db.record("before"))
	db.together(clients, func(c *client, i int) error {
		own := db.header.Fields.Name(i)
		last := db.record("before").only(own)
		for n := range rounds {
			change := record{own: fmt.Sprint("change ", n)}
			got, err := changeOwn(c, n, change, own)
			for s.conflict(err) {
				got, err = changeOwn(c, n, change, own)
			}
			if err != nil {
				return err
			}
			if s.limits.WholeUpdates {
				if err := written(got.records[0], own, n); err != nil {
					return fmt.Errorf("round %d: %w", n, err)
				}
			} else if difference := compare(got.records[0], last); difference != "" {
				return fmt.Errorf("round %d: a change was undone: %s", n, difference)
			}
			last = change
		}
		return nil
	})
	if s.limits.WholeUpdates {
		got, err := c.read(db.key(1))
		if err != nil || len(got.records) != 1 || len(got.records[0]) != clients {
			t.Fatalf("in the end the record is %v, %v", got.records, err)
		}
		for i := range clients {
			if err := written(got.records[0], db.header.Fields.Name(i), rounds); err != nil {
				t.Errorf("in the end: %v", err)
			}
		}
		return
	}
	want := record{}
	for i := range clients {
		want[db.header.Fields.Name(i)] = fmt.Sprint("change ", rounds-1)
	}
	c.mustRead(db.key(1), want)
}

// changeOwn reads a field and changes it, in one operation or in two by turns.
func changeOwn(c *client, n int, change record, own string) (*rows, error) {
	if n%2 == 0 && c.db.suite.limits.can(traces.ReadModifyWrite) {
		return c.modify(c.db.key(1), change, own)
	}
	got, err := c.read(c.db.key(1), own)
	if err != nil {
		return nil, err
	}
	return got, c.update(c.db.key(1), change)
}

// written returns an error unless the field is as it was loaded or as one of the
// first n changes made it.
func written(got record, field string, n int) error {
	value, change := got[field], 0
	if strings.HasPrefix(value, "before of field ") {
		return nil
	}
	if _, err := fmt.Sscanf(value, "change %d", &change); err != nil || change >= n {
		return fmt.Errorf("field %q is %q, which was not written before", field, value)
	}
	return nil
}

func testOneInsertWins(t *testing.T, s *suite) {
	const clients, keys = 8, 40
	db := s.database(t, header(3, "user"))
	var mu sync.Mutex
	winners := map[int][]int{}
	db.together(clients, func(c *client, i int) error {
		for n := range keys {
			switch err := c.insert(db.key(n), db.record(fmt.Sprint("client ", i))); {
			case err == nil:
				mu.Lock()
				winners[n] = append(winners[n], i)
				mu.Unlock()
			case s.limits.BlindInsert || bindings.ClassOf(err) != bindings.Duplicate:
				return err
			}
		}
		return nil
	})
	c := db.client()
	for n := range keys {
		if s.limits.BlindInsert {
			if len(winners[n]) != clients {
				t.Errorf("key %d: %d of %d blind inserts succeeded", n, len(winners[n]), clients)
			}
			continue
		}
		if len(winners[n]) != 1 {
			t.Fatalf("key %d was inserted by the clients %v, want one", n, winners[n])
		}
		c.mustRead(db.key(n), db.record(fmt.Sprint("client ", winners[n][0])))
	}
	if n, ok := db.count(); ok && n != keys {
		t.Errorf("there are %d records, want %d", n, keys)
	}
}

// testRecordsStayWhole: a record whose fields are always written together is
// never read half old, half new.
func testRecordsStayWhole(t *testing.T, s *suite) {
	const clients, rounds = 6, 100
	if !s.limits.can(traces.Update) {
		return
	}
	db := s.database(t, header(10, "user"))
	whole := func(got record) error {
		tag := ""
		for name, value := range got {
			if _, err := fmt.Sscanf(value, "%s of "+name[:5], &tag); err != nil {
				return fmt.Errorf("field %s is %q", name, value)
			}
			break
		}
		if difference := compare(got, db.record(tag)); difference != "" {
			return fmt.Errorf("a record is neither old nor new: %s", difference)
		}
		return nil
	}
	db.client().mustInsert(db.key(1), db.record("before"))
	db.together(clients, func(c *client, i int) error {
		for n := range rounds {
			if i%2 == 0 {
				err := c.update(db.key(1), db.record(fmt.Sprintf("writer%d.%d", i, n)))
				if s.conflict(err) {
					err = nil // given up, and the record is whole all the same
				}
				if err != nil {
					return err
				}
				continue
			}
			got, err := c.read(db.key(1))
			if err != nil {
				return err
			}
			if err := whole(got.records[0]); err != nil {
				return err
			}
		}
		return nil
	})
}
