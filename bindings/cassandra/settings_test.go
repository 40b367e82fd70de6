package cassandra

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"pianola/bindings"
)

func TestDefaults(t *testing.T) {
	t.Setenv(passwordVariable, "unused")
	b := configured(t, nil)
	s := b.settings
	if s.address() != "127.0.0.1:9042" || s.read != gocql.Quorum || s.write != gocql.Quorum || s.username != "" || s.password != "" || s.tls != nil || s.buckets != 0 {
		t.Errorf("the defaults are %+v", s)
	}
	b.nodes, b.streams, b.log = newNodes(), &streams{}, &log{}
	c := b.cluster()
	if c.WriteCoalesceWaitTime != 0 || c.RetryPolicy != nil || c.ProtoVersion != 0 || c.NumConns != 2 || c.Authenticator != nil || c.SslOpts != nil || c.Keyspace != "" {
		t.Errorf("the driver is set up as %+v", c)
	}
	if limit := s.inflight * int64(s.connections); limit >= streamsPerConnection*int64(s.connections) || limit < int64(Driver.Slots) {
		t.Errorf("%d requests are let in", limit)
	}
}

func TestSettings(t *testing.T) {
	t.Setenv(passwordVariable, "from the environment")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from a file\nnot this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given bindings.Properties
		right func(s settings) bool
	}{
		{bindings.Properties{"hosts": "a, b:7 ,::1,[::2]:8,[::3]", "port": "9"}, func(s settings) bool {
			return slices.Equal(s.hosts, []string{"a:9", "b:7", "[::1]:9", "[::2]:8", "[::3]:9"})
		}},
		{bindings.Properties{"cassandra.username": "me"}, func(s settings) bool { return s.password == "from the environment" }},
		{bindings.Properties{"cassandra.username": "me", "cassandra.password-file": file}, func(s settings) bool { return s.password == "from a file" }},
		{bindings.Properties{"cassandra.username": "me", "cassandra.password": "x"}, func(s settings) bool { return s.password == "x" }},
		{bindings.Properties{"cassandra.readconsistencylevel": "Local_Quorum", "cassandra.writeconsistencylevel": "any"},
			func(s settings) bool { return s.read == gocql.LocalQuorum && s.write == gocql.Any }},
		{bindings.Properties{"cassandra.coreconnections": "3", "cassandra.maxconnections": "5"}, func(s settings) bool { return s.connections == 5 }},
		{bindings.Properties{"cassandra.coreconnections": "7", "cassandra.maxconnections": "5"}, func(s settings) bool { return s.connections == 7 }},
		{bindings.Properties{"cassandra.coalesce": "50us", "cassandra.connecttimeoutmillis": "70", "cassandra.readtimeoutmillis": "80"}, func(s settings) bool {
			return s.coalesce == 50*time.Microsecond && s.connectTimeout == 70*time.Millisecond && s.readTimeout == 80*time.Millisecond
		}},
		{bindings.Properties{"cassandra.protocol": "3"}, func(s settings) bool { return s.protocol == 3 }},
		{bindings.Properties{"cassandra.useSSL": "TRUE", "cassandra.tls-server-name": "n"}, func(s settings) bool {
			return s.tls.ServerName == "n" && !s.tls.InsecureSkipVerify && s.tls.RootCAs == nil
		}},
	} {
		if s := configured(t, c.given).settings; !c.right(s) {
			t.Errorf("%v is read as %+v", c.given, s)
		}
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Setenv(passwordVariable, "")
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given bindings.Properties
		want  string
	}{
		{bindings.Properties{"hosts": "a,,b"}, "property hosts"},
		{bindings.Properties{"hosts": ""}, "property hosts"},
		{bindings.Properties{"hosts": "a:x"}, "property hosts"},
		{bindings.Properties{"port": "0"}, "property port"},
		{bindings.Properties{"cassandra.keyspace": "a-b"}, "cassandra.keyspace"},
		{bindings.Properties{"cassandra.keyspace": ""}, "cassandra.keyspace"},
		{bindings.Properties{"cassandra.username": "me"}, passwordVariable},
		{bindings.Properties{"cassandra.password": "h0rse"}, "no cassandra.username"},
		{bindings.Properties{"cassandra.username": "me", "cassandra.password-file": "/nowhere"}, "/nowhere"},
		{bindings.Properties{"cassandra.readconsistencylevel": "any"}, "cassandra.readconsistencylevel"},
		{bindings.Properties{"cassandra.writeconsistencylevel": "most"}, `"most"`},
		{bindings.Properties{"cassandra.replication.class": "a'b"}, "cassandra.replication.class"},
		{bindings.Properties{"cassandra.replication.factor": "0"}, "cassandra.replication.factor"},
		{bindings.Properties{"cassandra.replication.factor": "1,2"}, "cassandra.replication.factor"},
		{bindings.Properties{"cassandra.replication.factor": "a'b:2"}, "cassandra.replication.factor"},
		{bindings.Properties{"cassandra.layout": "sorted"}, "ycsb, clustered"},
		{bindings.Properties{"cassandra.buckets": "0"}, "cassandra.buckets"},
		{bindings.Properties{"cassandra.coreconnections": "0"}, "cassandra.coreconnections"},
		{bindings.Properties{"cassandra.maxconnections": "many"}, "cassandra.maxconnections"},
		{bindings.Properties{"cassandra.inflight": "32767"}, "from 1 to 32766"},
		{bindings.Properties{"cassandra.connecttimeoutmillis": "1s"}, "cassandra.connecttimeoutmillis"},
		{bindings.Properties{"cassandra.readtimeoutmillis": "0"}, "cassandra.readtimeoutmillis"},
		{bindings.Properties{"cassandra.coalesce": "200"}, "cassandra.coalesce"},
		{bindings.Properties{"cassandra.protocol": "5"}, "negotiated, 3, 4"},
		{bindings.Properties{"cassandra.tracing": "on"}, "cassandra.tracing"},
		{bindings.Properties{"cassandra.useSSL": "yes"}, "cassandra.useSSL"},
		{bindings.Properties{"cassandra.tls-ca": noPEM}, "cassandra.useSSL"},
		{bindings.Properties{"cassandra.useSSL": "true", "cassandra.tls-ca": noPEM}, noPEM},
		{bindings.Properties{"cassandra.useSSL": "true", "cassandra.tls-ca": "/nowhere"}, "/nowhere"},
		{bindings.Properties{"cassandra.useSSL": "true", "cassandra.tls-cert": noPEM}, "cassandra.tls-key"},
		{bindings.Properties{"cassandra.useSSL": "true", "cassandra.tls-cert": noPEM, "cassandra.tls-key": noPEM}, noPEM},
	} {
		p, err := Driver.Configure(maps.Clone(c.given), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Driver.New(p); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "h0rse") {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
}
