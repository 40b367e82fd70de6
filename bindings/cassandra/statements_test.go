package cassandra

import (
	"slices"
	"strings"
	"testing"

	"pianola/bindings"
	"pianola/traces"
	"pianola/traces/payload"
)

func TestStatements(t *testing.T) {
	h := &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 2, Prefix: "field"}}
	for _, c := range []struct {
		given bindings.Properties
		want  string
	}{
		{nil, `
			CREATE KEYSPACE IF NOT EXISTS ycsb WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}
			CREATE TABLE IF NOT EXISTS ycsb.usertable (y_id varchar, field0 varchar, field1 varchar, PRIMARY KEY (y_id))
			SELECT * FROM ycsb.usertable WHERE y_id = ? LIMIT 1
			SELECT field0 FROM ycsb.usertable WHERE y_id = ? LIMIT 1
			SELECT field1 FROM ycsb.usertable WHERE y_id = ? LIMIT 1
			SELECT * FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?
			SELECT y_id, field0 FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?
			SELECT y_id, field1 FROM ycsb.usertable WHERE token(y_id) >= token(?) LIMIT ?
			UPDATE ycsb.usertable SET field0 = ?, field1 = ? WHERE y_id = ?
			UPDATE ycsb.usertable SET field0 = ? WHERE y_id = ?
			UPDATE ycsb.usertable SET field1 = ? WHERE y_id = ?
			INSERT INTO ycsb.usertable (y_id, field0, field1) VALUES (?, ?, ?)
			DELETE FROM ycsb.usertable WHERE y_id = ?`},
		{bindings.Properties{
			"cassandra.layout": "clustered", "cassandra.buckets": "3", "cassandra.keyspace": "Other",
			"cassandra.replication.class": "NetworkTopologyStrategy", "cassandra.replication.factor": "east:3, west:2",
		}, `
			CREATE KEYSPACE IF NOT EXISTS Other WITH replication = {'class': 'NetworkTopologyStrategy', 'east': 3, 'west': 2}
			CREATE TABLE IF NOT EXISTS Other.usertable (bucket int, y_id varchar, field0 varchar, field1 varchar, PRIMARY KEY (bucket, y_id)) WITH comment = 'buckets=3'
			SELECT * FROM Other.usertable WHERE bucket = ? AND y_id = ? LIMIT 1
			SELECT field0 FROM Other.usertable WHERE bucket = ? AND y_id = ? LIMIT 1
			SELECT field1 FROM Other.usertable WHERE bucket = ? AND y_id = ? LIMIT 1
			SELECT * FROM Other.usertable WHERE bucket IN (0, 1, 2) AND y_id >= ? ORDER BY y_id LIMIT ?
			SELECT y_id, field0 FROM Other.usertable WHERE bucket IN (0, 1, 2) AND y_id >= ? ORDER BY y_id LIMIT ?
			SELECT y_id, field1 FROM Other.usertable WHERE bucket IN (0, 1, 2) AND y_id >= ? ORDER BY y_id LIMIT ?
			UPDATE Other.usertable SET field0 = ?, field1 = ? WHERE bucket = ? AND y_id = ?
			UPDATE Other.usertable SET field0 = ? WHERE bucket = ? AND y_id = ?
			UPDATE Other.usertable SET field1 = ? WHERE bucket = ? AND y_id = ?
			INSERT INTO Other.usertable (bucket, y_id, field0, field1) VALUES (?, ?, ?, ?)
			DELETE FROM Other.usertable WHERE bucket = ? AND y_id = ?`},
	} {
		st := newStatements(h, &configured(t, c.given).settings)
		got := st.schema()
		for _, s := range st.usual(h) {
			got = append(got, s.text)
		}
		var want []string
		for line := range strings.Lines(strings.TrimSpace(c.want)) {
			want = append(want, strings.TrimSpace(line))
		}
		// Names are quoted in what is sent; these need not be.
		if text := strings.ReplaceAll(strings.Join(got, "\n"), `"`, ""); text != strings.Join(want, "\n") {
			t.Errorf("statements are\n%s\nwant\n%s", text, strings.Join(want, "\n"))
		}
	}
}

func TestNamesAreQuoted(t *testing.T) {
	st := newStatements(&traces.Header{Table: `a"b`, Fields: payload.Fields{Count: 1, Prefix: "Select"}}, &configured(t, nil).settings)
	if want := `UPDATE "ycsb"."a""b" SET "Select0" = ? WHERE y_id = ?`; st.updateAll.text != want {
		t.Errorf("%s, want %s", st.updateAll.text, want)
	}
}

// TestPreparedStatementsAreFound: what a trace can ask for with the statements
// that are made ahead is one of them, and any other set is right as well.
func TestPreparedStatementsAreFound(t *testing.T) {
	h := &traces.Header{Table: "usertable", Fields: payload.Fields{Count: 100, Prefix: "field"}}
	st := newStatements(h, &configured(t, nil).settings)
	fields := make([]bindings.Field, 100)
	for i := range fields {
		fields[i].Name = h.Fields.Name(i)
	}
	one := []string{"field7"}
	for _, pair := range [][2]*statement{
		{st.forRead(nil), st.readAll}, {st.forRead(one), st.readOne["field7"]}, {st.forScan(nil), st.scanAll}, {st.forScan(one), st.scanOne["field7"]},
		{st.forUpdate(fields), st.updateAll}, {st.forUpdate(fields[7:8]), st.updateOne["field7"]}, {st.forInsert(fields), st.insert},
	} {
		if pair[0] != pair[1] || !pair[0].kept {
			t.Errorf("%q is not made ahead", pair[0].text)
		}
	}
	swapped := []bindings.Field{fields[1], fields[0]}
	for _, s := range []*statement{st.forUpdate(swapped), st.forInsert(swapped), st.forRead([]string{"field1", "field0"}), st.forUpdate([]bindings.Field{{Name: "else"}})} {
		if s.kept || !strings.Contains(s.text, `"field1"`) && !strings.Contains(s.text, `"else"`) {
			t.Errorf("%q", s.text)
		}
	}
	if n := len(st.usual(h)); n != 3*(1+usualFields)+2 {
		t.Errorf("%d statements are prepared ahead", n)
	}
	h.Phases = []traces.Phase{{Mix: []traces.Share{{Kind: traces.Insert}}}, {Mix: []traces.Share{{Kind: traces.Update}}}}
	if list := st.usual(h); len(list) != 2+usualFields || !slices.Contains(list, st.insert) || slices.Contains(list, st.readAll) {
		t.Errorf("for INSERT and UPDATE %d statements are prepared ahead", len(list))
	}
}
