package cassandra

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"pianola/bindings"
)

// passwordVariable is where a password may be, rather than in a property.
const passwordVariable = "PIANOLA_CASSANDRA_PASSWORD"

var properties = []bindings.Property{
	{Name: "hosts", Default: "127.0.0.1", Help: `Nodes to ask for the others, separated by commas, each with :port behind it or
not. All nodes of the cluster are used.`},
	{Name: "port", Default: "9042", Help: "Port of the hosts that don't say."},
	{Name: "cassandra.keyspace", Default: "ycsb", Help: "Keyspace of the table; made by the load if it is missing."},
	{Name: "cassandra.username", Help: "User to log in as; the default is not to."},
	{Name: "cassandra.password", Secret: true, Help: `Its password. Others can see it on the command line, so better is a file or the
environment variable ` + passwordVariable + `.`},
	{Name: "cassandra.password-file", Help: "File whose first line is the password."},
	{Name: "cassandra.readconsistencylevel", Default: "QUORUM", Help: `Of READ and SCAN: ONE, TWO, THREE, QUORUM, ALL, LOCAL_ONE, LOCAL_QUORUM or
EACH_QUORUM.`},
	{Name: "cassandra.writeconsistencylevel", Default: "QUORUM", Help: "Of INSERT, UPDATE and DELETE; ANY too."},
	{Name: "cassandra.replication.class", Default: "SimpleStrategy", Help: "Of the keyspace, where the load makes it. NetworkTopologyStrategy is the other."},
	{Name: "cassandra.replication.factor", Default: "1", Help: `Copies of each record, likewise: a number, or with NetworkTopologyStrategy a
list such as dc1:3,dc2:2.`},
	{Name: "cassandra.layout", Default: "ycsb", Help: `ycsb: each record is a partition, and a scan goes on in the order of hashes.
clustered: records are sorted within partitions, and a scan is in the order of
the keys.`},
	{Name: "cassandra.buckets", Default: "16", Help: `Partitions of the layout clustered. A scan asks all of them, so few are fast
where the data is small; 100 MB in each is still fine.`},
	{Name: "cassandra.coreconnections", Default: "2", Help: "Connections to each node."},
	{Name: "cassandra.maxconnections", Help: "The same: the number is fixed. The greater of the two counts."},
	{Name: "cassandra.inflight", Default: "16384", Help: `Requests unanswered at a time, given up or not, for each connection; more are
refused as overloaded. A connection itself has room for 32767.`},
	{Name: "cassandra.connecttimeoutmillis", Default: "5000", Help: "Longest time in ms to connect and log in."},
	{Name: "cassandra.readtimeoutmillis", Default: "12000", Help: `Longest time in ms to wait for an answer where an operation's deadline is not
sooner.`},
	{Name: "cassandra.coalesce", Default: "0s", Help: `How long a request waits for others to be written with it; gocql's own default
is 200us.`},
	{Name: "cassandra.protocol", Default: "negotiated", Help: "Version of the protocol: negotiated, 3 or 4."},
	{Name: "cassandra.tracing", Default: "false", Help: "true: the server traces every operation. It slows down a lot."},
	{Name: "cassandra.useSSL", Default: "false", Help: "true: over TLS. Certificates are verified."},
	{Name: "cassandra.tls-ca", Help: "File with the authorities to trust, PEM; the default is those of the system."},
	{Name: "cassandra.tls-cert", Help: "File with this client's certificate, PEM, where the server asks for one."},
	{Name: "cassandra.tls-key", Help: "File with the key of it, PEM."},
	{Name: "cassandra.tls-server-name", Help: "Name in the server's certificate; the default is the host as it was given."},
}

// settings are the properties, read.
type settings struct {
	hosts              []string
	keyspace           string
	username, password string
	read, write        gocql.Consistency
	replication        string
	// buckets is the number of partitions of the layout clustered, 0 for YCSB's.
	buckets        int
	connections    int
	inflight       int64
	connectTimeout time.Duration
	readTimeout    time.Duration
	coalesce       time.Duration
	// protocol is 0 to negotiate it.
	protocol int
	tracing  bool
	tls      *tls.Config
}

// address returns the hosts as people know them.
func (s *settings) address() string { return strings.Join(s.hosts, ",") }

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{keyspace: p["cassandra.keyspace"]}
	for _, read := range []func(bindings.Properties) error{
		s.parseHosts, s.parseLogin, s.parseConsistency, s.parseReplication, s.parseLayout, s.parseConnections, s.parseTLS,
	} {
		if err := read(p); err != nil {
			return settings{}, err
		}
	}
	if !regexp.MustCompile(`^\w{1,48}$`).MatchString(s.keyspace) {
		return settings{}, p.Unfit("cassandra.keyspace", "a name of up to 48 letters, digits and underscores")
	}
	var err error
	s.tracing, err = p.Bool("cassandra.tracing")
	return s, err
}

// word is what names of strategies and data centres are made of.
var word = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (s *settings) parseHosts(p bindings.Properties) error {
	port, err := p.Int("port", 1, 65535)
	if err != nil {
		return err
	}
	for host := range strings.SplitSeq(p["hosts"], ",") {
		host = strings.TrimSpace(host)
		if host == "" {
			return p.Unfit("hosts", "a list of hosts, separated by commas")
		}
		if _, own, err := net.SplitHostPort(host); err == nil {
			if n, err := strconv.ParseUint(own, 10, 16); err != nil || n == 0 {
				return p.Unfit("hosts", "a list of hosts with ports from 1 to 65535")
			}
		} else {
			host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.FormatInt(port, 10))
		}
		s.hosts = append(s.hosts, host)
	}
	return nil
}

