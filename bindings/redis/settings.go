package redis

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"pianola/bindings"
)

const passwordVariable = "PIANOLA_REDIS_PASSWORD"

var properties = []bindings.Property{
	{Name: "redis.host", Default: "127.0.0.1", Help: "Address of the server, or of any node of a cluster."},
	{Name: "redis.port", Default: "6379", Help: "Its port."},
	{Name: "redis.cluster", Default: "false", Help: "true: the server is a node of a cluster; the others are asked for."},
	{Name: "redis.timeout", Default: "5000", Help: `How long to wait for a connection: whole milliseconds, or a duration such as 5s,
up to 8 s. Operations end at their own deadlines.`},
	{Name: "redis.connections", Default: "4", Help: `Connections that the slots share; with a cluster, to each node. 0: one for each
slot.`},
	{Name: "redis.database", Default: "0", Help: "Number of the database on the server; a cluster has only 0."},
	{Name: "redis.username", Help: "User name; the default is the server's default user."},
	{Name: "redis.password", Secret: true, Help: `Password. Others can see it on the command line, so better is a file or the
environment variable ` + passwordVariable + `.`},
	{Name: "redis.password-file", Help: "File whose first line is the password."},
	{Name: "redis.tls", Default: "false", Help: "true: TLS, and the server's certificate is verified."},
	{Name: "redis.tls-ca", Help: `File with the certificates of the authorities that are trusted, in PEM; the
default is those of this machine.`},
}

// settings are the properties, read.
type settings struct {
	address            string
	cluster            bool
	timeout            time.Duration
	connections        int
	database           int
	username, password string
	// tls is nil for plain connections.
	tls *tls.Config
}

func parseSettings(p bindings.Properties) (settings, error) {
	var s settings
	port, err := p.Int("redis.port", 1, 65535)
	if err != nil {
		return settings{}, err
	}
	if p["redis.host"] == "" {
		return settings{}, p.Unfit("redis.host", "the address of a server")
	}
	s.address = net.JoinHostPort(p["redis.host"], strconv.FormatInt(port, 10))
	if s.cluster, err = p.Bool("redis.cluster"); err != nil {
		return settings{}, err
	}
	if s.timeout, err = timeout(p); err != nil {
		return settings{}, err
	}
	n, err := p.Int("redis.connections", 0, 1024)
	if err != nil {
		return settings{}, err
	}
	s.connections = int(n)
	database, err := p.Int("redis.database", 0, 1<<20)
	if err != nil {
		return settings{}, err
	}
	s.database = int(database)
	if s.cluster && database != 0 {
		return settings{}, p.Unfit("redis.database", "0, the only one of a cluster")
	}
	s.username = p["redis.username"]
	if s.password, err = p.Secret("redis.password", "redis.password-file", passwordVariable); err != nil {
		return settings{}, err
	}
	s.tls, err = trusted(p)
	return s, err
}

// timeout reads YCSB's whole milliseconds or a duration.
func timeout(p bindings.Properties) (time.Duration, error) {
	const most = 8 * time.Second
	d, err := p.Duration("redis.timeout")
	if ms, intErr := p.Int("redis.timeout", 1, most.Milliseconds()); intErr == nil {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	if err != nil || d <= 0 || d > most {
		return 0, p.Unfit("redis.timeout", "whole milliseconds or a duration, up to 8s")
	}
	return d, nil
}

// trusted returns how to verify the server, or nil for a plain connection.
func trusted(p bindings.Properties) (*tls.Config, error) {
	on, err := p.Bool("redis.tls")
	if err != nil {
		return nil, err
	}
	file := p["redis.tls-ca"]
	if !on {
		if file != "" {
			return nil, p.Unfit("redis.tls", "true, which redis.tls-ca needs")
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: p["redis.host"]}
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("property redis.tls-ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, p.Unfit("redis.tls-ca", "a file of certificates in PEM")
	}
	return c, nil
}
