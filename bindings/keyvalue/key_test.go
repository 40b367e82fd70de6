package keyvalue

import (
	"bytes"
	"testing"

	"pianola/bindings"
)

func TestLocate(t *testing.T) {
	var l Location
	for _, c := range []struct{ table, key, want string }{
		{"usertable", "k", "usertable\x00k"}, {"usertable", "", "usertable\x00"}, {"other", "key", "other\x00key"}, {"", "k", "\x00k"}, {"", "", "\x00"},
	} {
		op := &bindings.Op{Table: c.table, Key: []byte(c.key)}
		if err := l.Locate(op); err != nil || string(l.Key) != c.want {
			t.Errorf("%q of table %q is at %q, %v; want %q", c.key, c.table, l.Key, err, c.want)
		}
		if bytes.Compare(l.Key, l.End) >= 0 || !bytes.Equal(l.Key[:l.Prefix], TableStart(nil, c.table)) {
			t.Errorf("%q is not in its table: prefix %d, end %q", l.Key, l.Prefix, l.End)
		}
	}
	if err := l.Locate(&bindings.Op{Table: "a\x00b"}); bindings.ClassOf(err) != bindings.Invalid {
		t.Errorf("a table with a zero byte: %v", err)
	}
}

func TestLocksAreByKey(t *testing.T) {
	l := NewLocks()
	if first, again := l.Of([]byte("a")), l.Of([]byte("a")); first != again {
		t.Error("a key has two locks")
	}
	seen := map[any]bool{}
	for i := range 256 {
		seen[l.Of([]byte{byte(i)})] = true
	}
	if len(seen) < 200 {
		t.Errorf("256 keys share %d locks", len(seen))
	}
}
