package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pianola/bindings"
	"pianola/bindings/servers"
	"pianola/traces"
)

// TestTLSAndPassword is on a server that takes no plain connections and asks
// who it is. No error and no fact shows the password.
func TestTLSAndPassword(t *testing.T) {
	t.Setenv(passwordVariable, "")
	s := servers.Start(t, "cassandra-tls")
	ca := filepath.Join(s.Dir, servers.AuthorityFile)
	secure := at(s.Address, bindings.Properties{"cassandra.useSSL": "true", "cassandra.tls-ca": ca, "cassandra.username": "cassandra"})
	with := func(pairs ...string) bindings.Properties {
		p := bindings.Properties{}
		for name, value := range secure {
			p[name] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			p[pairs[i]] = pairs[i+1]
		}
		return p
	}
	t.Run("refused", func(t *testing.T) {
		for _, c := range []struct {
			name  string
			given bindings.Properties
			wants []string
		}{
			{"wrong password", with("cassandra.password", "h0rse-battery"), []string{"incorrect"}},
			{"no user", with("cassandra.username", ""), []string{"authentication required", "\nset cassandra.username", passwordVariable}},
			{"unknown authority", with("cassandra.password", "cassandra", "cassandra.tls-ca", ""), []string{"unknown authority", "\nset cassandra.tls-ca"}},
			{"other name", with("cassandra.password", "cassandra", "cassandra.tls-server-name", "elsewhere"), []string{"elsewhere"}},
			{"no TLS", with("cassandra.password", "cassandra", "cassandra.useSSL", "false", "cassandra.tls-ca", ""), []string{"\nif it talks TLS alone"}},
		} {
			err := configured(t, c.given).Open(t.Context(), testConfig())
			if err == nil {
				t.Errorf("%s: it is let in", c.name)
				continue
			}
			for _, want := range append(c.wants, s.Address) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q lacks %q", c.name, err, want)
				}
			}
			if strings.Contains(err.Error(), "h0rse-battery") {
				t.Errorf("%s: %q shows the password", c.name, err)
			}
		}
	})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("cassandra\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("let in", func(t *testing.T) {
		for _, p := range []bindings.Properties{with("cassandra.password", "cassandra"), with("cassandra.password-file", file), with()} {
			if p["cassandra.password"]+p["cassandra.password-file"] == "" {
				t.Setenv(passwordVariable, "cassandra")
			}
			mustWork(t, opened(t, p))
		}
	})
	t.Run("no right", func(t *testing.T) {
		b := opened(t, with("cassandra.password-file", file))
		if err := b.db.Query("CREATE ROLE guest WITH PASSWORD = 'h0rse-battery' AND LOGIN = true").Exec(); err != nil {
			t.Fatal(err)
		}
		guest := configured(t, with("cassandra.username", "guest", "cassandra.password", "h0rse-battery"))
		if err := guest.Open(t.Context(), testConfig()); err != nil {
			t.Fatal(err)
		}
		defer guest.Close()
		session := newTestSession(t, guest)
		for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.Scan} {
			if err := session.Do(t.Context(), whole(kind, 1)); bindings.ClassOf(err) != bindings.Unauthorised {
				t.Errorf("%v by one who may do nothing: %v", kind, err)
			}
		}
		// Who may write a table need not be allowed to make one that is there.
		if err := b.db.Query("GRANT SELECT ON KEYSPACE " + b.statements.keyspace + " TO guest").Exec(); err != nil {
			t.Fatal(err)
		}
		if err := b.db.Query("GRANT MODIFY ON KEYSPACE " + b.statements.keyspace + " TO guest").Exec(); err != nil {
			t.Fatal(err)
		}
		if err := guest.CreateSchema(t.Context()); err != nil {
			t.Error(err)
		}
		for bindings.ClassOf(session.Do(t.Context(), whole(traces.Insert, 1))) == bindings.Unauthorised {
			time.Sleep(10 * time.Millisecond) // the server remembers rights for a while
		}
		mustWork(t, guest)
		for _, f := range append(guest.Facts(), Driver.Redacted(with("cassandra.password", "h0rse-battery"))...) {
			if strings.Contains(f.Value, "h0rse-battery") {
				t.Errorf("fact %s shows the password", f.Name)
			}
		}
	})
}

func mustWork(t *testing.T, b *binding) {
	t.Helper()
	session := newTestSession(t, b)
	for _, kind := range []traces.Kind{traces.Insert, traces.Read, traces.Scan, traces.ReadModifyWrite, traces.Delete} {
		if err := session.Do(t.Context(), whole(kind, 1)); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
	}
}

// TestNobodyThere: the error names the address and the cause, and comes before
// a person gives up.
func TestNobodyThere(t *testing.T) {
	if patience > 10*time.Second {
		t.Errorf("Open may take %v", patience)
	}
	closed := listening(t, func(conn net.Conn) { conn.Close() })
	silent := listening(t, func(conn net.Conn) { conn.Read(make([]byte, 1)); select {} })
	other := listening(t, func(conn net.Conn) {
		fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		conn.Read(make([]byte, 1000))
		conn.Close()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	for _, c := range []struct {
		name, address string
		more          bindings.Properties
		wants         []string
	}{
		{"nobody listens", nobody, nil, []string{"connection refused"}},
		{"none of two", nobody + "," + nobody, nil, []string{"connection refused"}},
		{"no such name", "no-such-host.invalid", nil, []string{"no-such-host.invalid"}},
		{"silent", silent, bindings.Properties{"cassandra.connecttimeoutmillis": "200"}, []string{"no response"}},
		{"hangs up", closed, nil, []string{"\nif it talks TLS alone"}},
		{"another protocol", other, bindings.Properties{"cassandra.connecttimeoutmillis": "2000"}, nil},
		{"no TLS there", other, bindings.Properties{"cassandra.useSSL": "true"}, []string{"TLS"}},
	} {
		err := configured(t, at(c.address, c.more)).Open(t.Context(), testConfig())
		if err == nil {
			t.Errorf("%s: it opens", c.name)
			continue
		}
		for _, want := range append(c.wants, strings.Split(c.address, ",")[0]) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", c.name, err, want)
			}
		}
		t.Logf("%s: %v", c.name, err)
	}
	// The driver doesn't know when to give up; Open does.
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	err = configured(t, at(silent, bindings.Properties{"cassandra.connecttimeoutmillis": "3000"})).Open(ctx, testConfig())
	if err == nil || !strings.Contains(err.Error(), silent) || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("a context that ends: %v", err)
	}
}
