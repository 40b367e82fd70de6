package hbase

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pianola/bindings"
	"pianola/bindings/hbase/wire"
	"pianola/traces"
	"pianola/traces/payload"
)

func parsed(t *testing.T, given bindings.Properties) (settings, error) {
	t.Helper()
	p, err := Driver.Configure(given, nil)
	if err != nil {
		t.Fatal(err)
	}
	return parseSettings(p)
}

// siteDir returns a directory with an hbase-site.xml that has the properties.
func siteDir(t *testing.T, pairs ...string) string {
	t.Helper()
	text := "<?xml version=\"1.0\"?>\n<configuration>\n"
	for i := 0; i < len(pairs); i += 2 {
		text += "<property><name>" + pairs[i] + "</name><value> " + pairs[i+1] + " </value><final>true</final></property>\n"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hbase-site.xml"), []byte(text+"</configuration>"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPlaceOfTheCluster(t *testing.T) {
	const quorum, clientPort, parent = "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", "zookeeper.znode.parent"
	const impl = "hbase.client.registry.impl"
	for want, given := range map[string]bindings.Properties{
		"127.0.0.1:16000":               nil,
		"a:16000,[::1]:9,[::2]:16000":   {"hosts": "a, [::1]:9,::2"},
		"a:7":                           {"hosts": "a", "port": "7"},
		"zookeeper z:2181,y:3/hbase":    {quorum: "z,y:3"},
		"zookeeper z:4/hb":              {quorum: "z", clientPort: "4", parent: "/hb/"},
		"zookeeper s:5/s":               {"hbase.conf": siteDir(t, quorum, "s", clientPort, "5", parent, "/s")},
		"zookeeper s:6/t":               {"hbase.conf": siteDir(t, quorum, "s", clientPort, "5", parent, "/s"), clientPort: "6", parent: "/t"},
		"zookeeper u:5/s":               {"hbase.conf": siteDir(t, quorum, "s", clientPort, "5", parent, "/s"), quorum: "u"},
		"h:8":                           {"hbase.conf": siteDir(t, quorum, "s", "hbase.master.port", "8"), "hosts": "h"},
		"m:16000,n:1":                   {"hbase.conf": siteDir(t, quorum, "s", impl, "org.apache.hadoop.hbase.client.RpcConnectionRegistry", "hbase.masters", "m,n:1")},
		"b:16020":                       {"hbase.conf": siteDir(t, impl, "x.MasterRegistry", "hbase.masters", "m", "hbase.client.bootstrap.servers", "b:16020")},
		"127.0.0.1:16001":               {"hbase.conf": siteDir(t, "hbase.master.port", "16001")},
		"zookeeper last:2181/hbase":     {"hbase.conf": siteDir(t, quorum, "first", quorum, "last")},
		"zookeeper 10.0.0.1:2181/hbase": {"hbase.conf": siteDir(t, quorum, "10.0.0.1", "hbase.rootdir", "${user.home}/x")},
	} {
		s, err := parsed(t, given)
		if err != nil || s.address() != want {
			t.Errorf("%v: %q, %v, want %q", given, s.address(), err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "anna")
	s, err := parsed(t, bindings.Properties{
		"durability": "fsync_wal", "hbase.checkinserts": "TRUE", "hbase.splits": "7", "columnfamily": "cf",
		"hbase.client.ipc.pool.size": "3", "hbase.client.scanner.max.result.size": "1KiB", "hbase.usepagefilter": "false",
	})
	if err != nil || s.durability != wire.FsyncWAL || !s.checkInserts || s.splits != 7 || s.family != "cf" || s.connections != 3 ||
		s.maxResult != 1024 || s.user != "anna" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = parsed(t, bindings.Properties{"hbase.user": "berta"}); err != nil || s.user != "berta" || s.splits != 0 || s.durability != wire.TableDurability {
		t.Errorf("%+v, %v", s, err)
	}
	t.Setenv("HADOOP_USER_NAME", "")
	if s, err = parsed(t, nil); err != nil || s.user == "" {
		t.Errorf("user %q, %v", s.user, err)
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, c := range []struct {
		given bindings.Properties
		want  string
	}{
		{bindings.Properties{"clientbuffering": "true"}, "before they are sent"},
		{bindings.Properties{"clientbuffering": "maybe"}, "true or false"},
		{bindings.Properties{"principal": "a@B", "keytab": "x"}, "Kerberos"},
		{bindings.Properties{"durability": "true"}, `durability is "true", not one of USE_DEFAULT`},
		{bindings.Properties{"hbase.usepagefilter": "x"}, "hbase.usepagefilter"},
		{bindings.Properties{"columnfamily": ""}, "columnfamily"},
		{bindings.Properties{"columnfamily": "a:b"}, "columnfamily"},
		{bindings.Properties{"hbase.splits": "0"}, "auto or a whole number"},
		{bindings.Properties{"hbase.client.ipc.pool.size": "0"}, "ipc.pool.size"},
		{bindings.Properties{"hbase.ipc.client.socket.timeout.connect": "5s"}, "timeout.connect"},
		{bindings.Properties{"hbase.client.scanner.max.result.size": "0"}, "max.result.size"},
		{bindings.Properties{"hosts": "a,,b"}, `hosts is "a,,b"`},
		{bindings.Properties{"hosts": "a:0"}, `port "0"`},
		{bindings.Properties{"port": "x"}, `port is "x"`},
		{bindings.Properties{"hosts": "a", "hbase.zookeeper.quorum": "b"}, "both given"},
		{bindings.Properties{"hbase.zookeeper.quorum": "b", "zookeeper.znode.parent": "hbase"}, "begins with /"},
		{bindings.Properties{"hbase.conf": "/nowhere"}, "hbase-site.xml"},
		{bindings.Properties{"hbase.conf": siteDir(t, "hbase.security.authentication", "kerberos")}, "wants Kerberos"},
		{bindings.Properties{"hbase.conf": siteDir(t, "hbase.client.netty.tls.enabled", "true")}, "wants TLS"},
		{bindings.Properties{"hbase.conf": siteDir(t, "hbase.zookeeper.quorum", "${zk}")}, "only Java knows"},
	} {
		if _, err := parsed(t, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q in it", c.given, err, c.want)
		}
	}
}

// FuzzSite: a file of settings is read or refused.
func FuzzSite(f *testing.F) {
	f.Add([]byte("<configuration><property><name>hbase.zookeeper.quorum</name><value>a</value></property></configuration>"))
	f.Add([]byte("<configuration><property><value>${a}</value></property>"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if s, err := parseSite(text); err == nil {
			s.place()
			_ = s.refuse()
		}
	})
}

func TestSplits(t *testing.T) {
	for _, order := range []payload.Order{payload.Ordered, payload.Hashed} {
		h := &traces.Header{Keys: payload.Keys{Prefix: "user", Order: order}, FirstKey: 1000, Records: 123_457}
		list := splits(h, 8)
		if len(list) != 7 {
			t.Fatalf("order %v: %d splits, want 7: %q", order, len(list), list)
		}
		counts := make([]int, len(list)+1)
		for n := range h.Records {
			key := h.Keys.Append(nil, h.FirstKey+n)
			at := 0
			for at < len(list) && bytes.Compare(key, list[at]) >= 0 {
				at++
			}
			counts[at]++
		}
		for i, n := range counts {
			if share := float64(n) * 8 / float64(h.Records); share < 0.9 || share > 1.1 {
				t.Errorf("order %v: region %d of %q has %.2f of its share", order, i, list, share)
			}
		}
	}
	for records, want := range map[uint64]int{0: 0, 1: 0, 2: 1, 5: 4, 1 << 40: 9} {
		h := &traces.Header{Keys: payload.Keys{Prefix: "user"}, Records: records}
		if got := len(splits(h, 10)); got != want {
			t.Errorf("%d splits for %d records, want %d", got, records, want)
		}
	}
}