// parseLogin reads name and password. Neither is worth anything alone.
func (s *settings) parseLogin(p bindings.Properties) (err error) {
	s.username = p["cassandra.username"]
	if s.username == "" {
		if p["cassandra.password"]+p["cassandra.password-file"] != "" {
			return fmt.Errorf("a password for cassandra is given, but no cassandra.username")
		}
		return nil
	}
	if s.password, err = p.Secret("cassandra.password", "cassandra.password-file", passwordVariable); err != nil {
		return err
	}
	if s.password == "" {
		return fmt.Errorf("property cassandra.username is %q, but there is no password\nset %s or cassandra.password-file", s.username, passwordVariable)
	}
	return nil
}

func (s *settings) parseConsistency(p bindings.Properties) error {
	for _, side := range []struct {
		name  string
		level *gocql.Consistency
	}{{"cassandra.readconsistencylevel", &s.read}, {"cassandra.writeconsistencylevel", &s.write}} {
		level, err := gocql.ParseConsistencyWrapper(p[side.name])
		if err != nil || level == gocql.Any && side.level == &s.read {
			return p.Unfit(side.name, "a consistency level such as ONE, QUORUM or LOCAL_QUORUM")
		}
		*side.level = level
	}
	return nil
}

// parseReplication makes the map that CREATE KEYSPACE takes.
func (s *settings) parseReplication(p bindings.Properties) error {
	class, factor := p["cassandra.replication.class"], p["cassandra.replication.factor"]
	if !word.MatchString(class) {
		return p.Unfit("cassandra.replication.class", "the name of a replication strategy")
	}
	s.replication = fmt.Sprintf("{'class': '%s'", class)
	for item := range strings.SplitSeq(factor, ",") {
		centre, copies, found := strings.Cut(strings.TrimSpace(item), ":")
		if !found {
			centre, copies = "replication_factor", centre
		}
		n, err := strconv.ParseUint(copies, 10, 16)
		if err != nil || n == 0 || !word.MatchString(centre) || !found && strings.Contains(factor, ",") {
			return p.Unfit("cassandra.replication.factor", "a number such as 3, or a list such as dc1:3,dc2:2")
		}
		s.replication += fmt.Sprintf(", '%s': %d", centre, n)
	}
	s.replication += "}"
	return nil
}

// maxBuckets bounds the partitions that one scan asks.
const maxBuckets = 4096

func (s *settings) parseLayout(p bindings.Properties) error {
	layout, err := p.Word("cassandra.layout", "ycsb", "clustered")
	if err != nil {
		return err
	}
	buckets, err := p.Int("cassandra.buckets", 1, maxBuckets)
	if err != nil {
		return err
	}
	if layout == "clustered" {
		s.buckets = int(buckets)
	}
	return nil
}

// streamsPerConnection is how many requests a connection has room for.
const streamsPerConnection = 32767

func (s *settings) parseConnections(p bindings.Properties) error {
	const most = 1024
	n, err := p.Int("cassandra.coreconnections", 1, most)
	if err != nil {
		return err
	}
	if p["cassandra.maxconnections"] != "" {
		greatest, err := p.Int("cassandra.maxconnections", 1, most)
		if err != nil {
			return err
		}
		n = max(n, greatest)
	}
	s.connections = int(n)
	if s.inflight, err = p.Int("cassandra.inflight", 1, streamsPerConnection-1); err != nil {
		return err
	}
	const day = 24 * 60 * 60 * 1000
	connect, err := p.Int("cassandra.connecttimeoutmillis", 1, day)
	if err != nil {
		return err
	}
	read, err := p.Int("cassandra.readtimeoutmillis", 1, day)
	if err != nil {
		return err
	}
	s.connectTimeout, s.readTimeout = time.Duration(connect)*time.Millisecond, time.Duration(read)*time.Millisecond
	if s.coalesce, err = p.Duration("cassandra.coalesce"); err != nil {
		return err
	}
	version, err := p.Word("cassandra.protocol", "negotiated", "3", "4")
	if err != nil {
		return err
	}
	if version != "negotiated" {
		s.protocol = int(version[0] - '0')
	}
	return nil
}

func (s *settings) parseTLS(p bindings.Properties) error {
	on, err := p.Bool("cassandra.useSSL")
	if err != nil {
		return err
	}
	ca, cert, key, name := p["cassandra.tls-ca"], p["cassandra.tls-cert"], p["cassandra.tls-key"], p["cassandra.tls-server-name"]
	switch {
	case !on && ca+cert+key+name != "":
		return fmt.Errorf("properties cassandra.tls-* are given, but cassandra.useSSL is %q", p["cassandra.useSSL"])
	case !on:
		return nil
	case (cert == "") != (key == ""):
		return fmt.Errorf("cassandra.tls-cert is %q and cassandra.tls-key is %q: neither works alone", cert, key)
	}
	s.tls = &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("read cassandra.tls-ca: %w", err)
		}
		s.tls.RootCAs = x509.NewCertPool()
		if !s.tls.RootCAs.AppendCertsFromPEM(text) {
			return p.Unfit("cassandra.tls-ca", "a file with a certificate in PEM form")
		}
	}
	if cert != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("load cassandra.tls-cert %q and cassandra.tls-key %q: %w", cert, key, err)
		}
		s.tls.Certificates = []tls.Certificate{own}
	}
	return nil
}
