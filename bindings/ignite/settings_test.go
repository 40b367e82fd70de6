package ignite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
)

func parsed(t *testing.T, given bindings.Properties) (settings, error) {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	return parseSettings(p)
}

func TestSettings(t *testing.T) {
	s, err := parsed(t, nil)
	if err != nil || !slices.Equal(s.hosts, []string{"127.0.0.1:10800"}) || s.backups != 1 || s.sync != thin.FullSync ||
		s.atomicity != thin.Atomic || s.onHeap || s.update != byPut || s.bytes || s.connections != 1 || s.timeout != 5*time.Second || s.tls != nil {
		t.Errorf("the defaults are %+v, %v", s, err)
	}
	s, err = parsed(t, bindings.Properties{"hosts": "a, b:1,[::1]:2,::1", "ignite.sync": "primary_sync", "ignite.atomicity": "transactional",
		"ignite.backups": "2", "ignite.values": "bytes", "ignite.tls": "true"})
	if err != nil || !slices.Equal(s.hosts, []string{"a:10800", "b:1", "[::1]:2", "[::1]:10800"}) || s.sync != thin.PrimarySync ||
		s.atomicity != thin.Transactional || s.backups != 2 || !s.bytes || s.tls == nil {
		t.Errorf("%+v, %v", s, err)
	}
	file := filepath.Join(t.TempDir(), "no.pem")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []bindings.Properties{
		{"hosts": ""}, {"hosts": "a,,b"}, {"hosts": "a b"}, {"ignite.backups": "-1"}, {"ignite.sync": "FULL_SYNC"}, {"ignite.atomicity": "tx"},
		{"ignite.onheap": "yes"}, {"ignite.update": "put"}, {"ignite.values": "text"}, {"ignite.connections": "0"}, {"ignite.timeout": "1h"},
		{"ignite.tls": "true", "ignite.tls-ca": file}, {"ignite.tls-ca": file}, {"ignite.tls": "true", "ignite.tls-ca": file + "x"},
	} {
		_, err := parsed(t, p)
		named := err != nil && slices.ContainsFunc([]string{"hosts", "ignite."}, func(n string) bool { return strings.Contains(err.Error(), "property "+n) })
		if !named {
			t.Errorf("%v: %v, want an error that names the property", p, err)
		}
	}
}
