package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"

	"pianola/bindings"
)

const passwordVariable = "PIANOLA_MYSQL_PASSWORD"

var properties = []bindings.Property{
	{Name: "db.url", Default: "mysql://127.0.0.1:3306/ycsb", Help: `Address and database; jdbc: may stand before it, and mariadb is as good as mysql.
Parameters behind a question mark are set as variables of the session.`},
	{Name: "db.user", Default: "root", Help: "User name."},
	{Name: "db.passwd", Secret: true, Help: `Password. Others can see it on the command line, so better is a file or the
environment variable ` + passwordVariable + `.`},
	{Name: "mysql.password-file", Help: "File whose first line is the password."},
	{Name: "mysql.tls", Default: "false", Help: "true: TLS, and the server's certificate is verified."},
	{Name: "mysql.tls-ca", Help: `File with the certificates of the authorities that are trusted, in PEM; the
default is those of this machine.`},
	{Name: "mysql.isolation", Help: `Isolation of each transaction: read-uncommitted, read-committed, repeatable-read
or serializable; the default is the server's.`},
	{Name: "mysql.columns", Default: "text", Help: `Type of the fields in a table that is created: text, as YCSB's, up to 65535 bytes
of UTF-8; or bytes (longblob).`},
}

// settings are the properties, read.
type settings struct {
	config *mysql.Config
	// isolation is a level of the language, or empty.
	isolation string
	// columns is the type of the columns of fields.
	columns string
}

// maxPacket bounds what the client sends and takes; the server's own bound, 16 or
// 64 MiB, is mostly less.
const maxPacket = 1 << 30

func parseSettings(p bindings.Properties) (settings, error) {
	s := settings{config: mysql.NewConfig()}
	c := s.config
	c.Logger = &mysql.NopLogger{}
	c.Net = "tcp"
	c.ClientFoundRows = true
	c.MaxAllowedPacket = maxPacket
	c.User = p["db.user"]
	c.Timeout = connectTimeout
	if c.User == "" {
		return settings{}, p.Unfit("db.user", "a user name")
	}
	err := parseURL(p, c)
	if err != nil {
		return settings{}, err
	}
	if c.Passwd, err = p.Secret("db.passwd", "mysql.password-file", passwordVariable); err != nil {
		return settings{}, err
	}
	if c.TLS, err = trusted(p, c.Addr); err != nil {
		return settings{}, err
	}
	if p["mysql.isolation"] != "" {
		word, err := p.Word("mysql.isolation", "read-uncommitted", "read-committed", "repeatable-read", "serializable")
		if err != nil {
			return settings{}, err
		}
		s.isolation = strings.ToUpper(strings.ReplaceAll(word, "-", " "))
	}
	word, err := p.Word("mysql.columns", "text", "bytes")
	if err != nil {
		return settings{}, err
	}
	s.columns = map[string]string{"text": "text", "bytes": "longblob"}[word]
	return s, nil
}

// parseURL reads address, database and variables from db.url.
func parseURL(p bindings.Properties, c *mysql.Config) error {
	const form = "of the form mysql://host:port/database?name=value"
	u, err := url.Parse(strings.TrimPrefix(p["db.url"], "jdbc:"))
	if err != nil {
		// The error shows the text, which may hold a password.
		return fmt.Errorf("property db.url is not %s", form)
	}
	_, password := u.User.Password()
	q := u.Query()
	c.DBName = strings.Trim(u.Path, "/")
	switch {
	case password || q.Has("password"):
		return fmt.Errorf("property db.url holds a password\ngive it by %s or mysql.password-file", passwordVariable)
	case u.User != nil || q.Has("user"):
		return fmt.Errorf("property db.url holds a user\ngive it by db.user")
	case u.Scheme != "mysql" && u.Scheme != "mariadb", u.Hostname() == "", c.DBName == "":
		return p.Unfit("db.url", form)
	case strings.Contains(u.Host, ","):
		return p.Unfit("db.url", "the address of one server")
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	c.Addr = net.JoinHostPort(u.Hostname(), port)
	c.Params = map[string]string{}
	for name, values := range q {
		c.Params[name] = values[len(values)-1]
	}
	return nil
}

// trusted returns how to verify the server, or nil for a plain connection.
func trusted(p bindings.Properties, address string) (*tls.Config, error) {
	on, err := p.Bool("mysql.tls")
	if err != nil {
		return nil, err
	}
	file := p["mysql.tls-ca"]
	if !on {
		if file != "" {
			return nil, p.Unfit("mysql.tls", "true, which mysql.tls-ca needs")
		}
		return nil, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if file == "" {
		return c, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("property mysql.tls-ca: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, p.Unfit("mysql.tls-ca", "a file of certificates in PEM")
	}
	return c, nil
}
