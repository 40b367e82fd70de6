package mongodb

import (
	"strings"
	"testing"

	"pianola/bindings"
)

func TestSettings(t *testing.T) {
	t.Setenv(passwordVariable, "p:/@ %")
	for _, c := range []struct{ url, database, hosts string }{
		{"mongodb://127.0.0.1:27017/ycsb?w=1", "ycsb", "127.0.0.1:27017"},
		{"mongodb://a,b:1,c:2", "ycsb", "a,b:1,c:2"},
		{"mongodb://a/", "ycsb", "a"},
		{"mongodb://a/admin", "ycsb", "a"},
		{"mongodb://a/other?w=majority&readPreference=secondary", "other", "a"},
		{"mongodb://me@a/other?replicaSet=rs0", "other", "a"},
		{"mongodb+srv://me@cluster.example/x%41", "xA", "cluster.example"},
		{"mongodb://a?retryWrites=true", "ycsb", "a"},
	} {
		s, err := parseSettings(bindings.Properties{"mongodb.url": c.url, "mongodb.upsert": "false"})
		if err != nil || s.database != c.database || s.url.hosts != c.hosts {
			t.Errorf("%q: database %q at %q, %v", c.url, s.database, s.url.hosts, err)
		}
	}
}

func TestUnfitSettings(t *testing.T) {
	for _, c := range []struct{ url, text string }{
		{"", "mongodb://"},
		{"127.0.0.1:27017", "mongodb://"},
		{"me:hunter2@a", "mongodb://"},
		{"http://a", "mongodb://"},
		{"mongodb://", "mongodb.url"},
		{"mongodb://me@a/b", passwordVariable},
		{"mongodb://a/b?nonsense", "mongodb.url"},
		{"mongodb://a/b?readPreference=best", "best"},
		{"mongodb://a/b?w=-1", "-1"},
		{"mongodb://a/b.c", "database name"},
		{"mongodb://me:hunter2@a/b", passwordVariable},
		{"mongodb://me:@a/b", passwordVariable},
		{"mongodb+srv://me:hunter2@a/b", passwordVariable},
		{"mongodb://a/b?tls=true&tlsCertificateKeyFilePassword=hunter2", passwordVariable},
		{"mongodb://a/b?authMechanismProperties=AWS_SESSION_TOKEN:hunter2", passwordVariable},
	} {
		_, err := parseSettings(bindings.Properties{"mongodb.url": c.url, "mongodb.upsert": "false"})
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%q: %v, want %q in it", c.url, err, c.text)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the password is in the error: %v", c.url, err)
		}
	}
	if _, err := parseSettings(bindings.Properties{"mongodb.url": "mongodb://a", "mongodb.upsert": "maybe"}); err == nil {
		t.Error("mongodb.upsert=maybe is taken")
	}
}

// TestNothingIsRepeated: whatever the URL says.
func TestNothingIsRepeated(t *testing.T) {
	s, err := parseSettings(bindings.Properties{"mongodb.url": "mongodb://a?retryWrites=true&retryReads=true&maxAdaptiveRetries=5", "mongodb.upsert": "false"})
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.clientOptions(7)
	if err != nil {
		t.Fatal(err)
	}
	if *o.RetryReads || *o.RetryWrites || *o.MaxAdaptiveRetries != 0 {
		t.Errorf("reads %v, writes %v, overloaded %d", *o.RetryReads, *o.RetryWrites, *o.MaxAdaptiveRetries)
	}
	if *o.MaxPoolSize != 7 {
		t.Errorf("%d connections for 7 slots", *o.MaxPoolSize)
	}
}

// TestPasswordReachesTheClient as it is, and from nowhere else.
func TestPasswordReachesTheClient(t *testing.T) {
	const password = "p:/@ %+é"
	for _, c := range []struct{ url, user, password string }{
		{"mongodb://me%40home@a/b", "me@home", password},
		{"mongodb://a/b", "", ""},
		{"mongodb://CN=me@a/b?authMechanism=MONGODB-X509&authSource=$external", "CN=me", ""},
	} {
		t.Setenv(passwordVariable, password)
		s, err := parseSettings(bindings.Properties{"mongodb.url": c.url, "mongodb.upsert": "false"})
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.clientOptions(1)
		if err != nil {
			t.Fatal(err)
		}
		if c.user == "" {
			if o.Auth != nil {
				t.Errorf("%q: somebody logs in: %q", c.url, o.Auth.Username)
			}
			continue
		}
		if o.Auth == nil || o.Auth.Username != c.user || o.Auth.Password != c.password {
			t.Errorf("%q: logs in as %+v", c.url, o.Auth)
		}
	}
}

func TestLocal(t *testing.T) {
	for url, want := range map[string]bool{
		"mongodb://127.0.0.1": true, "mongodb://localhost:1": true, "mongodb://192.0.2.7:1,127.0.0.1:2": true,
		"mongodb://%2Ftmp%2Fmongodb-27017.sock": true, "mongodb://192.0.2.7:1": false,
	} {
		if got := configured(t, bindings.Properties{"mongodb.url": url}).Local(); got != want {
			t.Errorf("%q is of this machine: %v", url, got)
		}
	}
}
