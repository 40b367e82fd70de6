package tracegen

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pianola/traces"
)

func TestNoPropertyIsKnownTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range knownProperties {
		if seen[k.name] {
			t.Errorf("%s is in the table twice", k.name)
		}
		seen[k.name] = true
	}
}

func TestEveryDefaultIsAcceptedAndChangesNothing(t *testing.T) {
	quiet, _, err := Parse(inputOf(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range knownProperties {
		if k.fallback == "" || k.use == otherClass || k.name == "recordcount" || k.name == "operationcount" {
			continue
		}
		value := k.fallback
		switch k.name {
		case "insertcount", "insert.from":
			value = "1000"
		case "target":
			value = "1000"
		}
		spec, _, err := Parse(inputOf("-p " + k.name + "=" + value))
		if err != nil {
			t.Errorf("%s=%s: %v", k.name, value, err)
		} else if got := changedLines(quiet.Canonical(), spec.Canonical()); got != "" {
			t.Errorf("%s=%s changes %s", k.name, value, got)
		}
	}
}

// TestTheGuideListsEveryProperty holds docs/ycsb.md to the table: each name has
// one row that begins with it, its default and its use, and no row is made up.
func TestTheGuideListsEveryProperty(t *testing.T) {
	text, err := os.ReadFile("../docs/ycsb.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		if rows[name] != "" {
			t.Errorf("%s has two rows", name)
		}
		rows[name] = strings.Join(cells[2:4], "|")
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("%s: nothing is said about it", name)
		}
	}
	for _, k := range knownProperties {
		fallback := "none"
		if k.fallback != "" {
			fallback = "`" + k.fallback + "`"
		}
		if want := fmt.Sprintf(" %s | %s ", fallback, k.use); rows[k.name] != want {
			t.Errorf("row of %s goes on %q, want %q", k.name, rows[k.name], want)
		}
		delete(rows, k.name)
	}
	for family, use := range propertyFamilies {
		if use == used {
			continue
		}
		if want := fmt.Sprintf(" none | %s ", use); rows[family+".*"] != want {
			t.Errorf("row of %s.* goes on %q, want %q", family, rows[family+".*"], want)
		}
		delete(rows, family+".*")
	}
	for name := range rows {
		t.Errorf("row of %s, which is not in the table", name)
	}
}

func TestHintsAreKeptWithoutSecrets(t *testing.T) {
	spec, notes, err := Parse(inputOf(strings.Join([]string{
		"redis.host=10.0.0.1",
		"db=site.ycsb.db.CassandraCQLClient",
		"threadcount=64 ",
		"hosts=a,b # c",
		"redis.password=hunter2",
		"cassandra.username=me",
		"cassandra.keyspace=ycsb",
		"db.passwd=hunter2",
		"db.url=jdbc:postgresql://h/db?user=me&password=hunter2",
		"mongodb.url=mongodb://me:hunter2@h:27017/ycsb",
		"mongodb.authSource=admin",
		"keytab=/etc/hunter2.keytab",
		"ignite.ssl-key-file=hunter2",
		"pebble.api_token=hunter2",
		"hbase.client.secret=${HUNTER2}",
		"jdbc.url=jdbc:oracle:thin:me/hunter2@h:1521",
		"aerospike.password=hunter2",
		"redis.sentinel=redis://hunter2@h",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []traces.Hint{
		{Name: "cassandra.keyspace", Value: "ycsb"},
		{Name: "cassandra.username", Value: "me"},
		{Name: "db", Value: "site.ycsb.db.CassandraCQLClient"},
		{Name: "hosts", Value: "a,b # c"},
		{Name: "mongodb.authSource", Value: "admin"},
		{Name: "redis.host", Value: "10.0.0.1"},
		{Name: "threadcount", Value: "64"},
	}
	if !slices.Equal(spec.Hints, want) {
		t.Errorf("hints %v\nwant  %v", spec.Hints, want)
	}
	wantNotes := `f:7: threadcount: blanks around the value dropped
f:7: threadcount: kept as a hint: an open loop has no threads
f:9: redis.password: a secret, left out of the trace
f:12: db.passwd: a secret, left out of the trace
f:13: db.url: a secret, left out of the trace
f:14: mongodb.url: a secret, left out of the trace
f:16: keytab: a secret, left out of the trace
f:17: ignite.ssl-key-file: a secret, left out of the trace
f:18: pebble.api_token: a secret, left out of the trace
f:19: hbase.client.secret: a secret, left out of the trace
f:20: jdbc.url: a secret, left out of the trace
f:21: aerospike.password: of a store that is not driven, ignored
f:22: redis.sentinel: a secret, left out of the trace`
	if got := strings.Join(noteLines(notes), "\n"); got != wantNotes {
		t.Errorf("notes\n%s\nwant\n%s", got, wantNotes)
	}
}

func TestNoMessageShowsASecret(t *testing.T) {
	_, notes, err := Parse(inputOf(strings.Join([]string{
		"password=hunter2",
		"passwrd=hunter2",
		"mongourl=mongodb://me:hunter2@h/db",
		"cassandra.password=hunter2",
		"cassandra.password=hunter2",
		"table=t&password=hunter2#",
		"recordcount=redis://hunter2@h",
		"-p redis.password:hunter2",
		"-p redis://me:hunter2@h",
		"-p secret=hunter2",
	}, "\n")))
	if err == nil {
		t.Fatal("accepted")
	}
	if all := err.Error() + strings.Join(noteLines(notes), "\n"); strings.Contains(all, "hunter2") {
		t.Errorf("a secret is shown in\n%s", all)
	}
}
