package ignite

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"pianola/bindings"
	"pianola/bindings/ignite/thin"
)

const passwordVariable = "PIANOLA_IGNITE_PASSWORD"

// Ways of an UPDATE, as ignite.update calls them.
const (
	byPut    = "getput"
	byInvoke = "invoke"
	bySQL    = "sql"
)

// usualPort is that of thin clients.
const usualPort = "10800"

var properties = []bindings.Property{
	{Name: "hosts", Default: "127.0.0.1", Help: `Nodes, separated by commas, each with its port for thin clients behind a colon
unless that is ` + usualPort + `. Keys of nodes that are not among them are reached through
the others.`},
	{Name: "ignite.cache", Help: "Cache; the default is the name of the trace's table."},
	{Name: "ignite.backups", Default: "1", Help: "Copies of each entry besides the primary one, where the cache is created."},
	{Name: "ignite.sync", Default: "full_sync", Help: `What a write waits for, where the cache is created: full_sync for all copies,
primary_sync for the primary one, full_async for none.`},
	{Name: "ignite.atomicity", Default: "atomic", Help: "atomic or transactional, where the cache is created."},
	{Name: "ignite.onheap", Default: "false", Help: "true: entries are kept on Java's heap as well, where the cache is created."},
	{Name: "ignite.update", Default: byPut, Help: `What an UPDATE is: getput, a get and a put; invoke, an entry processor whose class
` + processorClass + ` must be on the servers; sql, a statement.`},
	{Name: "ignite.values", Default: "string", Help: `Type of the fields: string, as YCSB has them, which holds UTF-8 alone; or bytes. A
cluster that has known one takes no other until it is restarted.`},
	{Name: "ignite.connections", Default: "1", Help: "Connections to each host, which the slots share."},
	{Name: "ignite.timeout", Default: "5s", Help: "How long to wait for a connection, up to 8 s. Operations end at their own deadlines."},
	{Name: "ignite.username", Help: "User name, where the servers ask for one."},
	{Name: "ignite.password", Secret: true, Help: `Password. Others can see it on the command line, so better is a file or the
environment variable ` + passwordVariable + `.`},
	{Name: "ignite.password-file", Help: "File whose first line is the password."},
	{Name: "ignite.tls", Default: "false", Help: "true: TLS, and the servers' certificates are verified."},
	{Name: "ignite.tls-ca", Help: `File with the certificates of the authorities that are trusted, in PEM; the
default is those of this machine.`},
}

// settings are the properties, read.
type settings struct {
	hosts          []string
	cache          string
	backups        int32
	sync           thin.WriteSync
	atomicity      thin.Atomicity
	onHeap         bool
	update         string
	bytes          bool
	connections    int
	timeout        time.Duration
	user, password string
	// tls is nil for plain connections.
	tls *tls.Config
}

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{cache: p["ignite.cache"], user: p["ignite.username"]}
	var err error
	if s.hosts, err = hosts(p); err != nil {
		return settings{}, err
	}
	if err := s.parseCache(p); err != nil {
		return settings{}, err
	}
	if s.update, err = p.Word("ignite.update", byPut, byInvoke, bySQL); err != nil {
		return settings{}, err
	}
	values, err := p.Word("ignite.values", "string", "bytes")
	if err != nil {
		return settings{}, err
	}
	s.bytes = values == "bytes"
	n, err := p.Int("ignite.connections", 1, 256)
	if err != nil {
		return settings{}, err
	}
	s.connections = int(n)
	const longest = 8 * time.Second
	if s.timeout, err = p.Duration("ignite.timeout"); err != nil || s.timeout == 0 || s.timeout > longest {
		return settings{}, p.Unfit("ignite.timeout", "a duration such as 5s, up to 8s")
	}
	if s.password, err = p.Secret("ignite.password", "ignite.password-file", passwordVariable); err != nil {
		return settings{}, err
	}
	s.tls, err = trusted(p)
	return s, err
}

// parseCache reads what a cache is created with.
func (s *settings) parseCache(p bindings.Properties) error {
	backups, err := p.Int("ignite.backups", 0, 1<<15)
	if err != nil {
		return err
	}
	s.backups = int32(backups)
	sync, err := p.Word("ignite.sync", "full_sync", "primary_sync", "full_async")
	if err != nil {
		return err
	}
	s.sync = map[string]thin.WriteSync{"full_sync": thin.FullSync, "primary_sync": thin.PrimarySync, "full_async": thin.FullAsync}[sync]
	atomicity, err := p.Word("ignite.atomicity", "atomic", "transactional")
	if err != nil {
		return err
	}
	if s.atomicity = thin.Atomic; atomicity == "transactional" {
		s.atomicity = thin.Transactional
	}
	s.onHeap, err = p.Bool("ignite.onheap")
	return err
}

// hosts reads the list of nodes and adds the usual port where none is given.
func hosts(p bindings.Properties) ([]string, error) {
	var list []string
	for item := range strings.SplitSeq(p["hosts"], ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(item))
		if err != nil {
			host, port = strings.Trim(strings.TrimSpace(item), "[]"), usualPort
		}
		if host == "" || port == "" || strings.ContainsAny(host, " \t/") {
			return nil, p.Unfit("hosts", "a list of hosts with or without ports, such as a,b:10801")
		}
		list = append(list, net.JoinHostPort(host, port))
	}
	return list, nil
}

// trusted returns how to verify the servers, or nil for plain connections.
func trusted(p bindings.Properties) (*tls.Config, error) {
	on, err := p.Bool("ignite.tls")
	if err != nil {
		return nil, err
	}
	file := p["ignite.tls-ca"]
	if !on {
		if file != "" {
			return nil, p.Unfit("ignite.tls", "true, which ignite.tls-ca needs")
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("property ignite.tls-ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, p.Unfit("ignite.tls-ca", "a file of certificates in PEM")
	}
	return c, nil
}
